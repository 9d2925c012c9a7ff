package cli_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/cost/calibrated"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
)

// TestDeviceDocument holds the tables of docs/devices.md to the profiles. With
// -update it rewrites them.
func TestDeviceDocument(t *testing.T) {
	const file = "../../../docs/devices.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for name, table := range map[string]func([]device.Facts) string{
		"devices": deviceTable, "prices": priceTable, "machine types": instanceTable,
	} {
		begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
		before, rest, ok := strings.Cut(text, begin)
		_, after, found := strings.Cut(rest, end)
		if !ok || !found {
			t.Fatalf("%s has no part %q", file, name)
		}
		text = before + begin + table(profiles(t)) + end + after
	}
	if golden.Update() {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(data), text); d != "" {
		t.Errorf("docs/devices.md (-said +profiles); go test ./internal/face/cli -update rewrites it:\n%s", d)
	}
}

// profiles returns the facts of all devices that exist, by vendor.
func profiles(t *testing.T) []device.Facts {
	t.Helper()
	var all []device.Facts
	for _, v := range device.Vendors() {
		for _, name := range device.Names() {
			p, err := device.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			if p.Vendor == v && v != device.Test {
				all = append(all, p.Facts())
			}
		}
	}
	return all
}

func deviceTable(all []device.Facts) string {
	var b strings.Builder
	b.WriteString("| device | aliases | generation | GiB | process | GB/s | FP16 | BF16 | FP8 | INT8 | FP4 | link | W | tier | source |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for i := range all {
		f := &all[i]
		m := &f.Peak.Matrix
		l := f.Links[len(f.Links)-1]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s %s ×%d | %s | %s | %s |\n",
			f.Name, strings.Join(f.Aliases, ", "), f.Generation, figure(f.Memory.SizeGiB), figure(f.Memory.ReportedGiB),
			figure(f.Memory.BandwidthGBs), figure(m.F16), figure(m.BF16), figure(m.FP8), figure(m.INT8), figure(m.FP4),
			l.Name, figure(l.BandwidthGBs), l.Size, figure(f.PowerW), calibrated.TierOf(f.Generation), f.Source)
	}
	return b.String()
}

func priceTable(all []device.Facts) string {
	var b strings.Builder
	b.WriteString("| device | $ per hour | source |\n|---|---|---|\n")
	for i := range all {
		if p := all[i].Price; p.USDPerHour > 0 {
			fmt.Fprintf(&b, "| `%s` | %.2f | %s |\n", all[i].Name, p.USDPerHour, p.Source)
		}
	}
	return b.String()
}

func instanceTable(all []device.Facts) string {
	var b strings.Builder
	b.WriteString("| device | machine types |\n|---|---|\n")
	for i := range all {
		if f := &all[i]; len(f.Instances) > 0 {
			fmt.Fprintf(&b, "| `%s` | `%s` |\n", f.Name, strings.Join(f.Instances, "`, `"))
		}
	}
	return b.String()
}

// figure prints a number to one digit, nothing for none.
func figure(x float64) string {
	if x == 0 {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
}
