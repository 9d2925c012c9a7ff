package units

import (
	"math"
	"strconv"
	"strings"
)

// ReadCount reads a number with a k or an m for thousands and millions: "3.5k".
func ReadCount(word string) (float64, error) {
	word = strings.ToLower(strings.TrimSpace(word))
	factor := 1.0
	switch {
	case strings.HasSuffix(word, "k"):
		factor, word = 1e3, strings.TrimSuffix(word, "k")
	case strings.HasSuffix(word, "m"):
		factor, word = 1e6, strings.TrimSuffix(word, "m")
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
	return math.Round(x*factor*1e6) / 1e6, err
}

// ReadMs reads a time: "50", "50ms" or "2s", also in Chinese; without a unit it is in milliseconds.
func ReadMs(word string) (float64, error) {
	word = strings.ToLower(strings.TrimSpace(word))
	factor := 1.0
	for _, unit := range []struct {
		name   string
		factor float64
	}{{"毫秒", 1}, {"ms", 1}, {"秒", 1e3}, {"s", 1e3}} {
		if rest, ok := strings.CutSuffix(word, unit.name); ok {
			word, factor = strings.TrimSpace(rest), unit.factor
			break
		}
	}
	x, err := strconv.ParseFloat(word, 64)
	return x * factor, err
}
