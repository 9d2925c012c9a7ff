package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/pool"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

// The words of Draft beside the methods.
const (
	AutoDraft = "auto" // none, and every method that the model has
	NoDraft   = "none"
)

// mostDrafts is the most draft tokens that are tried where no number is given.
const mostDrafts = 3

// DraftWords are the values of Draft.
func DraftWords() []string {
	out := []string{AutoDraft, NoDraft}
	for _, by := range draft.Methods() {
		out = append(out, string(by))
	}
	return out
}

// splitDraft is the word of Draft and the number behind it, 0 for none.
func (r *Request) splitDraft() (word string, tokens int, err error) {
	const name field.Name = "draft"
	word, count, given := strings.Cut(r.Draft, ":")
	if r.Draft == "" {
		return "", 0, nil
	}
	if err := field.OneOf(name, word, DraftWords()...); err != nil {
		return word, 0, err
	}
	if r.MTP > 0 {
		return word, 0, field.Errorf("give one of %s and %s", name, field.Name("nextn"))
	}
	if !given {
		return word, 0, nil
	}
	tokens, err = strconv.Atoi(count)
	if err != nil || tokens < 1 || tokens > deployment.MaxMTP || word == AutoDraft || word == NoDraft {
		return word, 0, field.Errorf("%s %s: want a method and between 1 and %d draft tokens, such as mtp:2", name, r.Draft, deployment.MaxMTP)
	}
	return word, tokens, nil
}

// checkDraft reports a wrong Draft.
func (r *Request) checkDraft() error {
	_, _, err := r.splitDraft()
	return err
}

// drafts are the ways to draft tokens to search, nil where Draft says nothing.
func (r *Request) drafts(m *model.Model) ([]search.Draft, error) {
	word, tokens, err := r.splitDraft()
	if err != nil || word == "" || word == NoDraft {
		return nil, err
	}
	ways := draft.Ways(m)
	var out []search.Draft
	if by := draft.Method(word); word == AutoDraft {
		out = append(out, search.Draft{})
	} else {
		switch {
		case by == draft.MTP && m.MTP.Layers == 0:
			return nil, field.Errorf("%s %s: %s has no MTP modules", field.Name("draft"), word, m.Name())
		case by == draft.EAGLE3 && draft.HeadOf(m) == nil:
			return nil, field.Errorf("%s %s: no EAGLE-3 head of %s is known", field.Name("draft"), word, m.Name())
		}
		ways = []draft.Method{by}
	}
	for _, by := range ways {
		for n := 1; n <= mostDrafts; n++ {
			if tokens == 0 {
				out = append(out, search.Draft{By: by, Tokens: n})
			}
		}
		if tokens > 0 {
			out = append(out, search.Draft{By: by, Tokens: tokens})
		}
	}
	return out, nil
}

// Drafting describes the answer's draft tokens and the loads at which they raise throughput.
type Drafting struct {
	Method draft.Method `json:"method"`
	Head   string       `json:"head,omitempty"` // of EAGLE-3
	Tokens int          `json:"tokens"`
	// Kept are the acceptance rates of the draft tokens, Source their source.
	Kept   []float64 `json:"kept"`
	Source string    `json:"source"`
	// OffAbove is the highest concurrency at which drafting raises throughput; null if it does at all loads tried.
	OffAbove *int        `json:"off_above"`
	Loads    []DraftLoad `json:"loads"`
}

// DraftLoad is the best number of draft tokens at a concurrency.
type DraftLoad struct {
	Concurrency int `json:"concurrency"`
	Tokens      int `json:"best_tokens"`
	// Gain is throughput with the answer's drafts over that without drafts.
	Gain float64 `json:"gain"`
}

// drafting finds at which loads the drafts of a contender pay, on its own layout; nil if it has none.
func (p *planning) drafting(ctx context.Context, c *Found) (*Drafting, error) {
	e := &c.Experiment
	if e.MTP == 0 {
		return nil, nil
	}
	m, err := p.world.Model(e.Model, "")
	if err != nil {
		return nil, err
	}
	out, lengths := p.ofModel(e, m), p.lengths(e.MTP)
	const apart, beyond = 4, 4
	var loads []int
	for n := c.Copies; n <= beyond*max(1, c.Capacity.Concurrency); n *= apart {
		loads = append(loads, n)
	}
	rates := make([]float64, len(loads)*len(lengths))
	err = pool.Each(ctx, len(rates), session.DefaultJobs, func(i int) {
		rates[i] = p.generates(ctx, c, loads[i/len(lengths)], lengths[i%len(lengths)])
	})
	if err != nil {
		return nil, err
	}
	pays, fails := 0, 0
	for i, n := range loads {
		of := rates[i*len(lengths) : (i+1)*len(lengths)]
		if of[0] == 0 || of[1] == 0 {
			break // no room for so many
		}
		best := lengths[slices.Index(of, slices.Max(of))]
		out.Loads = append(out.Loads, DraftLoad{Concurrency: n, Tokens: best, Gain: of[1] / of[0]})
		if of[1] > of[0] {
			pays, fails = n, 0
		} else if fails == 0 {
			fails = n
		}
	}
	if fails == 0 {
		return out, nil
	}
	for fails > pays+max(c.Copies, pays/8) { // whole requests of each copy, and no finer than predictions are
		n := (pays + fails) / 2 / c.Copies * c.Copies
		if n <= pays {
			break
		}
		if p.generates(ctx, c, n, e.MTP) > p.generates(ctx, c, n, 0) {
			pays = n
		} else {
			fails = n
		}
	}
	out.OffAbove = &pays
	return out, ctx.Err()
}

