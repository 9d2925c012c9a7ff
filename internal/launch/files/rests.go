package files

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// restsOn begins a sentence about a part of the prediction that files do not bring about.
const restsOn = "The predicted figures rest on "

// divisions is how requests are divided between workers, predicted and by the files.
type divisions struct{ *writer }

// rests are the parts of the prediction that the files of the target do not bring about, as sentences.
func (w divisions) rests() []string {
	if w.of == Bench || w.of == KEDA || w.of == Planner {
		return nil
	}
	var out []string
	for i := range w.pools {
		v := &w.pools[i]
		if why := v.HostLack(); why != "" {
			out = append(out, fmt.Sprintf(restsOn+"%g GiB of host memory for the cache of each %s worker, which it has not here: %s.", v.HostGiB, roleName(v.Role), why))
		}
	}
	if w.Deployment.Routing == "" || !w.chooses() { // nobody asked for one
		return out
	}
	switch s := w.ofTarget(); {
	case s.instead != "":
		out = append(out, fmt.Sprintf(restsOn+"routing by %s; here it is %s.", w.Deployment.Routing, s.instead))
	case s.needs != "":
		out = append(out, fmt.Sprintf(restsOn+"routing by %s: %s.", w.Deployment.Routing, s.needs))
	}
	return out
}

// Rests are the sentences in files about what the prediction rests on and they do not bring about, each once for its target.
func Rests(all []launch.File) []string {
	var out []string
	for _, set := range Together(all) {
		for _, f := range set.Files {
			for line := range strings.Lines(string(f.Data)) {
				text := strings.TrimSpace(strings.TrimPrefix(line, "#"))
				said := fmt.Sprintf("%s files: %s", set.Target, text)
				if strings.HasPrefix(text, restsOn) && !slices.Contains(out, said) {
					out = append(out, said)
				}
			}
		}
	}
	return out
}

// chooses reports whether requests are divided between workers of a role.
func (w divisions) chooses() bool {
	return slices.ContainsFunc(w.pools, func(v launch.Values) bool { return w.workers(&v) > 1 })
}

// routing is how the prediction divides requests. An unknown name has been refused with the deployment.
func (w divisions) routing() sim.Routing {
	r, _ := sim.RoutingNamed(w.Deployment.Routing)
	return r
}

// division is how files divide requests between workers: by a word of the router, "" where that needs none. instead says which other way that
// is than the predicted, needs what it takes to be that.
type division struct{ word, instead, needs string }

// ofTarget is that of the target.
func (w divisions) ofTarget() division {
	switch {
	case w.of == Dynamo:
		return w.byDynamo()
	case w.of == LLMD || w.of == KServe:
		if w.routing() == sim.LLMD {
			return division{}
		}
		return division{instead: "by prefix and load, as llm-d's scheduler does"}
	case w.of == SkyPilot && !w.disaggregated():
		return w.bySkyPilot()
	case w.hasRouter():
		return w.byRouter()
	case w.disaggregated(): // trtllm-serve
		return w.byTRTLLM()
	}
	return division{instead: "that of the load balancer in front of the workers"}
}

// byRouter is the policy of the routers of vLLM and SGLang (--help of vllm-router 0.1.16 and sglang-router 0.3.2): without one they take
// cache_aware.
func (w divisions) byRouter() division {
	session := division{word: "consistent_hash", needs: "clients send the session as X-Session-ID"}
	if w.engine() == launch.SGLang {
		session = division{word: "manual", needs: "clients send the session as X-SMG-Routing-Key"}
	}
	switch w.routing() {
	case sim.LeastLoaded:
		return division{word: "power_of_two", instead: "by the less loaded of two workers at random (power_of_two)"}
	case sim.BySession:
		return session
	case sim.ByPrefix, sim.SGLang:
		return division{word: "cache_aware"}
	case sim.LLMD, sim.Dynamo:
		return division{word: "cache_aware", instead: "by the longest prefix, unless loads differ much (cache_aware)"}
	default:
		return division{word: "round_robin"}
	}
}

// byTRTLLM is the router of trtllm-serve's config file (llmapi/disagg_utils.py, RouterConfig), which is round_robin by itself.
func (w divisions) byTRTLLM() division {
	switch w.routing() {
	case sim.RoundRobin:
		return division{}
	case sim.LeastLoaded:
		return division{word: "load_balancing"}
	default:
		return division{instead: "round-robin"}
	}
}

// byDynamo is the mode of Dynamo's frontend (--router-mode of 1.4.1), which is round-robin by itself.
func (w divisions) byDynamo() division {
	switch w.routing() {
	case sim.RoundRobin:
		return division{}
	case sim.LeastLoaded:
		return division{word: "least-loaded"}
	case sim.Dynamo:
		return division{word: "kv"}
	case sim.BySession:
		return division{instead: "round-robin"}
	default:
		return division{word: "kv", instead: "by Dynamo's KV router"}
	}
}

// frontendRouting are the variables of Dynamo's frontend for this mode. The KV router tells what workers hold from what it has sent them: they
// publish no events unless asked.
func (w divisions) frontendRouting() [][2]string {
	var out [][2]string
	switch word := w.byDynamo().word; word {
	case "":
	case "kv":
		out = append(out, [2]string{"DYN_ROUTER_USE_KV_EVENTS", "false"})
		fallthrough
	default:
		out = append(out, [2]string{"DYN_ROUTER_MODE", word})
	}
	return out
}

// bySkyPilot is the policy of SkyPilot's load balancer (sky/serve/load_balancing_policies.py).
func (w divisions) bySkyPilot() division {
	switch w.routing() {
	case sim.RoundRobin:
		return division{word: "round_robin"}
	case sim.LeastLoaded:
		return division{word: "least_load"}
	default:
		return division{word: "least_load", instead: "by the least load"}
	}
}
