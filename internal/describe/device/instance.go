package device

import (
	_ "embed" // for the file below
	"path"
	"strings"
)

// instanceFile lists families of clouds' machine types, a line each: a pattern and the device.
//
//go:embed instances.txt
var instanceFile string

// instance is one of the families.
type instance struct{ pattern, device string }

func instances() []instance {
	var out []instance
	for line := range strings.Lines(instanceFile) {
		if f := strings.Fields(line); len(f) == 2 && f[0] != "#" {
			out = append(out, instance{f[0], f[1]})
		}
	}
	return out
}

// onInstance returns the device of a cloud's machine type, "" of any other name.
func onInstance(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, i := range instances() {
		if ok, err := path.Match(i.pattern, name); ok && err == nil {
			return i.device
		}
	}
	return ""
}

// instancesOf lists the machine types that have a device.
func instancesOf(device string) []string {
	var out []string
	for _, i := range instances() {
		if i.device == device {
			out = append(out, i.pattern)
		}
	}
	return out
}
