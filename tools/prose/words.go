package main

import (
	"fmt"
	"regexp"
	"strings"
)

// Phrase is words that have a better form.
type Phrase struct {
	pattern *regexp.Regexp
	use     string
}

// parse reads a list of phrases: one on a line, "PHRASE => BETTER". A phrase is a regular expression in which a blank stands for
// any white space; it begins and ends where words do, and upper and lower case are the same.
func parse(text string) ([]Phrase, error) {
	var out []Phrase
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words, use, ok := strings.Cut(line, " => ")
		if !ok {
			return nil, fmt.Errorf("line %d: want PHRASE => BETTER, got %q", i+1, line)
		}
		pattern, err := regexp.Compile(`(?i)\b(?:` + strings.Join(strings.Fields(words), `\s+`) + `)\b`)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		out = append(out, Phrase{pattern, strings.TrimSpace(use)})
	}
	return out, nil
}
