package deploy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mark begins the comment that carries what no engine is told.
const mark = "# plimsoll: "

// note is what a deployment has and no engine is told: it is written as a comment,
// so that reading a file gives the whole deployment.
type note struct {
	System, Engine, Version, Checkpoint string
	Input, Output, Copies               int
	Acceptance                          map[string][]float64 // by role
}

// heading are the comments at the top of a file.
func (w *writer) heading(what string) string {
	p := &w.Predicted
	text := fmt.Sprintf("# %s: %s on %d × %s, %s %s.\n", what, w.Deployment.Model, w.devices(), w.Resolved.Device.Name, w.pools[0].Engine, w.pools[0].Version)
	if p.TTFT > 0 {
		text += fmt.Sprintf("# Predicted at %d concurrent requests of %d and %d tokens: TTFT %v, TPOT %v, %.0f output tokens/s.\n",
			w.Concurrency, w.Input, w.Output, p.TTFT, p.TPOT, p.Throughput)
	}
	if c := w.Deployment.Formats.Checkpoint; c != "" && (onTheFly(c) == "" || w.pools[0].Engine == trtllm) {
		text += fmt.Sprintf("# The prediction is of a checkpoint in %s: give the engine one as its model.\n", c)
	}
	return text + w.note().String() + "\n"
}

// note collects what is noted.
func (w *writer) note() *note {
	n := &note{
		System: w.Resolved.Device.Name, Engine: w.pools[0].Engine, Version: w.pools[0].Version,
		Checkpoint: w.Deployment.Formats.Checkpoint, Input: w.Input, Output: w.Output, Copies: w.units(),
		Acceptance: map[string][]float64{},
	}
	for _, p := range w.Deployment.Pools {
		if len(p.AcceptanceRates) > 0 {
			n.Acceptance[roleName(p.Role)] = p.AcceptanceRates
		}
	}
	return n
}

// String is the comment.
func (n *note) String() string {
	words := []string{"system=" + n.System, "engine=" + n.Engine, "version=" + n.Version}
	if n.Checkpoint != "" {
		words = append(words, "checkpoint="+n.Checkpoint)
	}
	words = append(words, fmt.Sprintf("input=%d", n.Input), fmt.Sprintf("output=%d", n.Output), fmt.Sprintf("copies=%d", n.Copies))
	for _, role := range []string{"agg", "prefill", "decode"} {
		if rates := n.Acceptance[role]; len(rates) > 0 {
			text := make([]string, len(rates))
			for i, r := range rates {
				text[i] = strconv.FormatFloat(r, 'g', -1, 64)
			}
			words = append(words, "acceptance."+role+"="+strings.Join(text, ","))
		}
	}
	return mark + strings.Join(words, " ")
}

// findNote reads the comment of a file, nil if it has none.
func findNote(data string) *note {
	for line := range strings.Lines(data) {
		_, text, ok := strings.Cut(line, mark)
		if !ok {
			continue
		}
		n := &note{Acceptance: map[string][]float64{}}
		for word := range strings.FieldsSeq(text) {
			key, value, _ := strings.Cut(word, "=")
			n.read(key, value)
		}
		return n
	}
	return nil
}

// read takes over one word. What is unknown is of a later release, and left.
func (n *note) read(key, value string) {
	for name, at := range map[string]*string{"system": &n.System, "engine": &n.Engine, "version": &n.Version, "checkpoint": &n.Checkpoint} {
		if name == key {
			*at = value
		}
	}
	for name, at := range map[string]*int{"input": &n.Input, "output": &n.Output, "copies": &n.Copies} {
		if name == key {
			*at, _ = strconv.Atoi(value)
		}
	}
	if role, ok := strings.CutPrefix(key, "acceptance."); ok {
		for text := range strings.SplitSeq(value, ",") {
			if r, err := strconv.ParseFloat(text, 64); err == nil {
				n.Acceptance[role] = append(n.Acceptance[role], r)
			}
		}
		n.Acceptance[role] = slices.Clip(n.Acceptance[role])
	}
}
