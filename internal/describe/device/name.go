package device

import (
	"regexp"
	"strings"
)

// normal is the form in which names are compared. Only letters and digits count,
// in any case, and who makes or sells a device does not: "NVIDIA GeForce RTX
// 4090", as nvidia-smi prints it, is rtx_4090.
func normal(name string) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, name)
	for {
		rest := s
		for _, maker := range makers {
			rest = strings.TrimPrefix(rest, maker)
		}
		if rest == s {
			return s
		}
		s = rest
	}
}

// makers are the words that product names begin with and profiles leave out.
//
//nolint:gochecknoglobals // a constant table
var makers = [...]string{
	"nvidia", "geforce", "tesla", "amd", "instinct", "intel", "google", "cloud", "aws", "apple", "huawei", "ascend",
}

// deviceName is what can name a device: a letter or digit first, then
// also ".", "_" and "-", 64 in all.
var deviceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
