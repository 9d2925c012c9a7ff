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
	"time"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
)

// part is a part of a request in a file.
type part int

const (
	input part = iota
	arrival
	output
	parts
)

// texts are the parts of a request, as they stand in a file or by name.
type texts [parts]string

// called is what a part of requests is called: many of them and one in messages, and the columns and keys of files.
type called struct {
	many, one string
	names     []string // the first one present wins
}

// known is what parts are called.
func known() [parts]called {
	return [parts]called{
		input: {"prompt lengths", "a prompt length", []string{
			"input_length",       // Mooncake, Qwen-Bailian
			"ContextTokens",      // Azure
			"Request tokens",     // BurstGPT
			"num_prefill_tokens", // Vidur
			"prompt_tokens",      // the OpenAI API
			"input_tokens", "num_input_tokens", "num_prompt_tokens", "context_tokens", "request_tokens",
			"input_len", "prompt_len", "prompt_length", "isl", "input", "length", "tokens",
		}},
		// Our own, that of Azure, BurstGPT, Mooncake and Qwen-Bailian, and Vidur's.
		arrival: {"arrival times", "an arrival time", []string{"arrival_s", "timestamp", "arrived_at", "arrival"}},
		output: {"output lengths", "an output length", []string{
			"output_length", "GeneratedTokens", "Response tokens", "num_decode_tokens", "completion_tokens",
			"output_tokens", "num_output_tokens", "generated_tokens", "response_tokens", "output_len", "osl", "output",
		}},
	}
}

// row is a request as it stands in a file.
type row struct {
	at       float64 // seconds
	input    int
	output   int
	answered bool // the output's length is known
	hashes   []int64
	block    int // tokens that a hash stands for
}

// rows reads the requests of a file and passes them on.
type rows struct {
	*problems
	timed   bool // arrivals and output lengths are required
	longest int  // tokens of a prompt or an output
	take    func(line int, r row)
	found   bool
	strange bool // the first request lacks a key, and so will the others
	done    bool // no more requests are wanted
}

// csv reads a table. The error is an I/O error.
func (r *rows) csv(file io.Reader) error {
	records := &paced{Reader: file}
	table := csv.NewReader(records)
	table.Comment = '#'
	table.ReuseRecord = true
	var columns *columns
	line := 0
	for !r.Full() && !r.done {
		records.read = 0
		cells, err := table.Read()
		if errors.Is(err, errLong) {
			r.Add(line+1, "", "the record is longer than %s", bound.Size(bound.Line))
			return nil
		}
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
		line, _ = table.FieldPos(0)
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
		r.request(line, columns.names, columns.texts(cells), nil, 0)
	}
	r.some()
	return nil
}

// columns are the columns of a request in a table.
type columns struct {
	at    [parts]int // -1 where there is none
	count int
	named bool
	names texts // for messages
}

// texts are the parts of a request in a line.
func (c *columns) texts(cells []string) (out texts) {
	for p, i := range c.at {
		if i >= 0 {
			out[p] = cells[i]
		}
	}
	return out
}

