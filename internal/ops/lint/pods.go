package lint

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/plimsoll-project/plimsoll/internal/basic/strictyaml"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/launch/objects"
)

// pods reports what pods lack to be placed, to start and to be replaced.
func (x *inspection) pods() {
	for i := range x.found.Objects {
		o := &x.found.Objects[i]
		x.images(o)
		for j := range o.Pods {
			p := &o.Pods[j]
			x.shared(o, p)
			x.privileged(o, p)
		}
		if engines := slices.DeleteFunc(slices.Clone(o.Pods), func(p objects.Pod) bool { return p.Accelerator() == "" }); o.Kind != "" && len(engines) > 0 {
			x.placed(o, engines)
			x.spanning(o, engines)
			x.rolled(o)
		}
	}
	x.installs()
}

// images reports images whose content changes under the same name.
func (x *inspection) images(o *objects.Object) {
	for i := range o.Pods {
		for _, c := range o.Pods[i].Containers {
			if strings.ContainsAny(c.Image, "${<@ ") || c.Image == "" { // to be filled in, or a digest
				continue
			}
			at := begins(o, strictyaml.Child(c.Node, "image"))
			_, tag, tagged := strings.Cut(c.Image[strings.LastIndexByte(c.Image, '/')+1:], ":")
			switch {
			case !tagged:
				x.report("PL062", at, "image", c.Image+" has no tag: it is the newest when a node pulls it", c.Image+" with the tag of a release")
			case tag == "latest":
				x.report("PL062", at, "image", c.Image+" is the newest when a node pulls it", "the tag of a release")
			}
		}
	}
}

// shared reports containers with shared memory for which the scheduler keeps nothing.
func (x *inspection) shared(o *objects.Object, p *objects.Pod) {
	for _, v := range strictyaml.Items(p.Spec, "volumes") {
		if strictyaml.Scalar(v, "emptyDir", "medium") != "Memory" {
			continue
		}
		for _, c := range p.Containers {
			mounts := slices.ContainsFunc(strictyaml.Items(c.Node, "volumeMounts"), func(m *yaml.Node) bool {
				return strictyaml.Scalar(m, "name") == strictyaml.Scalar(v, "name")
			})
			if !mounts || asks(c.Node, "memory") || asks(p.Above, "memory") {
				continue
			}
			lacks := "memory"
			if !asks(c.Node, "cpu") && !asks(p.Above, "cpu") {
				lacks = "memory and no cpu"
			}
			size := cmp.Or(strictyaml.Scalar(v, "emptyDir", "sizeLimit"), "half of the node's memory")
			what := fmt.Sprintf("%s requests no %s, and its shared memory may take %s", spoken(&c), lacks, size)
			x.report("PL061", begins(o, c.Node), "resources", what, "requests of cpu and memory")
		}
	}
}

// asks reports whether a mapping with resources has a request, or a limit, which is the request where there is none.
func asks(n *yaml.Node, resource string) bool {
	return strictyaml.Scalar(n, "resources", "requests", resource) != "" || strictyaml.Scalar(n, "resources", "limits", resource) != ""
}

// spoken is a container as people speak of it. Dynamo's main container has no name.
func spoken(c *objects.Container) string { return "container " + cmp.Or(c.Name, "main") }

// privileged reports engines with all rights on their node.
func (x *inspection) privileged(o *objects.Object, p *objects.Pod) {
	for _, c := range p.Containers {
		if n := strictyaml.Child(c.Node, "securityContext", "privileged"); n != nil && n.Value == "true" && p.Accelerator() != "" {
			x.report("PL068", begins(o, n), "privileged", spoken(&c)+" may do everything on its node, and namespaces with the policies baseline or restricted refuse it", "capabilities and device resources")
		}
	}
}

// placed reports engines that may start on any device that a node calls by the same resource.
func (x *inspection) placed(o *objects.Object, engines []objects.Pod) {
	for i := range engines {
		p := &engines[i]
		if len(content(p.Spec, "nodeSelector"))+len(content(p.Spec, "affinity", "nodeAffinity"))+len(content(p.Spec, "resourceClaims")) > 0 || strictyaml.Scalar(p.Spec, "nodeName") != "" {
			continue
		}
		what := fmt.Sprintf("pods of %s take any device with the resource %s, whatever its product", called(o), p.Accelerator())
		x.report("PL060", begins(o, p.Spec), "nodeSelector", what, "a node selector by GPU product")
		return
	}
}

