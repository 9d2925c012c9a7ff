package files

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// llmd is llm-d's charts.
type llmd struct{ pods }

// files are values for two charts of llm-d. That of the model service runs vLLM: one pool of decode
// workers, which do everything where there is no pool of prefill workers. That of the router finds
// the pods that answer requests by labels.
func (w llmd) files() ([]launch.File, error) {
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
	root := fields("modelArtifacts", fields("name", w.Site.ServedName, "uri", "hf://"+model, "size", w.cacheStorage(),
		"authSecretName", tokenSecret, "labels", fields(llmdModel, w.name)), "accelerator", fields("type", kind),
		"routing", fields("servicePort", w.Site.Port, "proxy", fields("enabled", false))) // decode pools have their own
	var domains []*mapping
	for i := range w.pools {
		v := &w.pools[i]
		side := "decode"
		if v.Role == deployment.Prefill {
			side = "prefill"
		}
		pool, err := w.pool(v)
		if err != nil {
			return nil, err
		}
		pool.setIf(v.Nodes > 1, "extraConfig", fields("affinity", w.together(fields(llmdModel, w.name, "llm-d.ai/role", side), v)))
		if racked(v) {
			pool.set("resourceClaims", w.domainClaims(poolPart(v, 0)))
			domains = append(domains, w.computeDomain(poolPart(v, 0)))
		}
		root.set(side, pool).setIf(v.Nodes > 1, "multinode", true) // LeaderWorkerSets on both sides
	}
	if !w.disaggregated() {
		root.set("prefill", fields("create", false))
	}
	root.setIf(len(domains) > 0, "extraObjects", domains)
	values, err := encode(w.heading("Values of llm-d's model service")+
		comment("helm install %s-model llm-d-modelservice/llm-d-modelservice -f values.yaml", w.name)+w.selectorHint()+w.fabricHint(), root)
	if err != nil {
		return nil, err
	}
	router, err := w.router()
	return []launch.File{{Path: "llm-d/router.values.yaml", Mode: plainFile, Data: router}, {Path: "llm-d/values.yaml", Mode: plainFile, Data: values}}, err
}

// pickerService is the service that the router's chart makes for a release, and pickerPort the port of its proxy (llm-d-router 0.9,
// config/charts: "llm-d-router.name", extraServicePorts).
func pickerService(release string) string { return release + "-epp" }

const pickerPort = 8081

// llmdModel is the label of the pods of a model.
const llmdModel = "llm-d.ai/model"

// leaderLabels are those of the pods that answer requests. All pods of a LeaderWorkerSet of the chart have the same labels but for
// this one, which the set's controller gives them.
func (w llmd) leaderLabels() *mapping {
	return fields(llmdModel, w.name).setIf(w.spans(), memberLabel, "0")
}

// hub is the id of the model on Hugging Face, which templates of charts and controllers put into
// commands as it is.
func (w pods) hub(t Target) (string, error) {
	served, form := launch.Site{ServedName: w.Site.ServedName}, regexp.MustCompile(`^[A-Za-z0-9][-\w.]*/[-\w.]+$`)
	for i := range w.pools {
		if m := w.pools[i].Model; !form.MatchString(m) || m != w.pools[0].Model || served.Check() != nil {
			return "", cannot(t, "it needs one id of Hugging Face, and the workers load %q as %q", m, w.Site.ServedName)
		}
	}
	return w.pools[0].Model, nil
}

// decodePort is where vLLM listens in decode pods: behind the sidecar, or at the service's port.
func (w llmd) decodePort() int {
	if w.disaggregated() {
		return w.Site.Port + launch.WorkerPorts
	}
	return w.Site.Port
}

// pool is a side of the chart.
func (w llmd) pool(v *launch.Values) (*mapping, error) {
	shifted := *w.writer // of the pods behind the sidecar, or of those with the service's port
	if v.Role == deployment.Decode {
		shifted.Site.Port = w.decodePort()
	}
	at := llmd{shifted.pods()}
	container := fields("name", "vllm", "image", w.image(v))
	if err := at.command(container, v); err != nil {
		return nil, err
	}
	env := w.podEnvironment(&slot{Values: v})[2:] // the chart sets the token and the directory of the weights
	container.setIf(len(env) > 0, "env", env).set("ports", at.serverPorts()).
		set("resources", w.resources(&slot{Values: v})).
		set("mountModelVolume", true).set("volumeMounts", []*mapping{fields("name", "shm", "mountPath", "/dev/shm")}).
		set("extraConfig", at.lifetime(v).set("securityContext", w.engineContext(v)))
	out := fields("create", true, "replicas", v.Workers, "parallelism", fields("tensor", v.Layout.TP, "data", v.Layout.DP, "dataLocal", max(1, v.Layout.DP/v.Nodes), "workers", v.Nodes),
		"strategy", fields("type", "RollingUpdate", "rollingUpdate", onFullDevices()), "terminationGracePeriodSeconds", w.grace()).
		setIf(v.Role == deployment.Decode, "initContainers", []*mapping{w.sidecar()}).
		set("containers", []*mapping{container}).
		set("monitoring", fields("podmonitor", fields("portName", "http"))). // if the user enables it
		set("volumes", []*mapping{fields("name", "shm", "emptyDir", fields("medium", "Memory", "sizeLimit", gibibytes(sharedMemory)))})
	return w.onNodes(out, v), nil
}

