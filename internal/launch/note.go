package launch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// mark begins the comment with the parts of a deployment that are not engine settings.
const mark = "# plimsoll: "

// note is the part of a deployment that is not in the settings of its engines. Files have it
// as a comment, so that reading a file gives the whole deployment.
type note struct {
	System    string               `json:"system"`
	Engine    string               `json:"engine"`
	Version   string               `json:"version,omitempty"`
	AsFamily  string               `json:"as_family,omitempty"`
	Model     string               `json:"model,omitempty"` // that the formats refer to, where pools load others
	Formats   deployment.Formats   `json:"formats,omitzero"`
	Routing   string               `json:"routing,omitempty"`
	Host      deployment.HostCache `json:"host_cache,omitzero"`
	Modelling deployment.Modelling `json:"modelling,omitzero"`
	Input     int                  `json:"input"`
	Output    int                  `json:"output"`
	Prefix    int                  `json:"prefix,omitempty"`
	Copies    int                  `json:"copies"`
	Batch     []int                `json:"batch"` // most sequences on a rank of each pool, as simulated
	Pools     []notedPool          `json:"pools,omitempty"`
}

// notedPool is the same of a pool. Its settings are those that its engine has no name for. Loads and Converts are the checkpoint of its workers
// and the conversion while loading, where the note names a model: its formats are true of those.
type notedPool struct {
	Role            deployment.Role    `json:"role"`
	Loads           string             `json:"loads,omitempty"`
	Converts        string             `json:"converts,omitempty"`
	System          string             `json:"system,omitempty"`
	Formats         deployment.Formats `json:"formats,omitzero"`
	Settings        []string           `json:"settings,omitempty"`
	AcceptanceRates []float64          `json:"acceptance_rates,omitempty"`
}

// Note is the comment line with the parts of a deployment that the settings in a file do not
// contain; pools are the plan's values, and units is the number of copies the file starts.
func (p *Plan) Note(pools []Values, units int) string {
	d := &p.Deployment
	n := &note{
		System: d.System, Engine: pools[0].Engine, Version: pools[0].Version, AsFamily: d.AsFamily,
		Formats: d.Formats, Routing: d.Routing, Host: d.Host, Modelling: d.Modelling, Input: p.Input, Output: p.Output, Prefix: p.Prefix, Copies: units,
	}
	if p.Loads != nil || slices.ContainsFunc(pools, func(v Values) bool { return v.Model != d.Model }) {
		n.Model = d.Model
	}
	for i := range d.Pools {
		q := &d.Pools[i]
		n.Batch = append(n.Batch, pools[i].Batch)
		noted := notedPool{Role: q.Role, System: q.System, Formats: q.Formats, Settings: pools[i].ModelOnly, AcceptanceRates: q.AcceptanceRates}
		if n.Model != "" {
			noted.Loads, noted.Converts = pools[i].Model, OnTheFly(pools[i].Checkpoint)
		}
		if n.Model != "" || q.System != "" || q.Formats != (deployment.Formats{}) || len(noted.Settings)+len(noted.AcceptanceRates) > 0 {
			n.Pools = append(n.Pools, noted)
		}
	}
	return mark + compact(n)
}

// findNote reads the comment of a file, nil if it has none.
func findNote(data string) *note {
	for line := range strings.Lines(data) {
		_, text, ok := strings.Cut(line, mark)
		if !ok {
			continue
		}
		n := &note{}
		if json.Unmarshal([]byte(text), n) == nil {
			return n
		}
	}
	return nil
}

// Noted is the comment of a file that says of which deployment it is, "" if it has none. Files of a deployment have the same.
func Noted(data []byte) string {
	for line := range strings.Lines(string(data)) {
		if _, text, ok := strings.Cut(line, mark); ok {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// of is the note of the pool of a launch: that of its role, or what its workers load where the role is in other files.
func (n *note) of(l *Launch) notedPool {
	for _, p := range n.Pools {
		if p.Role == l.Role {
			return p
		}
	}
	for _, p := range n.Pools {
		if p.Loads != "" && p.Loads == l.set.Model && l.Role == deployment.Both {
			return p
		}
	}
	return notedPool{}
}

// formats are the number formats that an engine will use, where a comment says some. An engine
// reads its flags and the checkpoint, never a comment; only on Ascend's devices neither says how the weights were quantized.
func (l *Launch) formats(said *deployment.Formats) deployment.Formats {
	word := l.set.Checkpoint
	if l.Engine == MindIE || word != "" && word == slim()[l.Engine] {
		return *said
	}
	runs := deployment.Formats{Checkpoint: OnTheFly(word)} // other words name the format of the checkpoint
	wide := func(a dtype.Action) bool { return a == "" || a == dtype.Disabled }
	if word+said.GEMM+said.MoE+said.Checkpoint == "" && wide(said.Linear) && wide(said.NonExpert) && wide(said.Attention) {
		runs.Linear, runs.NonExpert, runs.Attention = said.Linear, said.NonExpert, said.Attention // 16 bits need no flag
	}
	if l.given["kv_format"] || said.KV != "fp8" && said.KV != "int8" {
		runs.KV = said.KV
	}
	return runs
}

// noted are the model and the number formats of workers, where a comment says something of them, and the problems of the comment. Formats of a
// comment that names a model are true of workers that load what it says, and convert it as it says.
func (l *Launch) noted(n *note) (model string, formats deployment.Formats, problems []Problem) {
	pool := n.of(l)
	said := n.Formats
	if pool.Formats != (deployment.Formats{}) {
		said = pool.Formats
	}
	switch {
	case l.set.Model == "": // settings alone: what loads them is not known
		return n.Model, said, nil
	case n.Model == "":
		runs := l.formats(&said)
		return l.set.Model, runs, l.contradicts(&said, &runs)
	case l.set.Model == pool.Loads && OnTheFly(l.set.Checkpoint) == pool.Converts:
		runs := said
		runs.KV = l.formats(&said).KV
		return n.Model, runs, l.contradicts(&said, &runs)
	}
	is, was := l.set.Model+" "+OnTheFly(l.set.Checkpoint), pool.Loads+" "+pool.Converts
	text := fmt.Sprintf("the comment is about workers that load %s, and these load %s", strings.TrimSpace(was), strings.TrimSpace(is))
	return l.set.Model, l.formats(&deployment.Formats{KV: said.KV}), []Problem{l.wrongComment(text)}
}

// wrongComment is something that a comment says and the flags do not.
func (l *Launch) wrongComment(text string) Problem {
	return Problem{Kind: WrongComment, File: l.File, Flag: strings.TrimSpace(mark), Text: text}
}

// contradicts are the formats in a comment that the engine will not use.
func (l *Launch) contradicts(said, runs *deployment.Formats) []Problem {
	var out []Problem
	wrong := func(format string, args ...any) { out = append(out, l.wrongComment(fmt.Sprintf(format, args...))) }
	if *runs == *said {
		return nil
	}
	var weights []string
	for _, f := range []string{said.GEMM, said.MoE, string(said.Linear), string(said.NonExpert)} {
		if f != "" && f != string(dtype.Disabled) && !slices.Contains(weights, f) {
			weights = append(weights, f)
		}
	}
	if said.Checkpoint != runs.Checkpoint {
		weights = append(weights, cmp.Or(said.Checkpoint, "the format they are stored in"))
	}
	if len(weights) > 0 {
		wrong("the comment says weights of %s in %s, and the flags do not", l.set.Model, strings.Join(weights, " and "))
	}
	if said.KV != runs.KV {
		wrong("the comment says a KV cache in %s, and the flags do not", said.KV)
	}
	return out
}
