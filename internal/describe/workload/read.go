package workload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
)

const (
	// maxTokens bounds a length, far beyond any context, to catch a column that
	// holds something else; two of them add up in 32 bits.
	maxTokens = 1_000_000_000
	// headSize is how much of a file is read to detect its format.
	headSize = 4 << 10
)

// ReadDistribution reads the lengths of prompts from a file, one of
//
//   - YAML (.yaml, .yml): a mapping with a list bins of min_tokens, max_tokens
//     and weight, taken as they are;
//   - CSV (.csv): one column of prompt lengths, with or without a name, or
//     several of which one has a name in use for them: input_length,
//     prompt_tokens, ContextTokens (Azure), "Request tokens" (BurstGPT),
//     num_prefill_tokens (Vidur) and more;
//   - JSON, one object a line (.jsonl, .ndjson), with such a name (Mooncake,
//     Qwen-Bailian).
//
// The format of a file with another extension follows from its first line. Lengths become at most
// 32 bins whose midpoints have the mean of the lengths (see tally.go).
//
// The name is used in messages and for its ending. The error joins all mistakes
// found, up to 20, one *Problem with its line each.
func ReadDistribution(r io.Reader, name string) (*Distribution, error) {
	return readDistribution(r, name, bound.Trace.Bytes())
}

func readDistribution(r io.Reader, name string, limit int64) (*Distribution, error) {
	var d Distribution
	err := readFile(r, name, limit, func(ps *problems, f format, r io.Reader) error {
		if f == yamlBins {
			data, err := bound.Read(r, name, bound.Bins)
			if _, large := errors.AsType[*bound.TooLargeError](err); large {
				ps.Add(1, "", "too large; %s: give the lengths as CSV", bound.Bins.Allowed())
				return nil
			}
			if err == nil {
				d.Bins = (&binReader{ps}).bins(data)
			}
			return err
		}
		seen := lengths{}
		requests := &rows{problems: ps, longest: maxTokens, take: func(_ int, q row) { seen.add(q.input) }}
		err := requests.read(f, r)
		d.Bins = seen.bins()
		return err
	})
	if err != nil {
		return nil, err
	}
	return &d, nil
}

// readFile detects the format of a file and reads it; the error of read is an I/O error.
func readFile(r io.Reader, name string, limit int64, read func(*problems, format, io.Reader) error) error {
	ps := newProblems(name)
	whole := &io.LimitedReader{R: r, N: limit + 1}
	b := bufio.NewReaderSize(whole, headSize)
	head, err := b.Peek(headSize)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err == nil && ps.text(head) {
		if mark := []byte("\ufeff"); bytes.HasPrefix(head, mark) {
			_, err = b.Discard(len(mark)) // the byte order mark that Windows adds
			head = head[len(mark):]
		}
		if err == nil && ps.lines(head) {
			err = read(ps, formatOf(head, name), b)
		}
	}
	if whole.N == 0 {
		ps.List = nil // the last line is cut off
		ps.Add(1, "", "too large; a trace or file of lengths may have at most %s: use a part of it", bound.Size(limit))
	} else if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return ps.Err()
}

// lines rejects a JSON list of objects.
func (ps *problems) lines(head []byte) bool {
	for _, mark := range []string{"[", "{", `"`} {
		var ok bool
		if head, ok = bytes.CutPrefix(bytes.TrimSpace(head), []byte(mark)); !ok {
			return true
		}
	}
	ps.Add(1, "", "a JSON list; write its objects one a line: jq -c '.[]'")
	return false
}

// text rejects content that is not text.
func (ps *problems) text(head []byte) bool {
	switch {
	case len(bytes.TrimSpace(head)) == 0 && len(head) < headSize:
		ps.Add(1, "", "the file is empty")
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		ps.Add(1, "", "the file is compressed with gzip; decompress it first")
	case bytes.IndexByte(head, 0) >= 0:
		ps.Add(1, "", "not valid UTF-8 text")
	default:
		return true
	}
	return false
}

// read reads requests. The error is an I/O error.
func (r *rows) read(f format, file io.Reader) error {
	if f == jsonLines {
		return r.jsonl(file)
	}
	return r.csv(file)
}

type format int

const (
	csvLengths format = iota
	jsonLines
	yamlBins
)

// formatOf detects the format of a file by its extension, or by its first line that
// is neither blank nor a comment.
func formatOf(head []byte, name string) format {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml":
		return yamlBins
	case ".csv":
		return csvLengths
	case ".jsonl", ".ndjson":
		return jsonLines
	default:
		return formatIn(head)
	}
}

func formatIn(head []byte) format {
	first := ""
	for line := range strings.Lines(string(head)) {
		if first = strings.TrimSpace(line); first != "" && first[0] != '#' {
			break
		}
	}
	if object, ok := strings.CutPrefix(first, "{"); ok {
		// JSON is YAML, so an object of bins is read as such.
		if object = strings.TrimSpace(object); strings.HasPrefix(object, `"`) && !bytes.Contains(head, []byte(`"bins"`)) {
			return jsonLines
		}
		return yamlBins
	}
	// "bins:" or "bins: [", but not the 18:17:03 of a time.
	key, value, isKey := strings.Cut(first, ":")
	isKey = isKey && !strings.Contains(key, ",") && (value == "" || value[0] == ' ')
	if isKey || strings.HasPrefix(first, "- ") || strings.HasPrefix(first, "---") {
		return yamlBins
	}
	return csvLengths
}
