package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// FieldEffect is a field of the requests that differs.
type FieldEffect struct {
	Field string `json:"field"`
	A     string `json:"a"` // JSON, "" where it was not given
	B     string `json:"b"`
	// Ratio is what the field does alone to tokens per second and GPU, or to the GPUs
	// where a load was given; null where that cannot be said.
	Ratio   *float64 `json:"ratio"`
	Failure string   `json:"failure,omitempty"`
}

// Effects says what each single field of B that differs from A does alone. Plans that were read from a record are planned again, as
// the program and its data may be others now.
func Effects(ctx context.Context, w *session.Session, a, b *Response) ([]FieldEffect, error) {
	ours, err := fieldsOf(a.Request)
	if err != nil {
		return nil, err
	}
	theirs, err := fieldsOf(b.Request)
	if err != nil {
		return nil, err
	}
	out := differing(ours, theirs)
	if len(out) == 0 {
		return nil, nil
	}
	base, err := a.best(ctx, w)
	if err != nil {
		return nil, err
	}
	for i := range out {
		changed := b
		if len(out) > 1 { // a single field makes B of A
			changed = &Response{Request: Request{Jobs: a.Request.Jobs}}
			if err := withField(&changed.Request, ours, out[i].Field, theirs[out[i].Field]); err != nil {
				return nil, err
			}
		}
		got, failed := changed.best(ctx, w)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i].fill(base, got, failed)
	}
	return out, nil
}

// differing are the fields of requests that differ.
func differing(ours, theirs map[string]json.RawMessage) []FieldEffect {
	var out []FieldEffect
	all := maps.Clone(ours)
	maps.Copy(all, theirs)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		same := bytes.Equal(ours[name], theirs[name]) || name == "no_changes"
		// Limits and no_limits exclude each other: the one that B has tells the difference.
		if same || name == "limits" && theirs["no_limits"] != nil || name == "no_limits" && theirs["limits"] != nil {
			continue
		}
		out = append(out, FieldEffect{Field: name, A: string(ours[name]), B: string(theirs[name])})
	}
	return out
}

// best is the first contender of a plan, nil if there is none.
func (p *Response) best(ctx context.Context, w *session.Session) (*Found, error) {
	if len(p.Contenders) > 0 && len(p.Contenders[0].Found.Deployment.Pools) > 0 { // it was planned, and not read
		return &p.Contenders[0].Found, nil
	}
	return best(ctx, w, p.Request)
}

// withField reads a request with one field of another one.
func withField(r *Request, ours map[string]json.RawMessage, name string, value json.RawMessage) error {
	changed := maps.Clone(ours)
	delete(changed, name)
	if name == "limits" || name == "no_limits" {
		delete(changed, "limits")
		delete(changed, "no_limits")
	}
	if value != nil {
		changed[name] = value
	}
	data, err := json.Marshal(changed)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, r); err != nil {
		return session.BadInput(fmt.Errorf("reading a plan: %w", err))
	}
	return nil
}

// fill compares the best deployments with and without the field.
func (x *FieldEffect) fill(was, is *Found, failed error) {
	if failed != nil {
		x.Failure = failed.Error()
		return
	}
	if was == nil || is == nil || !was.Meets || !is.Meets {
		return
	}
	x.Ratio = new(is.perDevice() / was.perDevice())
	if was.Load > 0 && is.Load > 0 {
		x.Ratio = new(float64(is.Used) / float64(was.Used))
	}
}

func fieldsOf(r Request) (map[string]json.RawMessage, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	return out, json.Unmarshal(data, &out)
}
