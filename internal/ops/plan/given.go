package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// maxGiven bounds a config.json or a trace that comes with a request, in bytes.
const maxGiven = 1 << 20

// Given is a session that finds what comes with a request: its config.json and its traces, under names with their hashes, so that what is
// remembered of one is not taken for another. The request gets these names.
func Given(w *session.Session, r *Request) (*session.Session, error) {
	out := *w
	out.Given = map[string][]byte{}
	if r.Config != nil {
		if len(r.Config) > maxGiven {
			return nil, session.BadInput(field.Errorf("%s must be at most %d bytes, got %d", field.Name("config"), maxGiven, len(r.Config)))
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
		case len(x.TraceData) > maxGiven:
			return nil, session.BadInput(field.Errorf("%s must be at most %d bytes, got %d", field.Name("trace_data"), maxGiven, len(x.TraceData)))
		}
		x.Trace = "trace@" + hashOf([]byte(x.TraceData))
		out.Given[x.Trace] = []byte(x.TraceData)
	}
	if len(out.Given) == 0 {
		return w, nil
	}
	return &out, nil
}

func hashOf(data []byte) string {
	const letters = 12
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:letters]
}
