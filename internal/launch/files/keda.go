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

// keda is a ScaledObject for the workers of kubernetes/deploy.yaml. Its thresholds are the requests
// in flight and the use of the KV cache at which the plan's limits are reached, less what the
// autoscaler tolerates.
func (w *writer) keda() ([]launch.File, error) {
	v := &w.pools[0]
	metrics, ok := loadMetrics(v)
	switch {
	case !ok:
		return nil, aside(KEDA, "the metrics of %s by release are not known", v.Engine)
	case w.disaggregated():
		return nil, aside(KEDA, "prefill and decode workers of a unit must scale together, as Dynamo's planner does")
	case w.Capacity.Concurrency == 0:
		return nil, aside(KEDA, "thresholds are the load at which a plan reaches its limits, but this plan has no limits")
	case w.carried() == 0:
		return nil, aside(KEDA, "a worker carries one request at a time within the limits")
	}
	label := fmt.Sprintf("{model_name=%q}", w.Site.ServedName)
	triggers := []*mapping{trigger("in-flight", "sum("+metrics.running+label+") + sum("+metrics.waiting+label+")", strconv.Itoa(w.carried()))}
	if share := math.Floor(w.Capacity.KV/(1+tolerance)*100) / 100; share > 0 {
		query := "sum(" + metrics.cache + label + ")"
		if v.Layout.DP > 1 { // a series for each rank
			query += " / " + strconv.Itoa(v.Layout.DP)
		}
		triggers = append(triggers, trigger("kv-cache", query, strconv.FormatFloat(share, 'f', 2, 64)))
	}
	target := fields("apiVersion", "apps/v1", "kind", "Deployment", "name", w.partName(poolPart(v, 0)))
	if v.Nodes > 1 {
		target = fields("apiVersion", "leaderworkerset.x-k8s.io/v1", "kind", "LeaderWorkerSet", "name", w.partName(poolPart(v, 0)))
	}
	object := w.object("keda.sh/v1alpha1", "ScaledObject", w.name).set("spec", fields("scaleTargetRef", target,
		"minReplicaCount", 1, "maxReplicaCount", v.Workers, "triggers", triggers))
	heading := w.heading("Autoscaling by KEDA") +
		fmt.Sprintf("# A worker reaches the limits with %d requests in flight.\n", w.Capacity.Concurrency/v.Workers) +
		"# Apply it instead of kubernetes/hpa.yaml, with the address of your Prometheus.\n"
	data, err := encode(heading, object)
	return []launch.File{{Path: "keda/scaledobject.yaml", Mode: plainFile, Data: data}}, err
}

// carried is how many requests in flight on a worker an autoscaler should aim at: those at the
// capacity, or of the prediction where there are no limits.
func (w *writer) carried() int {
	n := cmp.Or(w.Capacity.Concurrency, w.Concurrency)
	return int(float64(n) / float64(w.pools[0].Workers) / (1 + tolerance))
}

// trigger is a query whose sum over the workers, divided by a threshold, is how many are needed.
func trigger(name, query, threshold string) *mapping {
	return fields("type", "prometheus", "name", name, "metricType", "AverageValue", "metadata",
		fields("serverAddress", "http://prometheus-operated.monitoring.svc:9090", "query", query, "threshold", threshold))
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