// content is what a mapping or list at the end of some keys has.
func content(n *yaml.Node, keys ...string) []*yaml.Node {
	if c := strictyaml.Child(n, keys...); c != nil {
		return c.Content
	}
	return nil
}

// spanning reports workers over nodes without a fast network, and groups that may hold devices and wait for the others' nodes.
func (x *inspection) spanning(o *objects.Object, engines []objects.Pod) {
	p := &engines[0]
	if p.Nodes < 2 {
		return
	}
	if what, better := x.network(p); what != "" {
		x.report("PL064", begins(o, p.Spec), called(o), what, better)
	}
	if o.Kind == objects.Group && !together(o, engines) {
		what := fmt.Sprintf("nothing places the %d pods of a group together: some hold devices while others find none", p.Nodes)
		x.report("PL065", begins(o, nil), called(o), what, "the annotation "+exclusive+", or a queue of Kueue or Volcano")
	}
}

// exclusive is the annotation by which LeaderWorkerSet places a group in one domain of the topology.
const exclusive = "leaderworkerset.sigs.k8s.io/exclusive-topology"

// together reports whether something places the pods of a group together: the set's controller, a scheduler of groups, or affinity.
func together(o *objects.Object, engines []objects.Pod) bool {
	for _, name := range []string{exclusive, "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"} {
		if o.Annotation(name) != "" {
			return true
		}
	}
	if o.Label("kueue.x-k8s.io/queue-name") != "" {
		return true
	}
	return slices.ContainsFunc(engines, func(p objects.Pod) bool {
		scheduler := strictyaml.Scalar(p.Spec, "schedulerName")
		return scheduler != "" && scheduler != "default-scheduler" || strictyaml.Child(p.Spec, "affinity", "podAffinity") != nil
	})
}

// network says what the pod of a worker over nodes lacks to use RDMA.
func (x *inspection) network(p *objects.Pod) (what, better string) {
	if strings.HasPrefix(p.Accelerator(), objects.Ascend) { // whose devices have a network of their own
		return "", ""
	}
	named, other, lock := rdma(p.Above), otherNetwork(p), false
	for _, c := range p.Containers {
		security := strictyaml.Child(c.Node, "securityContext")
		privileged := strictyaml.Scalar(security, "privileged") == "true"
		locks := slices.ContainsFunc(strictyaml.Items(security, "capabilities", "add"), func(add *yaml.Node) bool {
			return add.Value == "IPC_LOCK" || add.Value == "ALL"
		})
		named, other, lock = named || rdma(c.Node), other || privileged, lock || privileged || locks
	}
	switch {
	case !named && !other:
		return fmt.Sprintf("a worker on %d nodes asks for no RDMA device: its traffic goes through TCP", p.Nodes), "the resource of an RDMA device plugin"
	case named && !lock:
		return fmt.Sprintf("a worker on %d nodes lacks IPC_LOCK, with which RDMA registers its memory", p.Nodes), "capabilities: {add: [IPC_LOCK]}"
	}
	return "", ""
}

// otherNetwork reports whether a pod has another network than the cluster's: its host's, a domain of NVLink by a claim, or one that Multus or
// GKE attach by an annotation.
func otherNetwork(p *objects.Pod) bool {
	for _, key := range []string{"hostNetwork", "resourceClaims"} {
		if n := strictyaml.Child(p.Spec, key); n != nil && n.Value != "false" {
			return true
		}
	}
	return strictyaml.Scalar(p.Meta, "annotations", "k8s.v1.cni.cncf.io/networks") != "" ||
		strictyaml.Scalar(p.Meta, "annotations", "networking.gke.io/interfaces") != ""
}