// lifetime are the probes of a pool and what its pods do before they end. On several nodes all have the same: they ask their leader,
// and those that are not it stay until it has answered its requests.
func (w llmd) lifetime(v *launch.Values) *mapping {
	ask, stop := func() *mapping { return get("/health") }, stopAfter(withdrawal)
	if v.Nodes > 1 {
		ask = w.leaderProbe
		stop = fields("preStop", fields("exec", fields("command", []string{
			"bash", "-c",
			fmt.Sprintf(`if [ "${LWS_WORKER_INDEX}" = 0 ]; then sleep %d; else sleep %d; fi`, withdrawal, withdrawal+w.drain()),
		})))
	}
	return fields("startupProbe", whileLoading().of(ask()), "readinessProbe", whileBusy().of(ask()), "livenessProbe", whileStuck().of(ask()), "lifecycle", stop)
}

// sidecar takes requests at the service's port in decode pods and has prompts computed elsewhere first. The chart has one too, but
// with an empty list of variables, which a server-side apply refuses, and flags that the sidecar no longer has from 0.10
// (llm-d-modelservice 0.4.12, routingProxy; llm-d-router, pkg/sidecar/proxy/options.go).
func (w llmd) sidecar() *mapping {
	return fields("name", "routing-proxy", "image", "ghcr.io/llm-d/llm-d-router-disagg-sidecar:v0.9.0",
		"args", []string{"--port=" + strconv.Itoa(w.Site.Port), "--vllm-port=" + strconv.Itoa(w.decodePort()), "--kv-connector=nixlv2", "--secure-proxy=false"},
		"ports", []*mapping{fields("name", "proxy", "containerPort", w.Site.Port)}, "resources", routerResources(),
		"readinessProbe", whileBusy().of(fields("httpGet", fields("path", "/health", "port", "proxy"))), "restartPolicy", "Always",
		"securityContext", fields("allowPrivilegeEscalation", false, "runAsNonRoot", true))
}

// command is the command of a pool. On several nodes its pods all run one script, in which the first leads.
func (w llmd) command(container *mapping, v *launch.Values) error {
	command, err := w.podCommand(&slot{Values: v})
	if err != nil {
		return err
	}
	container.set("modelCommand", "custom")
	if v.Nodes == 1 {
		container.set("command", command[:1]).set("args", command[1:])
		return nil
	}
	follows, err := w.podCommand(&slot{Values: v, rank: 1})
	if err != nil {
		return err
	}
	last := len(command) - 1
	container.set("command", command[:last]).
		set("args", []string{"if [ \"${LWS_WORKER_INDEX}\" = 0 ]; then\n" + command[last] + "\nfi\n" + follows[last] + "\n"})
	return nil
}

// router are values of the router's chart. Prompts always go to prefill workers where the plan has
// some; the default plugins of the chart choose among workers that do both.
func (w llmd) router() ([]byte, error) {
	router := fields("modelServers", fields("type", "vllm", "matchLabels", w.leaderLabels(), "targetPorts", []*mapping{fields("number", w.Site.Port)}))
	if w.disaggregated() {
		plugin := func(names ...string) []*mapping {
			var out []*mapping
			for _, n := range names {
				out = append(out, fields("pluginRef", n))
			}
			return out
		}
		// The version that endpoint picker 0.9 and 0.10 load (apix/config of llm-d-router).
		config := fields("apiVersion", "llm-d.ai/v1alpha1", "kind", "EndpointPickerConfig", "plugins", []*mapping{
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
	heading := w.heading("Values of llm-d's router") +
		comment("helm install %s oci://ghcr.io/llm-d/charts/llm-d-router-standalone --version v0.9.0 -f router.values.yaml", w.name) +
		comment("Requests go to %s.", w.entranceURL(LLMD))
	return encode(heading, fields("router", router))
}