// ofModel is what is known of the drafts of an experiment.
func (p *planning) ofModel(e *experiment.Experiment, m *model.Model) *Drafting {
	out := &Drafting{Method: cmp.Or(e.Drafter, draft.MTP), Tokens: e.MTP, Kept: p.r.AcceptanceRates, Source: "given", Loads: []DraftLoad{}}
	if h := draft.HeadOf(m); h != nil && out.Method == draft.EAGLE3 {
		out.Head = h.Name
	}
	if out.Kept == nil {
		a := draft.Of(m, out.Method, draft.Real)
		out.Kept, out.Source = a.Rates(e.MTP), a.Source
	}
	return out
}

// lengths are the numbers of drafts that are compared: none, those of the answer, and others.
func (p *planning) lengths(own int) []int {
	out, most := []int{0, own}, mostDrafts
	if p.r.AcceptanceRates != nil {
		most = min(most, len(p.r.AcceptanceRates))
	}
	for n := 1; n <= most; n++ {
		if n != own {
			out = append(out, n)
		}
	}
	return out
}

// generates is the output tokens per second of one copy of a contender with its share of so many requests in flight, drafting another
// number of tokens; 0 if it cannot.
func (p *planning) generates(ctx context.Context, c *Found, requests, tokens int) float64 {
	q := c.traffic(&p.r.Sources, max(1, requests/c.Copies))
	q.Deployment = some(&c.Option, 1)
	last := &q.Deployment.Pools[len(q.Deployment.Pools)-1]
	ranks := max(1, last.Replicas) * max(1, last.Layout.DP)
	for i := range q.Deployment.Pools {
		d := &q.Deployment.Pools[i]
		d.MTP = tokens
		if tokens == 0 {
			d.Drafter = ""
		}
	}
	last.Settings = append(slices.Clip(last.Settings), fmt.Sprintf("max_sequences=%d", max(c.Batch, (q.Concurrency+ranks-1)/ranks)))
	s, err := simulate.Prepare(p.world, &q)
	if err != nil {
		return 0
	}
	r, err := simulate.Remembered(p.world, &q, &p.r.Sources, func() (*simulate.Response, error) { return simulate.On(ctx, p.world, s, &q) })
	if err != nil {
		return 0
	}
	return r.Result.OutputRate
}

// inWords says which drafts there are and above which load they are off.
func (d *Drafting) inWords() string {
	var kept []string
	for _, x := range d.Kept[:d.Tokens] {
		kept = append(kept, fmt.Sprintf("%.0f %%", 100*x))
	}
	out := fmt.Sprintf("Drafts %s per step with %s, acceptance %s", units.Counted(d.Tokens, "token"), methodInWords(d.Method), strings.Join(kept, ", "))
	switch n := len(d.Loads); {
	case d.OffAbove != nil && *d.OffAbove == 0:
		return out + "; no gain in throughput at any load tried."
	case d.OffAbove != nil:
		return out + fmt.Sprintf("; switched off above %s in flight.", units.Thousands(*d.OffAbove))
	case n > 0:
		return out + fmt.Sprintf("; they raise throughput at all loads tried, up to %s in flight.", units.Thousands(d.Loads[n-1].Concurrency))
	}
	return out + "."
}

func methodInWords(by draft.Method) string {
	return map[draft.Method]string{draft.MTP: "MTP", draft.EAGLE3: "EAGLE-3", draft.NGram: "n-grams"}[by]
}

// draftChanges are other numbers of drafts than those of the best contender.
func (p *planning) draftChanges(best *Found, m *model.Model, add func(string, func(*Request))) {
	by, n := cmp.Or(best.Experiment.Drafter, draft.MTP), best.Experiment.MTP
	if n == 0 {
		if slices.Contains(draft.Ways(m), draft.MTP) && p.r.Draft == "" {
			add(fmt.Sprintf("up to %d draft tokens per step with MTP", mostDrafts), func(r *Request) { r.Draft = AutoDraft })
		}
		return
	}
	add("without drafts", func(r *Request) { r.MTP, r.Draft, r.AcceptanceRates = 0, NoDraft, nil })
	if r := p.r.AcceptanceRates; n < deployment.MaxMTP && (r == nil || len(r) > n) {
		add(fmt.Sprintf("%d draft tokens per step instead of %d", n+1, n), func(r *Request) { r.MTP, r.Draft = 0, fmt.Sprintf("%s:%d", by, n+1) })
	}
}

// chosen takes the drafts that were found as those of the experiment.
func (c *Found) chosen() {
	e, d := &c.Experiment, c.Deployment.Pools
	if len(d) == 0 {
		return
	}
	e.MTP, e.Drafter, e.Drafts = d[len(d)-1].MTP, d[len(d)-1].Drafter, nil
}
