package workload

import (
	"cmp"
	"io"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Trace is recorded traffic: requests in order of arrival.
type Trace struct {
	Requests []Request
	// BlockTokens is how many prompt tokens an entry of Blocks stands for.
	BlockTokens int
	// Skipped counts requests without prompt or output tokens.
	Skipped int
}

// Request is one request of a trace.
type Request struct {
	Arrival       units.Seconds // from the start of the trace
	Input, Output int           // tokens
	// Blocks are the contents of the prompt from its beginning, a number for
	// each block and all before it: equal numbers mean equal prompts up to
	// there. Numbers count from 0 in the order in which they are first seen; the
	// last may stand for less than a whole block.
	Blocks []uint32
}

// maxLength bounds the lengths of a trace, so that they add up exactly.
const maxLength = 1 << 24

// ReadTrace reads requests from CSV or JSON lines, with arrival times and output lengths;
// name is used in messages, and its extension selects the format. Supported are
//
//   - Azure's CSV: TIMESTAMP, ContextTokens, GeneratedTokens
//   - BurstGPT's CSV: Timestamp, Request tokens, Response tokens
//   - Vidur's CSV: arrived_at, num_prefill_tokens, num_decode_tokens
//   - our own CSV: arrival_s, input_tokens, output_tokens
//   - Mooncake's JSON lines: timestamp in ms, input_length, output_length,
//     hash_ids of 512 tokens; Qwen-Bailian's, detected by chat_id: seconds, 16 tokens
//
// in any order of columns, with additional columns and other names for lengths. Requests
// are sorted by arrival, the first at time zero. Those without prompt or output tokens
// are skipped. Most is how many are taken, the first of the file, and no more of it is read;
// 0 takes all. The error joins all problems found, up to 20, one *Problem with its line
// each.
func ReadTrace(r io.Reader, name string, most int) (*Trace, error) {
	return readTrace(r, name, most, limits{bound.Trace.Bytes(), bound.TraceRequests, bound.TraceBlocks})
}

// limits are the bounds of a trace.
type limits struct {
	bytes            int64
	requests, blocks int
}

func readTrace(r io.Reader, name string, most int, limit limits) (*Trace, error) {
	var all []row
	blocks := 0
	out := &Trace{}
	err := readFile(r, name, limit.bytes, func(ps *problems, f format, r io.Reader) error {
		if f == yamlBins {
			ps.Add(1, "", "bins have no arrival times; a trace must be CSV or JSON lines")
			return nil
		}
		requests := &rows{problems: ps, timed: true, longest: maxLength}
		requests.take = func(line int, q row) {
			switch blocks += len(q.hashes); {
			case q.input == 0 || q.output == 0: // BurstGPT keeps requests that failed
				out.Skipped++
			case len(all) == limit.requests:
				ps.Add(line, "", "%v; take fewer (num_prompts), or use a part of the file", bound.Over(limit.requests, "requests"))
				requests.done = true
			case blocks > limit.blocks:
				ps.Add(line, "", "%v; take fewer requests (num_prompts), or use a part of the file", bound.Over(limit.blocks, "blocks of prompts"))
				requests.done = true
			default:
				all = append(all, q)
				requests.done = len(all) == most
			}
		}
		if err := requests.read(f, r); err != nil {
			return err
		}
		if len(all) == 0 && len(ps.List) == 0 {
			ps.Add(1, "", "no requests with both a prompt and output tokens")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out.add(all)
	return out, nil
}

// add puts requests in order and numbers their contents.
func (t *Trace) add(all []row) {
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(a.at, b.at) })
	t.Requests = make([]Request, len(all))
	numbers := map[int64]uint32{}
	for i, r := range all {
		q := &t.Requests[i]
		*q = Request{Arrival: units.Seconds(r.at - all[0].at), Input: r.input, Output: r.output}
		if len(r.hashes) == 0 {
			continue
		}
		if t.BlockTokens == 0 {
			t.BlockTokens = r.block
		}
		hashes := r.hashes[:min(len(r.hashes), (r.input+t.BlockTokens-1)/t.BlockTokens)]
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
}
