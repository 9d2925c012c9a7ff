package launch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// mark begins the comment that carries what no engine is told.
const mark = "# plimsoll: "

// note is what a deployment has and no engine is told: it is written as a comment,
// so that reading a file gives the whole deployment.
type note struct {
	System      string               `json:"system"`
	Engine      string               `json:"engine"`
	Version     string               `json:"version,omitempty"`
	AsFamily    string               `json:"as_family,omitempty"`
	Formats     deployment.Formats   `json:"formats,omitzero"`
	LeastLoaded bool                 `json:"least_loaded,omitempty"`
	Modelling   deployment.Modelling `json:"modelling,omitzero"`
	Input       int                  `json:"input"`
	Output      int                  `json:"output"`
	Prefix      int                  `json:"prefix,omitempty"`
	Copies      int                  `json:"copies"`
	Pools       []notedPool          `json:"pools,omitempty"`
}

// notedPool is that of a pool. Its settings are those that no engine has a name for.
type notedPool struct {
	Role            deployment.Role    `json:"role"`
	System          string             `json:"system,omitempty"`
	Formats         deployment.Formats `json:"formats,omitzero"`
	Settings        []string           `json:"settings,omitempty"`
	AcceptanceRates []float64          `json:"acceptance_rates,omitempty"`
}

// heading are the comments at the top of a file.
func (w *writer) heading(what string) string {
	p := &w.Predicted
	text := fmt.Sprintf("# %s: %s on %d × %s, %s %s.\n", what, w.Deployment.Model, w.devices(), w.systems(), w.pools[0].Engine, w.pools[0].Version)
	if p.TTFT > 0 {
		text += fmt.Sprintf("# Predicted at %d concurrent requests of %d and %d tokens: TTFT %v, TPOT %v, %.0f output tokens/s.\n",
			w.Concurrency, w.Input, w.Output, p.TTFT, p.TPOT, p.Throughput)
	}
	if f := w.converted(); f != "" {
		text += fmt.Sprintf("# The prediction is of weights in %s: give the engine such a checkpoint as its model.\n", f)
	}
	return text + w.note().String() + "\n"
}

// systems names the devices of all pools, each once.
func (w *writer) systems() string {
	var names []string
	for i := range w.pools {
		if name := w.pools[i].Device.Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " and ")
}

// converted are formats of weights that differ from the checkpoint's and that the
// engine does not convert to while loading.
func (w *writer) converted() string {
	var words []string
	for i := range w.pools {
		f := w.Deployment.Formats
		if own := w.Deployment.Pools[i].Formats; own != (deployment.Formats{}) {
			f = own
		}
		all := []string{f.GEMM, f.MoE, string(f.Linear), string(f.NonExpert)}
		if onTheFly(f.Checkpoint) == "" || w.pools[i].Engine == trtllm {
			all = append(all, f.Checkpoint)
		}
		for _, word := range all {
			if word != "" && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return strings.Join(words, " and ")
}

// note collects what is noted.
func (w *writer) note() *note {
	d := &w.Deployment
	n := &note{
		System: d.System, Engine: w.pools[0].Engine, Version: w.pools[0].Version, AsFamily: d.AsFamily,
		Formats: d.Formats, LeastLoaded: d.LeastLoaded, Modelling: d.Modelling, Input: w.Input, Output: w.Output, Prefix: w.Prefix, Copies: w.units(),
	}
	for i := range d.Pools {
		p := &d.Pools[i]
		noted := notedPool{p.Role, p.System, p.Formats, w.pools[i].Untold, p.AcceptanceRates}
		if p.System != "" || p.Formats != (deployment.Formats{}) || len(noted.Settings)+len(noted.AcceptanceRates) > 0 {
			n.Pools = append(n.Pools, noted)
		}
	}
	return n
}

// String is the comment.
func (n *note) String() string { return mark + compact(n) }

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

// pool is what is noted of a pool.
func (n *note) pool(r deployment.Role) notedPool {
	for _, p := range n.Pools {
		if p.Role == r {
			return p
		}
	}
	return notedPool{}
}
