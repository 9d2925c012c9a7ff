package main

import (
	"strings"
)

// finder is how a router finds its engines.
type finder struct {
	namespace string   // all if empty
	selectors []string // of pods; at least one of each must answer
}

// finderOf reads the flags of vllm-router 0.1.16 and sglang-router 0.3.2 in a pod: with --service-discovery they list pods, in all namespaces
// unless --service-discovery-namespace names one, by --selector, or by --prefill-selector and --decode-selector. Other pods have none.
func finderOf(pod object) *finder {
	for _, c := range list(pod, "spec", "containers") {
		words := shellWords(c)
		f := &finder{}
		finds := false
		for i := 0; i < len(words); i++ {
			flag, value, joined := strings.Cut(words[i], "=")
			if !joined || strings.Contains(flag, "selector") && !strings.HasPrefix(flag, "--") {
				flag = words[i]
			}
			switch flag {
			case "--service-discovery":
				finds = true
			case "--service-discovery-namespace":
				if !joined && i+1 < len(words) {
					value = words[i+1]
				}
				f.namespace = expand(value, pod)
			case "--selector", "--prefill-selector", "--decode-selector":
				var pairs []string
				if joined {
					pairs = append(pairs, value)
				}
				for i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") && strings.Contains(words[i+1], "=") {
					i++
					pairs = append(pairs, words[i])
				}
				f.selectors = append(f.selectors, strings.Join(pairs, ","))
			}
		}
		if finds {
			return f
		}
	}
	return nil
}

// shellWords are the words of a container's command. Flags of routers have no spaces, so the words of a shell's script need no more care than
// that quotes do not belong to them.
func shellWords(container object) []string {
	var out []string
	for _, field := range []string{"command", "args"} {
		items, ok := at(container, field).([]any)
		if !ok {
			continue
		}
		for _, item := range items {
			if s, ok := item.(string); ok {
				for _, word := range strings.Fields(s) {
					out = append(out, strings.Trim(word, `"'`))
				}
			}
		}
	}
	return out
}

// expand replaces $VAR, ${VAR} and $(VAR) by the pod's namespace where the variable takes it from the pod.
func expand(value string, pod object) string {
	variable := strings.Trim(value, "${}()")
	if !strings.HasPrefix(value, "$") {
		return value
	}
	for _, c := range list(pod, "spec", "containers") {
		for _, v := range list(c, "env") {
			if text(v, "name") == variable && text(v, "valueFrom", "fieldRef", "fieldPath") == "metadata.namespace" {
				return namespace(pod)
			}
		}
	}
	return value
}
