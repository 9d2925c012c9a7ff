package files

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// llmd are values for two charts of llm-d. That of the model service runs vLLM: one pool of decode
// workers, which do everything where there is no pool of prefill workers. That of the router finds
// their pods by a label.
func (w *writer) llmd() ([]launch.File, error) {
	if e := w.engine(); e != launch.VLLM {
		return nil, cannot(LLMD, "its chart runs vLLM, not %s", e)
	}
	model, err := w.hub(LLMD)
	if err != nil {
		return nil, err
	}
	if w.units() > 1 {
		return nil, cannot(LLMD, "its chart has one pool of prefill and one of decode workers, but the plan has %d units", w.units())
	}
	kind := "nvidia"
	if w.pools[0].Device.Vendor == device.AMD {
		kind = "amd"
	}
	label := fields("llm-d.ai/model", w.name)
	// The sidecar of decode pods takes requests at the service's port and has prompts computed
	// elsewhere first.
	root := fields("modelArtifacts", fields("name", w.Site.ServedName, "uri", "hf://"+model, "size", w.cacheStorage(),
		"authSecretName", tokenSecret, "labels", label), "accelerator", fields("type", kind),
		"routing", fields("servicePort", w.Site.Port, "proxy", fields("enabled", w.disaggregated(), "targetPort", w.decodePort())))
	for i := range w.pools {
		v := &w.pools[i]
		side := "decode"
		if v.Role == deployment.Prefill {
			side = "prefill"
		}
		pool, err := w.llmdPool(v)
		if err != nil {
			return nil, err
		}
		root.set(side, pool).setIf(v.Nodes > 1, "multinode", true) // LeaderWorkerSets on both sides
	}
	if !w.disaggregated() {
		root.set("prefill", fields("create", false))
	}
	values, err := encode(w.heading("Values of llm-d's model service")+w.selectorHint(), root)
	if err != nil {
		return nil, err
	}
	router, err := w.llmdRouter(label)
	return []launch.File{{Path: "llm-d/router.values.yaml", Mode: plainFile, Data: router}, {Path: "llm-d/values.yaml", Mode: plainFile, Data: values}}, err
}

// hub is the id of the model on Hugging Face, which templates of charts and controllers put into
// commands as it is.
func (w *writer) hub(t Target) (string, error) {
	served, form := launch.Site{ServedName: w.Site.ServedName}, regexp.MustCompile(`^[A-Za-z0-9][-\w.]*/[-\w.]+$`)
	for i := range w.pools {
		if m := w.pools[i].Model; !form.MatchString(m) || m != w.pools[0].Model || served.Check() != nil {
			return "", cannot(t, "it needs one id of Hugging Face, and the workers load %q as %q", m, w.Site.ServedName)
		}
	}
	return w.pools[0].Model, nil
}

// decodePort is where vLLM listens in decode pods: behind the sidecar, or at the service's port.
func (w *writer) decodePort() int {
	if w.disaggregated() {
		return w.Site.Port + launch.WorkerPorts
	}
	return w.Site.Port
}

// llmdPool is a side of the chart.
func (w *writer) llmdPool(v *launch.Values) (*mapping, error) {
	port := w.decodePort()
	if v.Role == deployment.Prefill {
		port = w.Site.Port
	}
	container := fields("name", "vllm", "image", w.image(v))
	if err := w.llmdCommand(container, v, port); err != nil {
		return nil, err
	}
	env := w.podEnvironment(&slot{Values: v})[2:] // the chart sets the token and the directory of the weights
	container.setIf(len(env) > 0, "env", env).
		set("ports", []*mapping{fields("name", "metrics", "containerPort", port, "protocol", "TCP")}).
		set("resources", fields("limits", fields(resource(v), strconv.Itoa(v.PerNode)))).
		set("mountModelVolume", true).set("volumeMounts", []*mapping{fields("name", "shm", "mountPath", "/dev/shm")}).
		set("extraConfig", fields("startupProbe", llmdProbe(v, port).set("failureThreshold", 360), "readinessProbe", llmdProbe(v, port)))
	out := fields("create", true, "replicas", v.Workers, "parallelism", fields("tensor", v.Layout.TP, "data", v.Layout.DP, "dataLocal", max(1, v.Layout.DP/v.Nodes), "workers", v.Nodes),
		"containers", []*mapping{container}, "volumes", []*mapping{fields("name", "shm", "emptyDir", fields("medium", "Memory", "sizeLimit", "64Gi"))})
	return w.onNodes(out, v), nil
}

