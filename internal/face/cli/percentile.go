package cli

import (
	"errors"
	"strconv"
	"strings"
)

// percentileWord reads the statistic that limits apply to: mean, or a percentile.
func percentileWord(s string) (string, error) {
	if s == "mean" {
		return s, nil
	}
	if x, err := strconv.ParseFloat(strings.TrimPrefix(s, "p"), 64); err != nil || !strings.HasPrefix(s, "p") || !(x > 0 && x < 100) {
		return "", errors.New("want mean, or a percentile above p0 and below p100 such as p95")
	}
	return s, nil
}

// percentileOf is the percentile of a word that was read; 0 is the mean.
func percentileOf(word string) float64 {
	x, err := strconv.ParseFloat(strings.TrimPrefix(word, "p"), 64)
	if err != nil {
		return 0
	}
	return x
}
