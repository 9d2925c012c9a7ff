package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// FieldEffect is a field of the requests that differs.
type FieldEffect struct {
	Field string `json:"field"`
	A     string `json:"a"` // JSON, "" where it was not given
	B     string `json:"b"`
	// Ratio is what the field does alone to tokens per second and GPU, or to the GPUs
	// where a load was given; null where that cannot be said.
	Ratio   units.OrNull `json:"ratio"`
	Failure string       `json:"failure,omitempty"`
}

// Effects plans A again with each single field of B that differs: what the fields do
// one by one.
func Effects(ctx context.Context, w *session.Session, a, b Request) ([]FieldEffect, error) {
	ours, err := fieldsOf(a)
	if err != nil {
		return nil, err
	}
	theirs, err := fieldsOf(b)
	if err != nil {
		return nil, err
	}
	var out []FieldEffect
	for _, name := range slices.Sorted(maps.Keys(union(ours, theirs))) {
		same := bytes.Equal(ours[name], theirs[name]) || name == "no_changes"
		// Limits and no_limits exclude each other: the one that B has tells the difference.
		if same || name == "limits" && theirs["no_limits"] != nil || name == "no_limits" && theirs["limits"] != nil {
			continue
		}
		out = append(out, FieldEffect{Field: name, A: string(ours[name]), B: string(theirs[name])})
	}
	if len(out) == 0 {
		return nil, nil
	}
	a.NoChanges = true
	base, err := Run(ctx, w, a)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if err := effect(ctx, w, ours, base, theirs[out[i].Field], &out[i]); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// effect plans with one field of another request.
func effect(ctx context.Context, w *session.Session, ours map[string]json.RawMessage, base *Response, value json.RawMessage, x *FieldEffect) error {
	changed := maps.Clone(ours)
	delete(changed, x.Field)
	if x.Field == "limits" || x.Field == "no_limits" {
		delete(changed, "limits")
		delete(changed, "no_limits")
	}
	if value != nil {
		changed[x.Field] = value
	}
	changed["no_changes"] = json.RawMessage("true")
	data, err := json.Marshal(changed)
	if err != nil {
		return err
	}
	var r Request
	if err := json.Unmarshal(data, &r); err != nil {
		return session.BadInput(fmt.Errorf("reading a plan: %w", err))
	}
	got, failed := Run(ctx, w, r)
	if failed != nil {
		x.Failure = failed.Error()
		return ctx.Err()
	}
	if len(base.Contenders) == 0 || len(got.Contenders) == 0 {
		return nil
	}
	was, is := &base.Contenders[0].Found, &got.Contenders[0].Found
	if was.Meets && is.Meets {
		x.Ratio = units.OrNull(is.perDevice() / was.perDevice())
		if was.Load > 0 && is.Load > 0 {
			x.Ratio = units.OrNull(is.Used) / units.OrNull(was.Used)
		}
	}
	return nil
}

func fieldsOf(r Request) (map[string]json.RawMessage, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	out := map[string]json.RawMessage{}
	return out, json.Unmarshal(data, &out)
}

func union(a, b map[string]json.RawMessage) map[string]json.RawMessage {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}
