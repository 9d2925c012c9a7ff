package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/launch/objects"
)

// scalers reports autoscalers that act on numbers which nobody collects, which are other deployments', or which are not there.
func (x *inspection) scalers() {
	for _, o := range x.all("ScaledObject") {
		asked := false
		for _, trigger := range strictyaml.Items(o.Node, "spec", "triggers") {
			if strictyaml.Scalar(trigger, "type") == "prometheus" {
				asked = true
				x.query(o, strictyaml.Child(trigger, "metadata"))
			}
		}
		if asked {
			x.scraped(o)
		}
	}
	for _, o := range x.all("HorizontalPodAutoscaler") {
		own := func(n *yaml.Node) bool {
			return slices.Contains([]string{"Pods", "Object", "External"}, strictyaml.Scalar(n, "type"))
		}
		if slices.ContainsFunc(strictyaml.Items(o.Node, "spec", "metrics"), own) {
			x.scraped(o)
		}
	}
}

// scraped reports an autoscaler in files that let nothing collect the metrics of pods. Dynamo and KServe make their monitors themselves.
func (x *inspection) scraped(o *objects.Object) {
	if len(x.found.Launches) == 0 {
		return
	}
	for i := range x.found.Objects {
		other := &x.found.Objects[i]
		switch other.Kind {
		case "PodMonitor", "ServiceMonitor", "PodMonitoring", "ClusterPodMonitoring", "ScrapeConfig", "VMPodScrape", "VMServiceScrape", "DynamoGraphDeployment", "LLMInferenceService":
			return
		}
		const annotation = "prometheus.io/scrape"
		if other.Annotation(annotation) == "true" || slices.ContainsFunc(other.Pods, func(p objects.Pod) bool {
			return strictyaml.Scalar(p.Meta, "annotations", annotation) == "true"
		}) {
			return
		}
	}
	x.report("PL070", begins(o, nil), called(o), "scales on metrics of engines, and nothing in the files has them collected", "a PodMonitor for the engines' pods")
}

// byNamespace is a query that selects a namespace.
var byNamespace = regexp.MustCompile(`namespace\w*\s*=`)

// query reports what is wrong with a query of Prometheus.
func (x *inspection) query(o *objects.Object, n *yaml.Node) {
	if q := strictyaml.Child(n, "query"); q != nil && !byNamespace.MatchString(q.Value) && strings.ContainsAny(q.Value, ":_") {
		x.report("PL071", begins(o, q), called(o), "its query counts the pods of all namespaces", fmt.Sprintf(`namespace=%q in the query`, o.Namespace))
	}
	if strictyaml.Scalar(n, "ignoreNullValues") != "false" {
		x.report("PL072", begins(o, n), called(o), "an empty answer of Prometheus counts as 0: pods are taken away while no metrics arrive", `ignoreNullValues: "false"`)
	}
}
