package traffic

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/server"
)

// Mix is requests of several kinds in one stream.
type Mix []Kind

// Kind is requests whose lengths are drawn alike.
type Kind struct {
	Share  float64 // of the requests, in proportion to the other kinds
	Input  Lengths
	Output Lengths
	// Like, if given, replaces the lengths: those of one of these requests, each as
	// likely. Prompts and answers that belong together stay together.
	Like []workload.Request
	// BlockTokens, if not 0, is how many prompt tokens an entry of their Blocks stands for: they are then sent in their order, and
	// what a prompt has in common with others may be found in a cache. One kind of a mix without sessions may have it.
	BlockTokens int
	// Session, if given, replaces the lengths: what is drawn is a session, its first request and all that follow it.
	Session *workload.Session
}

// Check reports kinds that no request can be drawn from.
func (m Mix) Check() error {
	errs := []error{m.checkKnown()}
	sum := 0.0
	for i := range m {
		k := &m[i]
		if !(k.Share >= 0) || math.IsInf(k.Share, 1) {
			errs = append(errs, fmt.Errorf("kind %d: the share must not be negative, got %g", i+1, k.Share))
		}
		sum += k.Share
		if k.Session != nil {
			errs = append(errs, k.Session.Check())
			continue
		}
		if k.Like == nil {
			errs = append(errs, checkLengths(&k.Input, &k.Output, nil)...)
		}
		for j := range k.Like {
			if q := &k.Like[j]; min(q.Input, q.Output) < 1 || max(q.Input, q.Output) > maxTokens {
				errs = append(errs, fmt.Errorf("kind %d: request %d: tokens must be between 1 and %d, got %d and %d", i+1, j+1, maxTokens, q.Input, q.Output))
				break
			}
		}
	}
	if !(sum > 0) {
		errs = append(errs, errors.New("the shares of a mix must have a positive sum"))
	}
	return errors.Join(errs...)
}

// checkKnown reports prompts that are known where they cannot be sent in their order.
func (m Mix) checkKnown() error {
	known := 0
	for i := range m {
		k := &m[i]
		if k.BlockTokens != 0 {
			known++
		}
		if k.BlockTokens < 0 || k.BlockTokens > 0 && len(k.Like) == 0 || known > 1 || known > 0 && m.converses() {
			return fmt.Errorf("kind %d: one kind at most, in a mix without sessions, may have requests whose prompts are known", i+1)
		}
	}
	return nil
}

// recalls reports whether a kind has requests whose prompts are known.
func (m Mix) recalls() bool {
	return slices.ContainsFunc(m, func(k Kind) bool { return k.BlockTokens > 0 })
}

// turns is the most requests that follow from one drawn.
func (m Mix) turns() int {
	most := 1
	for i := range m {
		if m[i].Session != nil {
			most = max(most, m[i].Session.Turns)
		}
	}
	return most
}

// thinks reports whether sessions pause between an answer and the next request.
func (m Mix) thinks() bool {
	return slices.ContainsFunc(m, func(k Kind) bool { return k.Session != nil && k.Session.Think > 0 })
}

// shortest is the shortest prompt that may be drawn.
func (m Mix) shortest() int {
	least := maxTokens
	for i := range m {
		k := &m[i]
		if k.Session != nil {
			in := k.first()
			least = min(least, k.Session.System+in.Shortest())
			continue
		}
		if k.Like == nil {
			least = min(least, k.Input.Shortest())
		}
		for j := range k.Like {
			least = min(least, k.Like[j].Input)
		}
	}
	return least
}

// first and answer are the lengths of a session's first message and of its answers.
func (k *Kind) first() Lengths {
	return Lengths{Tokens: k.Session.First, Low: k.Session.LengthLow}
}

func (k *Kind) answer() Lengths {
	return Lengths{Tokens: k.Session.Output, Low: k.Session.LengthLow}
}

// drawer returns a function that draws the lengths of requests: those of the mix, or
// without one input and output. known replays the kind whose prompts are known.
func (m Mix) drawer(input, output *Lengths, seed uint64, known *replay) func(*server.Request) {
	inputs, outputs := stream(seed, inputStream), stream(seed, outputStream)
	if m == nil {
		in, out := input.drawer(inputs), output.drawer(outputs)
		return func(q *server.Request) { q.Input, q.Output = in(), out() }
	}
	kinds := stream(seed, kindStream)
	upTo := make([]float64, len(m))
	draw := make([]func() (int, int), len(m))
	sum := 0.0
	for i := range m {
		k := &m[i]
		sum += k.Share
		upTo[i] = sum
		if k.BlockTokens > 0 {
			draw[i] = known.lengths
			continue
		}
		if k.Like != nil {
			draw[i] = func() (int, int) { q := &k.Like[inputs.IntN(len(k.Like))]; return q.Input, q.Output }
			continue
		}
		if k.Session != nil {
			first, answer := k.first(), k.answer()
			in, out := first.drawer(inputs), answer.drawer(outputs)
			draw[i] = func() (int, int) { return k.Session.System + in(), out() }
			continue
		}
		in, out := k.Input.drawer(inputs), k.Output.drawer(outputs)
		draw[i] = func() (int, int) { return in(), out() }
	}
	return func(q *server.Request) {
		x := kinds.Float64() * sum
		i := 0
		for i < len(m)-1 && x >= upTo[i] {
			i++
		}
		q.Kind = int32(i)
		q.Input, q.Output = draw[i]()
	}
}