// rdma reports whether a mapping asks for a resource by which device plugins share RDMA: "rdma/hca", "nvidia.com/mlnxnics",
// "vpc.amazonaws.com/efa". Their names are free, but for these parts.
func rdma(n *yaml.Node) bool {
	for _, of := range []string{"limits", "requests"} {
		for _, c := range content(n, "resources", of) {
			for _, key := range append([]*yaml.Node{c}, c.Content...) { // Dynamo has those of other vendors one level deeper
				if slices.ContainsFunc([]string{"rdma", "hca", "roce", "/efa", "mlnx", "mellanox", "sriov", "infiniband"}, func(part string) bool { return strings.Contains(strings.ToLower(key.Value), part) }) {
					return true
				}
			}
		}
	}
	return false
}

// rolled reports rollouts that need devices for more pods than there are.
func (x *inspection) rolled(o *objects.Object) {
	replicas := objects.Count(o.Node, 1, "spec", "replicas")
	at := strictyaml.Child(o.Node, "spec")
	surge, unavailable := "0", "1" // the defaults of LeaderWorkerSet
	keys := []string{"spec", "rolloutStrategy", "rollingUpdateConfiguration"}
	switch {
	case o.Kind == objects.Deployment && strictyaml.Scalar(o.Node, "spec", "strategy", "type") != "Recreate":
		surge, unavailable = "25%", "25%"
		keys = []string{"spec", "strategy", "rollingUpdate"}
	case o.Kind != objects.Group:
		return
	}
	if n := strictyaml.Child(o.Node, keys...); n != nil {
		at = n
	}
	surge = cmp.Or(strictyaml.Scalar(at, "maxSurge"), surge)
	unavailable = cmp.Or(strictyaml.Scalar(at, "maxUnavailable"), unavailable)
	if podsOf(surge, replicas, math.Ceil) > 0 && podsOf(unavailable, replicas, math.Floor) == 0 {
		what := fmt.Sprintf("a rollout of %s starts a new pod before it ends an old one: without free devices it waits for ever", called(o))
		x.report("PL066", begins(o, at), "maxSurge", what, "maxSurge: 0 and maxUnavailable: 1")
	}
}

// podsOf is a number of pods, or a share of them.
func podsOf(text string, of int, round func(float64) float64) int {
	share, isShare := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(share)
	switch {
	case err != nil:
		return 0
	case isShare:
		return int(round(float64(n) * float64(of) / 100))
	}
	return n
}

// installs reports containers that install programs whenever they start. A job does it once.
func (x *inspection) installs() {
	for i := range x.found.Runs {
		run := &x.found.Runs[i]
		o, _, c := x.runner(run)
		if o == nil || c.Init || o.Kind == "Job" || o.Kind == "CronJob" {
			continue
		}
		for j := 0; j+1 < len(run.Words); j++ {
			if w := run.Words[j]; (w == "pip" || w == "pip3" || w == "apt-get" || w == "apt") && run.Words[j+1] == "install" {
				what := fmt.Sprintf("%s runs %q at each start: without the package index it does not start, and two starts may differ", spoken(c), w+" install")
				f := Finding{Code: "PL063", Severity: RuleOf("PL063").Severity, File: run.File, Line: run.Line, Where: w, What: what, Better: "an image with the program"}
				if o.Kind == "" {
					f.Severity = SevereHint
				}
				x.once(f)
				break
			}
		}
	}
}

// ended reports pods that are killed before a request of the predicted length ends.
func (x *inspection) ended() {
	if x.out.Prediction == nil {
		return
	}
	const kubernetes = 30 // its default
	takes := x.out.Prediction.Result.Latency.Mean
	for i := range x.found.Objects {
		o := &x.found.Objects[i]
		for j := range o.Pods {
			p := &o.Pods[j]
			grace := objects.Count(p.Spec, kubernetes, "terminationGracePeriodSeconds")
			if o.Kind == "" || p.Accelerator() == "" || units.Seconds(grace) >= takes {
				continue
			}
			what := fmt.Sprintf("pods of %s are killed %d s after they are asked to end, and a request takes %s", called(o), grace, takes)
			better := fmt.Sprintf("terminationGracePeriodSeconds: %d", int(math.Ceil(float64(takes))))
			x.report("PL067", begins(o, p.Spec), "terminationGracePeriodSeconds", what, better)
			break
		}
	}
}
