package launch

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// settle derives the role, and reads settings in JSON.
func (l *Launch) settle() (problems []Problem) {
	t := &l.set
	l.Role = deployment.Both
	switch {
	case t.Role == string(deployment.Prefill) || t.Role == string(deployment.Decode):
		l.Role = deployment.Role(t.Role)
	case l.Engine == VLLM && t.Transfer != "":
		var x transfer
		if err := json.Unmarshal([]byte(t.Transfer), &x); err != nil {
			problems = append(problems, l.notJSON("transfer", err))
		}
		if r, ok := map[string]deployment.Role{"kv_producer": deployment.Prefill, "kv_consumer": deployment.Decode}[x.Role]; ok {
			l.Role = r
		}
	case l.Engine == TRTLLM && (t.Transfer != "" || t.TransferTokens > 0):
		l.Role = deployment.Decode
		if t.NoOverlap {
			l.Role = deployment.Prefill
		}
	}
	if l.Engine == VLLM && t.Speculative != "" {
		var x speculative
		if err := json.Unmarshal([]byte(t.Speculative), &x); err != nil {
			problems = append(problems, l.notJSON("mtp.tokens", err))
		}
		t.MTP, t.MTPMethod = max(0, x.Tokens), string(x.Method)
		for i := range t.Graphs {
			t.Graphs[i] /= 1 + t.MTP
		}
	}
	l.settleDrafts()
	return problems
}

// notJSON is a value that should be JSON.
func (l *Launch) notJSON(key string, err error) Problem {
	at := l.places[key]
	return Problem{Kind: BadValue, File: l.File, Line: at.Line, Flag: at.Flag, Text: "not JSON: " + err.Error()}
}

// settleDrafts finds the number of drafts where it has another name than that of MTP modules.
func (l *Launch) settleDrafts() {
	t := &l.set
	switch by := l.drafter(); {
	case by == draft.NGram && l.Engine == SGLang:
		t.MTP = max(0, t.MTPDraft-1)
	case by != "":
		t.MTP = cmp.Or(t.MTP, t.DraftTokens)
	}
}

// drafter is what drafts tokens, in the words of the engines; "" is the model's own MTP modules.
func (l *Launch) drafter() draft.Method {
	switch strings.ToLower(l.set.MTPMethod) {
	case "ngram":
		return draft.NGram
	case "eagle3":
		return draft.EAGLE3
	case "eagle": // SGLang calls MTP modules so too
		if l.Engine == TRTLLM {
			return draft.EAGLE3
		}
	}
	return ""
}

// nodes is the number of nodes of a worker according to its flags.
func (l *Launch) nodes() int {
	if n, ok := number(l.extras["nodes.count"]); ok {
		return max(1, n)
	}
	if local, ok := number(l.extras["nodes.dp_local"]); ok && local > 0 {
		return max(1, l.set.DP/local)
	}
	return 1
}

// follows reports a process on a node other than the worker's first.
func (l *Launch) follows() bool {
	for _, f := range l.Other {
		switch strings.ReplaceAll(f[0], "_", "-") {
		case "--headless":
			return true
		case "--node-rank", "-r":
			return len(f) > 1 && f[1] != "0"
		}
	}
	return false
}