// columns looks at the first line; nil after a problem.
func (r *rows) columns(line int, cells []string) *columns {
	for i, cell := range cells {
		cells[i] = strings.TrimSpace(cell)
	}
	c := &columns{count: len(cells), named: true}
	for p, k := range known() {
		c.at[p] = column(cells, k.names)
	}
	if c.at[input] < 0 && len(cells) == 1 && !r.timed {
		_, err := strconv.ParseFloat(cells[0], 64)
		c.at[input], c.named = 0, err != nil
	}
	for p, k := range known() {
		if c.at[p] < 0 && (part(p) == input || r.timed) {
			r.Add(line, "", "no column with %s (%s); columns: %s", k.many, list(k.names, 5), list(cells, 10))
			return nil
		}
	}
	if c.named {
		for p, name := range c.texts(cells) {
			c.names[p] = show(name)
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

// paced bounds what is read for one record of a table: a quote that does not end makes the rest of the file one.
type paced struct {
	io.Reader

	read int // bytes since the last record
}

// errLong is of a record that is too long.
var errLong = errors.New("the record is too long")

// Read reads, unless too much was read for the record.
func (p *paced) Read(b []byte) (int, error) {
	if p.read > bound.Line {
		return 0, errLong
	}
	n, err := p.Reader.Read(b)
	p.read += n
	return n, err
}

// jsonl reads one object per line. The error is an I/O error.
func (r *rows) jsonl(file io.Reader) error {
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, bound.Line)
	line := 0
	for !r.Full() && !r.strange && !r.done && lines.Scan() {
		line++
		if text := bytes.TrimSpace(lines.Bytes()); len(text) > 0 {
			r.object(line, text)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		r.Add(line+1, "", "the line is longer than %s", bound.Size(bound.Line))
	} else if err != nil {
		return err
	}
	r.some()
	return nil
}

// Tokens that a hash stands for, by format.
const (
	mooncakeBlock = 512
	bailianBlock  = 16
)

// object reads one request. Mooncake's timestamps are milliseconds; those of
// Qwen-Bailian, detected by its key chat_id, are seconds.
func (r *rows) object(line int, text []byte) {
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
	names, said, ok := r.keys(line, values)
	if !ok {
		return
	}
	milliseconds, block := names[arrival] == "timestamp", mooncakeBlock
	if _, chat := values["chat_id"]; chat {
		milliseconds, block = false, bailianBlock
	}
	if at, err := strconv.ParseFloat(said[arrival], 64); err == nil && milliseconds {
		said[arrival] = strconv.FormatFloat(at*1e-3, 'g', -1, 64)
	}
	var hashes []int64
	if raw := values["hash_ids"]; r.timed && len(raw) > 0 {
		if err := json.Unmarshal(raw, &hashes); err != nil {
			r.Add(line, "hash_ids", "must be a list of whole numbers")
			return
		}
	}
	r.request(line, names, said, hashes, block)
}

// keys finds the parts of a request among an object's values.
func (r *rows) keys(line int, values map[string]json.RawMessage) (names, said texts, ok bool) {
	for p, k := range known() {
		for _, name := range k.names {
			if v, ok := values[name]; ok {
				names[p], said[p] = name, plain(v)
				break
			}
		}
		if names[p] == "" && (part(p) == input || r.timed) {
			r.Add(line, "", "no key with %s (%s); keys: %s", k.one, list(k.names, 5), list(slices.Sorted(maps.Keys(values)), 10))
			r.strange = !r.found
			return names, said, false
		}
	}
	if said[output] == "null" {
		said[output] = ""
	}
	return names, said, true
}

// plain is the text of a value: a string without its quotes, as of a date, or the value as it is written.
func plain(v json.RawMessage) string {
	var s string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// request reads one request and passes it on. An unknown output length, as of failed requests, is not an error.
func (r *rows) request(line int, names, said texts, hashes []int64, block int) {
	out := row{hashes: hashes, block: block}
	var sound bool
	out.input, sound = r.tokens(line, names[input], said[input])
	if said[output] != "" {
		out.output, out.answered = r.tokens(line, names[output], said[output])
		sound = sound && out.answered
	}
	if r.timed {
		at, known := r.time(line, names[arrival], said[arrival])
		out.at, sound = at, sound && known
	}
	if sound {
		r.found = true
		r.take(line, out)
	}
}

// tokens reads a whole number, also as pandas writes one next to a gap: 374.0.
func (r *rows) tokens(line int, field, text string) (n int, ok bool) {
	text = strings.TrimSpace(text)
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(x):
		r.Add(line, field, "must be a number of tokens, got %s", show(text))
	case x < 0:
		r.Add(line, field, "must be at least 0, got %s", show(text))
	case x > float64(r.longest):
		r.Add(line, field, "must be at most %d, got %s", r.longest, show(text))
	case x != math.Trunc(x):
		r.Add(line, field, "must be a whole number, got %s", show(text))
	default:
		return int(x), true
	}
	return 0, false
}

// time reads an arrival: a number of seconds, or a date as Azure writes it.
func (r *rows) time(line int, field, text string) (at float64, ok bool) {
	text = strings.TrimSpace(text)
	const most = 1e12 // seconds; dates count from 1970
	if x, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(x) <= most {
		return x, true
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04:05-07:00", time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return float64(at.Unix()) + float64(at.Nanosecond())/1e9, true
		}
	}
	r.Add(line, field, "must be a number of seconds or a date and time, got %s", show(text))
	return 0, false
}

// some adds a problem if a file has no requests.
func (r *rows) some() {
	if !r.found && len(r.List) == 0 {
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
