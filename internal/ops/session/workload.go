package session

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// Kinds are workloads ready to be simulated, and their statistics.
type Kinds struct {
	Mix traffic.Mix
	// about is a description of each.
	About []PlanWorkload
	// Input and Output are the mean lengths over all requests, Prefix the mean found in the
	// prefix cache; Longest is the most tokens of a request, Prompt of a prompt.
	Input, Output, Prefix int
	Longest, Prompt       int
	// Sessions are those among the workloads; nil where requests come by themselves.
	Sessions *Sessions
}

// Sessions is what sessions have in common with the requests beside them, on average. Requests of a trace whose prompts are known
// are sessions of one turn: what a prompt finds in a cache depends on those before it.
type Sessions struct {
	// Turns is the requests that follow from one session or request that starts.
	Turns float64
	// Think is the time from an answer to the next request of the same session, over all requests.
	Think units.Seconds
	// Cached is the tokens of a prompt that a cache which never evicts has, Pairs the rest, each times those before.
	Cached, Pairs float64
}

// PlanWorkload is a workload with its resolved lengths.
type PlanWorkload struct {
	Name   string  `json:"name"`
	Share  float64 `json:"share"` // of all requests
	Input  float64 `json:"mean_isl"`
	Output float64 `json:"mean_osl"`
	Source string  `json:"source"` // of the lengths: given, a preset and its source, a file
}

// complete fills in the values of a preset; its prefix only if the workload is alone.
func (x *Workload) complete(alone bool) (source string, err error) {
	x.Share = cmp.Or(x.Share, 1)
	source = "given"
	x.alone()
	switch {
	case x.Trace != "":
		source = x.Trace
	case x.Session != nil:
		source = "given as sessions"
	case x.InputLengths != nil || x.OutputLengths != nil:
		source = "given as a distribution"
	}
	if x.Preset != "" {
		p, ok := workload.LookupPreset(x.Preset)
		if !ok {
			return "", unknownPreset(x.Preset)
		}
		if source = p.Source; x.Session != nil {
			x.Name = cmp.Or(x.Name, x.Preset)
			return source, nil
		}
		input, output, low := p.Longest()
		if x.Input == 0 && x.Output == 0 && x.LengthLow == 0 {
			x.LengthLow = low
		}
		if alone && x.Input == 0 && x.Prefix == 0 {
			x.Prefix = p.Prefix
		}
		x.Input, x.Output = cmp.Or(x.Input, input), cmp.Or(x.Output, output)
	}
	x.Name = cmp.Or(x.Name, x.Preset)
	x.LengthLow = cmp.Or(x.LengthLow, 1)
	return source, nil
}

// alone makes a session of one request that request.
func (x *Workload) alone() {
	if s := x.Session; s != nil && s.Single() && x.checkSession() == nil {
		x.Session, x.Input, x.Output, x.LengthLow = nil, s.First, s.Output, s.LengthLow
	}
}

// talks makes a preset of sessions those, unless other lengths are given.
func (x *Workload) talks() {
	if p, ok := workload.LookupPreset(x.Preset); ok && x.Input == 0 && x.Output == 0 && x.Prefix == 0 && x.LengthLow == 0 && x.Session == nil {
		x.Session = p.Session()
	}
}

// IsPreset reports whether the lengths are exactly those of a preset.
func (x *Workload) IsPreset() bool {
	if x.Preset == "" {
		return false
	}
	alone, shared := Workload{Preset: x.Preset}, Workload{Preset: x.Preset}
	if _, err := alone.complete(true); err != nil {
		return false
	}
	_, _ = shared.complete(false)
	if p, _ := workload.LookupPreset(x.Preset); x.Session != nil {
		return p.Session() != nil && *x.Session == *p.Session()
	}
	same := func(p *Workload) bool {
		return x.Input == p.Input && x.Output == p.Output && x.LengthLow == p.LengthLow && x.Prefix == p.Prefix
	}
	return same(&alone) || same(&shared) || same(&Workload{})
}

func unknownPreset(name string) error {
	var names []string
	for _, p := range workload.Presets() {
		names = append(names, p.Name)
	}
	return field.OneOf("preset", name, names...)
}

// check reports errors in a complete workload.
func (x *Workload) check() error {
	errs := []error{}
	if !(x.Share > 0) || math.IsInf(x.Share, 1) {
		errs = append(errs, fmt.Errorf("workload %s: the share must be positive and finite, got %g", x.Name, x.Share))
	}
	if x.Session != nil {
		return errors.Join(append(errs, x.checkSession())...)
	}
	if x.Trace != "" {
		return errors.Join(errs...)
	}
	if x.InputLengths == nil {
		errs = append(errs, field.Between("isl", x.Input, 1, MaxTokens), field.Between("prefix", x.Prefix, 0, max(0, x.Input-1)))
	}
	if x.OutputLengths == nil {
		errs = append(errs, field.Between("osl", x.Output, 1, MaxTokens))
	}
	if !(x.LengthLow > 0 && x.LengthLow <= 1) {
		errs = append(errs, field.Errorf("%s must be above 0 and at most 1, got %g", field.Name("length_ratio_low"), x.LengthLow))
	}
	return errors.Join(errs...)
}

