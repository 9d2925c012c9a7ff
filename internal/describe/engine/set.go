package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// With returns the profile with values replaced, each given as "key=value":
// "token_budget=4096", "host.per_step_us=800". A host's time is replaced for every
// generation. A value replaced here is kept by On.
func (p *Profile) With(assignments ...string) (*Profile, error) {
	q := p.clone()
	var errs []error
	for _, a := range assignments {
		if err := q.assign(a); err != nil {
			errs = append(errs, fmt.Errorf("engine setting %q: %w", a, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return q, nil
}

func (p *Profile) assign(assignment string) error {
	key, value, ok := strings.Cut(assignment, "=")
	if !ok {
		return errors.New("want key=value")
	}
	key, value = strings.ReplaceAll(strings.TrimSpace(key), "-", "_"), strings.TrimSpace(value)
	p.keep(key)
	own := p.settings()
	if s := withKey(own, key); s != nil {
		return s.set(value)
	}
	// One host more: without any, a key may still be wrong.
	for _, t := range slices.AppendSeq([]*Terms{{}}, maps.Values(p.Hosts)) {
		s, err := byKey(append(own, t.adjustable()...), key)
		if err == nil {
			err = s.set(value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// adjustable are the settings by the keys under which With sets every generation:
// "first" is "host.first_us".
func (t *Terms) adjustable() []setting {
	all := t.settings()
	for i := range all {
		all[i].key = "host." + all[i].key + "_us"
	}
	return all
}

// keep makes a setting independent of the device.
func (p *Profile) keep(key string) {
	switch key {
	case "memory_share":
		p.ShareRule = nil
	case "graph.max_batch":
		p.Graph.Given = true
	case "max_sequences":
		p.MTP.Sequences, p.SequencesGiven = 0, true
	case "prefix_caching":
		p.CachingGiven = true
	case "host.exposed":
		p.Alone, p.ExposedGiven = 1, true
	case "host.first_us":
		for _, t := range p.Hosts {
			t.FirstAlone = 0
		}
	case "recurrent.slots", "recurrent.overlapped":
		p.Recurrent.Unbuffered, p.Recurrent.Given = nil, true
	}
	for i := range p.Tiers {
		switch t := &p.Tiers[i]; key {
		case "token_budget":
			t.TokenBudget = 0
		case "max_sequences":
			t.MaxSequences = 0
		case "graph.max_batch":
			t.GraphBatch, t.WideGraphBatch = 0, 0
		}
	}
}

// Setting is a value that With can replace, for people.
type Setting struct {
	Key, Value string
	Option     string // the engine's own name; "" if there is none
	Meaning    string // of the value, if it is one of Words
	Words      []Word
}

// Settings lists the values but for the times of the host.
func (p *Profile) Settings() []Setting { return describe(p.settings(), p.current) }

// Settings lists the times.
func (t *Terms) Settings() []Setting {
	return describe(t.adjustable(), func(string) string { return "" })
}

func describe(all []setting, option func(key string) string) []Setting {
	out := make([]Setting, len(all))
	for i, s := range all {
		out[i] = Setting{s.key, s.text(), option(s.key), s.meaning, s.valid.words}
		if w := s.word(); w != nil {
			out[i].Meaning = w.Meaning
		}
	}
	return out
}
