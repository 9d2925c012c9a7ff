package files

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/basic/version"
	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// tolerance is the excess over a target that the autoscaler of Kubernetes ignores by default.
const tolerance = 0.1

// leastCache is the share of the KV cache in use from which on a worker is scaled by it. Where the limits are reached with less, the
// cache is not what limits a worker, and one long request would start another.
const leastCache = 0.2

// keda is autoscaling by KEDA.
type keda struct{ objects }

// files is a ScaledObject for the workers of kubernetes/deploy.yaml, and what collects the metrics that it asks for. Its thresholds are
// the requests in flight and the use of the KV cache at which the plan's limits are reached, less what the autoscaler tolerates.
func (w keda) files() ([]launch.File, error) {
	v := &w.pools[0]
	metrics, ok := loadMetrics(v)
	switch {
	case !ok:
		return nil, addOn(KEDA, "the metrics of %s by release are not known", v.Engine)
	case w.disaggregated():
		return nil, addOn(KEDA, "prefill and decode workers of a unit must scale together, as Dynamo's planner does")
	case w.Capacity.Concurrency == 0:
		return nil, addOn(KEDA, "thresholds are the load at which a plan reaches its limits, but this plan has no limits")
	case w.carried() == 0:
		return nil, addOn(KEDA, "a worker carries one request at a time within the limits")
	}
	heading := w.heading("Autoscaling by KEDA") +
		comment("A worker reaches the limits with %d requests in flight.", w.Capacity.Concurrency/v.Workers) +
		comment("Apply it instead of kubernetes/hpa.yaml, with the address of your Prometheus. %s", monitorHint)
	if w.Site.Namespace == "" {
		heading += comment("The queries are for the namespace %q: files --namespace changes them.", w.namespace())
	}
	label := fmt.Sprintf("{namespace=%q,model_name=%q}", w.namespace(), w.Site.ServedName)
	triggers := []*mapping{trigger("in-flight", "sum("+metrics.running+label+") + sum("+metrics.waiting+label+")", strconv.Itoa(w.carried()))}
	if share := math.Floor(w.Capacity.KV/(1+tolerance)*100) / 100; share >= leastCache {
		query := "sum(" + metrics.cache + label + ")"
		if v.Layout.DP > 1 { // a series for each rank
			query += " / " + strconv.Itoa(v.Layout.DP)
		}
		triggers = append(triggers, trigger("kv-cache", query, strconv.FormatFloat(share, 'f', 2, 64)))
	} else {
		heading += comment("The KV cache has no trigger: %.0f %% of it are in use at the limits, and requests in flight reach them first.", w.Capacity.KV*100)
	}
	data, err := encode(heading, w.monitor(), w.object("keda.sh/v1alpha1", "ScaledObject", w.name).set("spec", fields(
		"scaleTargetRef", w.scaled(), "minReplicaCount", 1, "maxReplicaCount", v.Workers,
		"advanced", fields("horizontalPodAutoscalerConfig", fields("behavior", scaleBehavior())),
		// Without metrics there are as many workers as planned, not as few as an empty answer seems to need.
		"fallback", fields("failureThreshold", 3, "replicas", v.Workers, "behavior", "static"), "triggers", triggers)))
	return []launch.File{{Path: "keda/scaledobject.yaml", Mode: plainFile, Data: data}}, err
}

// namespace is where the objects are: kubectl's default unless it was named.
func (w keda) namespace() string { return cmp.Or(w.Site.Namespace, "default") }

// scaled is what an autoscaler changes the replicas of.
func (w objects) scaled() *mapping {
	name := w.partName(poolPart(&w.pools[0], 0))
	if w.pools[0].Nodes > 1 {
		return fields("apiVersion", "leaderworkerset.x-k8s.io/v1", "kind", "LeaderWorkerSet", "name", name)
	}
	return fields("apiVersion", "apps/v1", "kind", "Deployment", "name", name)
}

// monitor has Prometheus read the metrics of the pods that answer requests, as often as an autoscaler asks for them (15 s:
// kube-controller-manager, --horizontal-pod-autoscaler-sync-period). Prometheus's operator adds the namespace and the pod to them.
func (w objects) monitor() *mapping {
	of := poolPart(&w.pools[0], 0)
	return w.objectOf(of, "monitoring.coreos.com/v1", "PodMonitor").set("spec", fields("selector", fields("matchLabels", w.serving(of)),
		"podMetricsEndpoints", []*mapping{fields("port", "http", "path", "/metrics", "interval", "15s")}))
}

// monitorHint is about Prometheus's operator, which may read marked monitors only (podMonitorSelector; kube-prometheus-stack: a label
// with the release's name).
const monitorHint = "Prometheus has to select the PodMonitor (kube-prometheus-stack: by a label release)."

// scaleBehavior lets workers go slowly, since another takes minutes to load: one at a time, and only if it was not needed for a quarter
// of an hour. Adding has no such limit.
func scaleBehavior() *mapping {
	return fields("scaleDown", fields("stabilizationWindowSeconds", 900, "policies", []*mapping{fields("type", "Pods", "value", 1, "periodSeconds", 300)}))
}

// carried is how many requests in flight on a worker an autoscaler should aim at: those at the
// capacity, or of the prediction where there are no limits.
func (w objects) carried() int {
	n := cmp.Or(w.Capacity.Concurrency, w.Concurrency)
	return int(float64(n) / float64(w.pools[0].Workers) / (1 + tolerance))
}

// trigger is a query whose sum over the workers, divided by a threshold, is how many are needed. An empty answer is no zero: metrics
// are missing.
func trigger(name, query, threshold string) *mapping {
	return fields("type", "prometheus", "name", name, "metricType", "AverageValue", "metadata",
		fields("serverAddress", "http://prometheus-operated.monitoring.svc:9090", "query", query, "threshold", threshold, "ignoreNullValues", "false"))
}

// engineMetrics are the names of an engine's gauges.
type engineMetrics struct{ running, waiting, cache string }

// loadMetrics are those of an engine; false where they are not known by release. vLLM renamed the use
// of its cache in 0.10.
func loadMetrics(v *launch.Values) (engineMetrics, bool) {
	switch v.Engine {
	case launch.VLLM:
		out := engineMetrics{"vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc"}
		if version.Compare(v.Version, "0.10.0") < 0 {
			out.cache = "vllm:gpu_cache_usage_perc"
		}
		return out, true
	case launch.SGLang:
		return engineMetrics{"sglang:num_running_reqs", "sglang:num_queue_reqs", "sglang:token_usage"}, true
	}
	return engineMetrics{}, false
}