// checkSession reports errors in sessions.
func (x *Workload) checkSession() error {
	if x.Input != 0 || x.Output != 0 || x.Prefix != 0 || x.Trace != "" || x.InputLengths != nil || x.OutputLengths != nil {
		return field.Errorf("workload %s: sessions exclude %s, %s, %s and other lengths", x.Name, field.Name("isl"), field.Name("osl"), field.Name("prefix"))
	}
	if err := x.Session.Check(); err != nil {
		return fmt.Errorf("workload %s: %w", x.Name, err)
	}
	return nil
}

// kind is the workload as simulated.
func (w *Session) kind(x *Workload) (traffic.Kind, error) {
	out := traffic.Kind{
		Share:  x.Share,
		Input:  traffic.Lengths{Tokens: x.Input, Low: x.LengthLow, Distribution: x.InputLengths},
		Output: traffic.Lengths{Tokens: x.Output, Low: x.LengthLow, Distribution: x.OutputLengths},
	}
	if x.Session != nil {
		return traffic.Kind{Share: x.Share, Session: x.Session}, nil
	}
	if x.Trace == "" {
		return out, nil
	}
	trace, err := w.Trace(x.Trace, 0)
	if err != nil {
		return out, err
	}
	out.Like = trace.Requests
	if slices.ContainsFunc(trace.Requests, func(q workload.Request) bool { return q.Blocks != nil }) {
		out.BlockTokens = trace.BlockTokens
	}
	if out.BlockTokens > 0 && x.Prefix > 0 {
		return out, field.Errorf("%s: the block hashes of the trace %s already give the shared prefixes", field.Name("prefix"), x.Trace)
	}
	return out, nil
}

// recalls keeps what is known of prompts where it can be simulated: of one kind of requests, without sessions beside it.
func recalls(kinds traffic.Mix) {
	known := 0
	for i := range kinds {
		if k := &kinds[i]; k.BlockTokens > 0 || k.Session != nil {
			known++
		}
	}
	for i := range kinds {
		if known > 1 {
			kinds[i].BlockTokens = 0
		}
	}
}

// shared is what prompts of a kind have in common with those before them: the tokens that a cache which never evicts has, and
// the rest, each times those before, both on average.
func shared(k *traffic.Kind) (cached, pairs float64) {
	seen := uint32(0) // contents are numbered in the order in which they come
	for i := range k.Like {
		q := &k.Like[i]
		n := 0
		for n < len(q.Blocks) && q.Blocks[n] < seen {
			n++
		}
		for _, b := range q.Blocks[n:] {
			seen = max(seen, b+1)
		}
		had := float64(min(n*k.BlockTokens, q.Input-1))
		rest := float64(q.Input) - had
		cached, pairs = cached+had, pairs+rest*(had+(rest+1)/2)
	}
	n := float64(len(k.Like))
	return cached / n, pairs / n
}

// means are the average lengths of a kind, the longest request and the longest prompt.
func means(k *traffic.Kind) (input, output float64, longest, prompt int) {
	if k.Session != nil {
		input, output, _ = k.Session.Means()
		return input, output, k.Session.Longest(), k.Session.Longest() - k.Session.Output
	}
	if k.Like != nil {
		for i := range k.Like {
			q := &k.Like[i]
			input, output = input+float64(q.Input), output+float64(q.Output)
			longest, prompt = max(longest, q.Input+q.Output), max(prompt, q.Input)
		}
		n := float64(len(k.Like))
		return input / n, output / n, longest, prompt
	}
	of := func(l *traffic.Lengths) (mean float64, most int) {
		if l.Distribution != nil {
			return float64(l.Distribution.MeanEffective(0)), Longest(l.Distribution)
		}
		return float64(l.Tokens) * (1 + l.Low) / 2, l.Tokens
	}
	input, prompt = of(&k.Input)
	output, longest = of(&k.Output)
	return input, output, prompt + longest, prompt
}

