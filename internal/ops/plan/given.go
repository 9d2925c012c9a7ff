package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// Given is a session that finds what comes with a request: its config.json and its traces, under names with their hashes, so that what is
// remembered of one is not taken for another. The request gets these names.
func Given(w *session.Session, r *Request) (*session.Session, error) {
	out := *w
	out.Given = map[string][]byte{}
	if r.Config != nil {
		if err := tooLarge("config", len(r.Config)); err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(r.Model, "@")
		if name == "" {
			name = "config.json"
		}
		r.Model = name + "@" + hashOf(r.Config)
		out.Given[r.Model] = r.Config
	}
	r.Workloads = slices.Clone(r.Workloads)
	for i := range r.Workloads {
		x := &r.Workloads[i]
		switch {
		case x.TraceData == "":
			continue
		case x.Trace != "" && !strings.HasPrefix(x.Trace, "trace@"):
			return nil, session.BadInput(field.Errorf("give %s or %s", field.Name("trace"), field.Name("trace_data")))
		}
		if err := tooLarge("trace_data", len(x.TraceData)); err != nil {
			return nil, err
		}
		x.Trace = "trace@" + hashOf([]byte(x.TraceData))
		out.Given[x.Trace] = []byte(x.TraceData)
	}
	if len(out.Given) == 0 {
		return w, nil
	}
	return &out, nil
}

// tooLarge reports a file in a request that is larger than a request may be.
func tooLarge(name field.Name, n int) error {
	if most := bound.Request.Bytes(); int64(n) > most {
		return session.BadInput(field.Errorf("%s must be at most %d bytes, got %d", name, most, n))
	}
	return nil
}

func hashOf(data []byte) string {
	const letters = 12
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:letters]
}