// llmdProbe asks for the health of a pod. On several nodes only the first has a server, and all have
// the same probes.
func llmdProbe(v *launch.Values, port int) *mapping {
	out := fields("periodSeconds", 10, "timeoutSeconds", 5)
	if v.Nodes == 1 {
		return out.set("httpGet", fields("path", "/health", "port", "metrics"))
	}
	return out.set("exec", fields("command", []string{"bash", "-c", `[ "${LWS_WORKER_INDEX}" != 0 ] || python3 -c "` + probeScript(port) + `"`}))
}

// llmdCommand is the command of a pool. On one node the chart starts "vllm serve" with the model, the
// layout and the port itself and takes the other flags from us. On several its pods all run one
// script, in which the first leads.
func (w *writer) llmdCommand(container *mapping, v *launch.Values, port int) error {
	if v.Nodes == 1 {
		var args []string
		for _, f := range v.Arguments(launch.OwnServer, w.Site.ServedName) {
			if own := []string{v.Option("layout.tp"), v.Option("layout.dp"), v.Option("served_name")}; !slices.Contains(own, f[0]) {
				args = append(args, f...)
			}
		}
		container.set("modelCommand", "vllmServe").set("args", launch.Literals(args...).InManifest().Strings())
		return nil
	}
	at := *w
	at.Site.Port = port
	leads, err := at.podCommand(&slot{Values: v})
	if err != nil {
		return err
	}
	follows, err := at.podCommand(&slot{Values: v, rank: 1})
	if err != nil {
		return err
	}
	last := len(leads) - 1
	container.set("modelCommand", "custom").set("command", leads[:last]).
		set("args", []string{"if [ \"${LWS_WORKER_INDEX}\" = 0 ]; then\n" + leads[last] + "\nfi\n" + follows[last] + "\n"})
	return nil
}

// llmdRouter are values of the router's chart. Prompts always go to prefill workers where the plan has
// some; the default plugins of the chart choose among workers that do both.
func (w *writer) llmdRouter(label *mapping) ([]byte, error) {
	router := fields("modelServers", fields("type", "vllm", "matchLabels", label, "targetPorts", []*mapping{fields("number", w.Site.Port)}))
	if w.disaggregated() {
		plugin := func(names ...string) []*mapping {
			var out []*mapping
			for _, n := range names {
				out = append(out, fields("pluginRef", n))
			}
			return out
		}
		config := fields("apiVersion", "llm-d.ai/v1", "kind", "EndpointPickerConfig", "plugins", []*mapping{
			fields("type", "always-disagg-pd-decider"),
			fields("type", "disagg-profile-handler", "parameters", fields("deciders", fields("prefill", "always-disagg-pd-decider"))),
			fields("type", "prefill-filter"), fields("type", "decode-filter"), fields("type", "inflight-load-producer"),
			fields("type", "token-load-scorer"), fields("type", "active-request-scorer"), fields("type", "max-score-picker"),
		}, "schedulingProfiles", []*mapping{
			fields("name", "prefill", "plugins", plugin("prefill-filter", "token-load-scorer", "max-score-picker")),
			fields("name", "decode", "plugins", plugin("decode-filter", "active-request-scorer", "max-score-picker")),
		})
		text, err := encode("", config)
		if err != nil {
			return nil, err
		}
		router.set("epp", fields("replicas", 1, "pluginsConfigFile", "disagg.yaml", "pluginsCustomConfig", fields("disagg.yaml", string(text))))
	}
	return encode(w.heading("Values of llm-d's router"), fields("router", router))
}
