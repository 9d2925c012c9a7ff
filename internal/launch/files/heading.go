package files

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// comment is a line of comment. Names in it may hold line breaks, which would end it.
func comment(format string, args ...any) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' { // YAML ends lines at the latter too
			return ' '
		}
		return r
	}, fmt.Sprintf(format, args...))
	return "# " + text + "\n"
}

// heading are the comments at the top of a file.
func (w *writer) heading(what string) string {
	p := &w.Predicted
	var text strings.Builder
	say := func(format string, args ...any) { text.WriteString(comment(format, args...)) }
	say("%s: %s on %d × %s, %s.", what, w.Deployment.Model, w.devices(), w.systems(), strings.TrimSpace(w.pools[0].Port()+" "+w.pools[0].Version))
	if p.TTFT > 0 {
		say("Predicted at %d concurrent requests of %d and %d tokens: TTFT %v, TPOT %v, %.0f output tokens/s.",
			w.Concurrency, w.Input, w.Output, p.TTFT, p.TPOT, p.Throughput)
	}
	if w.alike > 1 {
		say("One of %d units; the prediction is for all of them together. Run the same files on the nodes of each unit.", w.alike)
	}
	if f := w.converted(); f != "" {
		say("The prediction assumes weights in %s: serve a checkpoint in that format.", f)
	}
	if why := w.unpublished(); why != "" {
		say("%s", why)
	}
	for _, sentence := range w.divisions().rests() {
		say("%s", sentence)
	}
	if len(w.Remarks) > 0 {
		say("%s", strings.Join(w.Remarks, " "))
	}
	return text.String() + w.Note(w.pools, w.units()) + "\n"
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
		f := w.Load(i).Formats
		all := []string{f.GEMM, f.MoE, string(f.Linear), string(f.NonExpert), w.pools[i].Slim}
		if launch.OnTheFly(f.Checkpoint) == "" || w.pools[i].Engine == launch.TRTLLM {
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
