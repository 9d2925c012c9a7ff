package sim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Tokens that a hash stands for, by format.
const (
	mooncakeBlock = 512
	bailianBlock  = 16
)

// line is one object of Mooncake's format or a descendant of it.
type line struct {
	Timestamp *float64        `json:"timestamp"`
	Input     *int            `json:"input_length"`
	Output    *int            `json:"output_length"`
	Hashes    []int64         `json:"hash_ids"`
	Chat      json.RawMessage `json:"chat_id"` // Qwen-Bailian has it
}

// jsonLines reads one object a line. The error is one of reading only.
func (t *tracer) jsonLines(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	unit := 0.0 // seconds, as the first line shows
	for !t.full() && lines.Scan() {
		n++
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			t.wrong(n, "", "%s", strings.ReplaceAll(err.Error(), "\n", " "))
			continue
		}
		if l.Timestamp == nil || l.Input == nil || l.Output == nil {
			t.wrong(n, "", "must have timestamp, input_length and output_length")
			continue
		}
		if unit == 0 {
			unit = t.dialect(&l)
		}
		t.add(n, row{at: *l.Timestamp * unit, input: *l.Input, output: *l.Output, hashes: l.Hashes})
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		t.wrong(n+1, "", "the line is longer than %d MiB", maxLine>>20)
	} else if err != nil {
		return err
	}
	return nil
}

// dialect sets the tokens of a hash, unless given, and returns the unit of time.
func (t *tracer) dialect(l *line) float64 {
	unit, tokens := 1e-3, mooncakeBlock
	if len(l.Chat) > 0 {
		unit, tokens = 1, bailianBlock
	}
	if t.blockTokens == 0 {
		t.blockTokens = tokens
	}
	return unit
}
