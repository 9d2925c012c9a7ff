package files

import (
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// llmd are values for llm-d's model service chart, which runs vLLM: one pool of
// decode workers, which do everything where there is no pool of prefill workers.
func (w *writer) llmd() ([]launch.File, error) {
	if e := w.pools[0].Engine; e != launch.VLLM {
		return nil, cannot(LLMD, "its chart runs vLLM, not %s", e)
	}
	if w.units() > 1 {
		return nil, cannot(LLMD, "its chart has one pool of prefill and one of decode workers, and the plan %d units of them", w.units())
	}
	root := fields("modelArtifacts", fields("name", w.Site.ServedName, "uri", "hf://"+w.Site.ModelPath, "size", w.cacheStorage(),
		"authSecretName", tokenSecret), "routing", fields("servicePort", w.Site.Port))
	for i := range w.pools {
		v := &w.pools[i]
		if v.Nodes > 1 {
			return nil, cannot(LLMD, "a worker on %d nodes is not written for its chart", v.Nodes)
		}
		side := "decode"
		if v.Role == deployment.Prefill {
			side = "prefill"
		}
		root.set(side, w.llmdPool(v))
	}
	if !w.disaggregated() {
		root.set("prefill", fields("create", false))
	}
	data, err := encode(w.heading("Values of llm-d's model service")+w.selectorHint(), root)
	return []launch.File{{Path: "llm-d/values.yaml", Mode: plainFile, Data: data}}, err
}

// llmdPool is a side of the chart. It starts "vllm serve" with the model and the
// layout itself and takes the other flags from us.
func (w *writer) llmdPool(v *launch.Values) *mapping {
	var args []string
	for _, f := range v.Arguments(launch.OwnServer, w.Site.ServedName) {
		if own := []string{v.Option("layout.tp"), v.Option("layout.dp"), v.Option("served_name")}; !slices.Contains(own, f[0]) {
			args = append(args, f...)
		}
	}
	env := w.variables(&slot{Values: v})
	container := fields("name", "vllm", "image", w.image(v), "modelCommand", "vllmServe", "args", launch.Literals(args...).InManifest().Strings())
	container.setIf(len(env) > 0, "env", env)
	container.set("resources", fields("limits", fields(resource(v), strconv.Itoa(v.Devices))))
	out := fields("create", true, "replicas", v.Workers, "parallelism", fields("tensor", v.Layout.TP, "data", v.Layout.DP, "dataLocal", v.Layout.DP),
		"containers", []*mapping{container})
	if s := w.nodeSelector(v); s != nil {
		out.set("nodeSelector", s)
	}
	return out
}
