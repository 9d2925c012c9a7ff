package sim

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode"

	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// Bounds of a file.
const (
	maxFile     = 4 << 30
	maxLine     = 8 << 20 // a million tokens in blocks of 16 have less than 1 MiB of hashes
	maxProblems = 20      // past this a file is of another kind
)

// ReadTrace reads a trace file; name is for messages. It knows
//
//   - Azure's CSV: TIMESTAMP, ContextTokens, GeneratedTokens
//   - BurstGPT's CSV: Timestamp, Request tokens, Response tokens
//   - Vidur's CSV: arrived_at, num_prefill_tokens, num_decode_tokens
//   - our own CSV: arrival_s, input_tokens, output_tokens, as [WriteCSV] writes it
//   - Mooncake's JSON lines: timestamp in ms, input_length, output_length,
//     hash_ids of 512 tokens; Qwen-Bailian's, told by chat_id: seconds, 16 tokens
//
// whatever the order of columns, and further ones. A blockTokens above zero
// says how many tokens a hash stands for, if not those. Requests are put in
// order of arrival, the first at time zero. An error holds all mistakes found,
// up to 20, each a [*workload.Problem].
func ReadTrace(r io.Reader, name string, blockTokens int) (*Trace, error) {
	if blockTokens < 0 || blockTokens > maxTokens {
		return nil, fmt.Errorf("tokens in a block must be between 1 and %d, got %d", maxTokens, blockTokens)
	}
	t := &tracer{file: name, blockTokens: blockTokens}
	limited := &io.LimitedReader{R: r, N: maxFile}
	b := bufio.NewReaderSize(limited, 1<<16)
	first, err := t.begin(b)
	if err == nil {
		read := t.csv
		if first == '{' {
			read = t.jsonLines
		}
		err = read(b)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if limited.N <= 0 {
		return nil, fmt.Errorf("reading %s: larger than %d GiB; use a part of it", name, maxFile>>30)
	}
	if len(t.rows) == 0 && len(t.problems) == 0 {
		t.wrong(1, "", "no requests with both a prompt and output tokens")
	}
	if len(t.problems) > 0 {
		return nil, errors.Join(t.problems...)
	}
	return t.trace(), nil
}

// begin skips the mark that Windows puts before UTF-8, and spaces, and looks at
// the first character; 0 if there is none.
func (t *tracer) begin(b *bufio.Reader) (byte, error) {
	for {
		r, _, err := b.ReadRune()
		switch {
		case errors.Is(err, io.EOF):
			return 0, nil
		case err != nil:
			return 0, err
		case r != '\ufeff' && !unicode.IsSpace(r):
			return byte(min(r, unicode.MaxLatin1)), b.UnreadRune()
		case r == '\n':
			t.before++
		}
	}
}

// tracer collects the requests of a file and what is wrong with it.
type tracer struct {
	file        string
	blockTokens int
	before      int // empty lines at the beginning
	rows        []row
	skipped     int
	problems    []error
}

// row is a request as it stands in the file.
type row struct {
	at            float64 // seconds
	input, output int
	hashes        []int64
}

func (t *tracer) wrong(line int, field, format string, args ...any) {
	t.problems = append(t.problems, &workload.Problem{
		File: t.file, Line: t.before + max(1, line), Field: field, Text: fmt.Sprintf(format, args...),
	})
}

// full reports whether reading on is of no use.
func (t *tracer) full() bool { return len(t.problems) >= maxProblems || len(t.rows) > maxRequests }

// add takes a request that was read without a mistake.
func (t *tracer) add(line int, r row) {
	switch {
	case math.IsNaN(r.at) || math.Abs(r.at) > 1e12:
		t.wrong(line, "", "the arrival time must be finite, got %g s", r.at)
	case r.input < 0 || r.output < 0 || r.input > maxTokens || r.output > maxTokens:
		t.wrong(line, "", "lengths must be between 0 and %d tokens, got %d and %d", maxTokens, r.input, r.output)
	case len(t.rows) == maxRequests:
		t.wrong(line, "", "more than %d requests; use a part of the file", maxRequests)
	case r.input == 0 || r.output == 0:
		t.skipped++ // BurstGPT keeps requests that failed
	default:
		t.rows = append(t.rows, r)
	}
}

// trace puts the requests in order and numbers their contents.
func (t *tracer) trace() *Trace {
	slices.SortStableFunc(t.rows, func(a, b row) int { return cmp.Compare(a.at, b.at) })
	out := &Trace{Requests: make([]TraceRequest, len(t.rows)), Skipped: t.skipped}
	numbers := map[int64]uint32{}
	for i, r := range t.rows {
		q := &out.Requests[i]
		*q = TraceRequest{Arrival: units.Seconds(r.at - t.rows[0].at), Input: r.input, Output: r.output}
		if len(r.hashes) == 0 {
			continue
		}
		out.BlockTokens = t.blockTokens
		hashes := r.hashes[:min(len(r.hashes), (r.input+t.blockTokens-1)/t.blockTokens)]
		q.Blocks = make([]uint32, len(hashes))
		for j, h := range hashes {
			number, known := numbers[h]
			if !known {
				number = uint32(len(numbers))
				numbers[h] = number
			}
			q.Blocks[j] = number
		}
	}
	return out
}