// Kinds resolves workloads and completes them in place. A preset that has sessions is those.
func (w *Session) Kinds(all []Workload) (*Kinds, error) {
	out := &Kinds{}
	var errs []error
	sources := make([]string, len(all))
	for i := range named(all) {
		x := &all[i]
		x.talks()
		var err error
		if sources[i], err = x.complete(len(all) == 1); err == nil {
			err = x.check()
		}
		var k traffic.Kind
		if err == nil {
			k, err = w.kind(x)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out.Mix = append(out.Mix, k)
	}
	if err := errors.Join(errs...); err != nil || len(all) == 0 {
		return nil, BadInput(cmp.Or(err, errors.New("no workload given")))
	}
	recalls(out.Mix)
	sum, input, output, prefix := 0.0, 0.0, 0.0, 0.0
	var talks talked
	for i := range out.Mix {
		k, x := &out.Mix[i], &all[i]
		in, gen, most, prompt := means(k)
		requests := talks.add(k, in)
		if k.BlockTokens > 0 {
			cached, _ := shared(k)
			sources[i] += fmt.Sprintf(", %.0f %% of prompt tokens repeat earlier ones", 100*cached/in)
		}
		out.About = append(out.About, PlanWorkload{x.Name, requests, in, gen, sources[i]})
		out.Longest, out.Prompt = max(out.Longest, most), max(out.Prompt, prompt)
		sum, input, output, prefix = sum+requests, input+requests*in, output+requests*gen, prefix+requests*float64(x.Prefix)
	}
	for i := range out.About {
		out.About[i].Share /= sum
	}
	if len(all) > 1 && prefix > 0 {
		return nil, BadInput(field.Errorf("%s: workloads that share a deployment are simulated without a prefix cache; plan the workload with a prefix separately", field.Name("prefix")))
	}
	whole := func(x float64) int { return max(1, int(math.Round(x/sum))) }
	out.Input, out.Output, out.Prefix, out.Sessions = whole(input), whole(output), int(math.Round(prefix/sum)), talks.means()
	return out, nil
}

// talked adds up workloads for [Sessions].
type talked struct {
	starts, requests, cached, pairs float64
	think                           units.Seconds
	any                             bool
}

// add adds a workload with a mean length of its prompts, and returns its requests.
func (t *talked) add(k *traffic.Kind, input float64) float64 {
	requests, cached, pairs := k.Share, 0.0, input*(input+1)/2
	if s := k.Session; s != nil {
		requests *= s.MeanTurns()
		_, _, cached = s.Means()
		pairs = s.Pairs()
		t.any = true
		t.think += s.Think * units.Seconds(requests-k.Share)
	}
	if k.BlockTokens > 0 {
		cached, pairs = shared(k)
		t.any = true
	}
	t.starts, t.requests = t.starts+k.Share, t.requests+requests
	t.cached, t.pairs = t.cached+requests*cached, t.pairs+requests*pairs
	return requests
}

// means is nil where there are no sessions.
func (t *talked) means() *Sessions {
	if !t.any {
		return nil
	}
	return &Sessions{
		Turns: t.requests / t.starts, Think: t.think / units.Seconds(t.requests),
		Cached: t.cached / t.requests, Pairs: t.pairs / t.requests,
	}
}

// Turns is the requests that follow from one that comes by itself, on average.
func (k *Kinds) Turns() float64 {
	if k == nil || k.Sessions == nil {
		return 1
	}
	return k.Sessions.Turns
}

// Plain reports whether all requests have the fixed lengths of one workload.
func (k *Kinds) Plain(all []Workload) bool {
	x := &all[0]
	return len(all) == 1 && x.Session == nil && x.Trace == "" && x.InputLengths == nil && x.OutputLengths == nil && x.LengthLow == 1
}

// Workload describes requests of one kind.
type Workload struct {
	Name string `json:"name,omitempty"`
	// Share is the weight of the workload among all requests; 0 = 1.
	Share float64 `json:"share,omitempty" exclusiveMinimum:"0" maximum:"1000000"`
	// Preset names request lengths of a typical use; other fields override its values.
	Preset string `json:"preset,omitempty"`
	// Input and Output are lengths in tokens, uniform from LengthLow of them to all; 0 = 1.
	Input     int     `json:"isl,omitempty" minimum:"1" maximum:"100000000"`
	Output    int     `json:"osl,omitempty" minimum:"1" maximum:"100000000"`
	LengthLow float64 `json:"length_ratio_low,omitempty" exclusiveMinimum:"0" maximum:"1"`
	// Prefix is the tokens of a prompt found in the prefix cache.
	Prefix int `json:"prefix,omitempty" minimum:"0" maximum:"100000000"`
	// InputLengths and OutputLengths, if set, replace the lengths.
	InputLengths  *workload.Distribution `json:"input_distribution,omitempty"`
	OutputLengths *workload.Distribution `json:"output_distribution,omitempty"`
	// Trace is a trace file that gives the lengths and, with block hashes, shared prefixes; its arrival times are ignored.
	Trace string `json:"trace,omitempty"`
	// TraceData is the content of a trace file, instead of its name.
	TraceData string `json:"trace_data,omitempty"`
	// Session, if set, makes this a workload of sessions; Share is then the share of sessions.
	Session *workload.Session `json:"session,omitempty"`
}
