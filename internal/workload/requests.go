package workload

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// inputNames are the columns and keys in use for the length of a prompt; of
// several the first here is taken.
func inputNames() []string {
	return []string{
		"input_length",       // Mooncake, Qwen-Bailian
		"ContextTokens",      // Azure
		"Request tokens",     // BurstGPT
		"num_prefill_tokens", // Vidur
		"prompt_tokens",      // the OpenAI API
		"input_tokens", "num_input_tokens", "num_prompt_tokens", "context_tokens", "request_tokens",
		"input_len", "prompt_len", "prompt_length", "isl", "length", "tokens",
	}
}

// outputNames are those for the length of an answer.
func outputNames() []string {
	return []string{
		"output_length", "GeneratedTokens", "Response tokens", "num_decode_tokens", "completion_tokens",
		"output_tokens", "num_output_tokens", "generated_tokens", "response_tokens", "output_len", "osl",
	}
}

// csv reads a table. The error is one of reading only.
func (r *requests) csv(file io.Reader) error {
	table := csv.NewReader(file)
	table.Comment = '#'
	table.ReuseRecord = true
	var columns *columns
	for !r.Full() {
		cells, err := table.Read()
		if mistake, ok := errors.AsType[*csv.ParseError](err); ok && !errors.Is(err, csv.ErrFieldCount) {
			r.Add(mistake.StartLine, "", "%s", mistake.Err)
			continue
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, csv.ErrFieldCount) {
			return err
		}
		line, _ := table.FieldPos(0)
		switch {
		case columns == nil:
			if columns = r.columns(line, cells); columns == nil {
				return nil
			}
			if columns.named {
				continue
			}
		case err != nil:
			r.Add(line, "", "%d values, but the first line has %d", len(cells), columns.count)
			continue
		}
		output := ""
		if columns.output >= 0 {
			output = cells[columns.output]
		}
		r.request(line, columns.inputName, cells[columns.input], columns.outputName, output)
	}
	r.some()
	return nil
}

// columns is where a table has the lengths.
type columns struct {
	input, output, count  int // output is -1 where there is none
	named                 bool
	inputName, outputName string // for messages
}

// columns looks at the first line; nil after a problem.
func (r *requests) columns(line int, cells []string) *columns {
	c := &columns{count: len(cells), output: -1}
	for i, cell := range cells {
		cells[i] = strings.TrimSpace(cell)
	}
	c.input = column(cells, inputNames())
	switch _, err := strconv.ParseFloat(cells[0], 64); {
	case c.input >= 0:
		c.named = true
	case len(cells) == 1:
		c.input, c.named = 0, err != nil
	default:
		r.Add(line, "", "no column with prompt lengths (%s); the columns are %s", list(inputNames(), 5), list(cells, 10))
		return nil
	}
	if c.named {
		c.inputName = show(cells[c.input])
		if c.output = column(cells, outputNames()); c.output >= 0 {
			c.outputName = show(cells[c.output])
		}
	}
	return c
}

// column finds the first name in use, whatever its case, or -1.
func column(cells, names []string) int {
	for _, name := range names {
		if i := slices.IndexFunc(cells, func(c string) bool { return strings.EqualFold(c, name) }); i >= 0 {
			return i
		}
	}
	return -1
}

// maxLine bounds a line of JSON; a million tokens in blocks of 16 have less
// than one MiB of hashes.
const maxLine = 8 << 20

// jsonl reads one object a line. The error is one of reading only.
func (r *requests) jsonl(file io.Reader) error {
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	line := 0
	for !r.Full() && lines.Scan() {
		line++
		if text := bytes.TrimSpace(lines.Bytes()); len(text) > 0 {
			r.object(line, text)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		r.Add(line+1, "", "the line is longer than %d MiB", maxLine>>20)
	} else if err != nil {
		return err
	}
	r.some()
	return nil
}

func (r *requests) object(line int, text []byte) {
	var values map[string]json.RawMessage
	err := json.Unmarshal(text, &values)
	if _, mistyped := errors.AsType[*json.UnmarshalTypeError](err); mistyped || err == nil && values == nil {
		r.Add(line, "", "must be a JSON object, got %s", show(string(text)))
		return
	}
	if err != nil {
		r.Add(line, "", "not valid JSON: %s", strings.ReplaceAll(err.Error(), "\n", " "))
		return
	}
	value := func(names []string) (name, text string) {
		for _, name := range names {
			if v, ok := values[name]; ok {
				return name, string(v)
			}
		}
		return "", ""
	}
	name, input := value(inputNames())
	if name == "" {
		r.Add(line, "", "no key with a prompt length (%s); the keys are %s",
			list(inputNames(), 5), list(slices.Sorted(maps.Keys(values)), 10))
		return
	}
	outputName, output := value(outputNames())
	if output == "null" {
		output = ""
	}
	r.request(line, name, input, outputName, output)
}

// request adds one request. An answer of unknown length, as failed requests
// have, is left out of the mean.
func (r *requests) request(line int, inputName, input, outputName, output string) {
	n, ok := r.tokens(line, inputName, input)
	if output != "" {
		m, known := r.tokens(line, outputName, output)
		if known {
			r.answers++
			r.output += m
		}
	}
	if ok {
		r.input(n)
	}
}

// tokens reads a whole number, also as pandas writes one next to a gap: 374.0.
func (r *requests) tokens(line int, field, text string) (n int, ok bool) {
	text = strings.TrimSpace(text)
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(x):
		r.Add(line, field, "must be a number of tokens, got %s", show(text))
	case x < 0:
		r.Add(line, field, "must be at least 0, got %s", show(text))
	case x > maxTokens:
		r.Add(line, field, "must be at most %d, got %s", maxTokens, show(text))
	case x != math.Trunc(x):
		r.Add(line, field, "must be a whole number, got %s", show(text))
	default:
		return int(x), true
	}
	return 0, false
}

// some adds a problem if a file has no requests.
func (r *requests) some() {
	if len(r.seen) == 0 && len(r.List) == 0 {
		r.Add(1, "", "no requests")
	}
}

// list joins words for a message, at most that many of them.
func list(words []string, most int) string {
	if len(words) == 0 {
		return "none"
	}
	var out []string
	for _, w := range words[:min(len(words), most)] {
		out = append(out, show(w))
	}
	if len(words) > most {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}
