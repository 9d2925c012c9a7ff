package files_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/launch"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
)

// ownSubstitutions are the commands in "$(…)" that scripts have of themselves.
func ownSubstitutions() []string {
	return []string{`dirname "$0"`, "jobs -p", `getent ahostsv4 "${hosts[i]}" | awk 'NR == 1 {print $1}'`}
}

// arguments runs the expansions of a script, and returns the words of all its commands. A command substitution that is not
// our own is an error.
func arguments(script string) ([]string, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	config := &expand.Config{
		Env: expand.FuncEnviron(func(string) string { return "7" }),
		CmdSubst: func(_ io.Writer, c *syntax.CmdSubst) error {
			var text bytes.Buffer
			for _, s := range c.Stmts {
				if err := syntax.NewPrinter().Print(&text, s); err != nil {
					return err
				}
			}
			if !slices.Contains(ownSubstitutions(), text.String()) {
				return errors.New("runs " + text.String())
			}
			return nil
		},
		ProcSubst: func(*syntax.ProcSubst) (string, error) { return "", errors.New("process substitution") },
	}
	var out []string
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || err != nil {
			return err == nil
		}
		words, wrong := expand.Fields(config, call.Args...)
		if wrong != nil {
			err = wrong
		}
		out = append(out, words...)
		for _, a := range call.Assigns {
			if a.Value != nil {
				if _, wrong := expand.Literal(config, a.Value); wrong != nil {
					err = wrong
				}
			}
		}
		return err == nil
	})
	return out, err
}

// lists are the lists of texts in a document, with "$$" as Compose and Kubernetes read it. Any other "$" must be one of
// the variables that the files themselves have.
func lists(n *yaml.Node) (out [][]string, err error) {
	if n.Kind == yaml.SequenceNode {
		var words []string
		for _, c := range n.Content {
			text := strings.ReplaceAll(c.Value, "$$", "\x00")
			for _, own := range []string{"$((${LWS_", "${NODE_", "${LWS_", "${HF_TOKEN:-}", "$(POD_NAMESPACE)", `"$concurrency"`, `"$((concurrency * 10))"`} {
				text = strings.ReplaceAll(text, own, strings.ReplaceAll(own, "$", "\x01"))
			}
			if strings.Contains(text, "$") {
				err = errors.Join(err, errors.New("an expansion that is not ours: "+c.Value))
			}
			words = append(words, strings.NewReplacer("\x00", "$", "\x01", "$").Replace(text))
		}
		out = append(out, words)
	}
	for _, c := range n.Content {
		more, wrong := lists(c)
		out, err = append(out, more...), errors.Join(err, wrong)
	}
	return out, err
}

// started are the words of all commands in a file: of a script, or of the containers of a manifest, in which scripts are
// read too.
func started(f launch.File) ([]string, error) {
	if strings.HasSuffix(f.Path, ".sh") || strings.HasSuffix(f.Path, ".sbatch") {
		return arguments(string(f.Data))
	}
	var out []string
	decoder := yaml.NewDecoder(bytes.NewReader(f.Data))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		var task struct{ Setup, Run string } // of SkyPilot
		if err := document.Decode(&task); err == nil && task.Run != "" {
			words, err := arguments(task.Setup + task.Run)
			if err != nil {
				return nil, err
			}
			out = append(out, words...)
		}
		all, err := lists(&document)
		if err != nil {
			return nil, err
		}
		for _, words := range all {
			out = append(out, words...)
			for _, w := range words {
				if strings.Contains(w, "exec ") || strings.Contains(w, "aiperf profile") {
					inner, err := arguments(w)
					if err != nil {
						return nil, err
					}
					out = append(out, inner...)
				}
			}
		}
	}
}

// hostile are names of models that a shell, Compose or Kubernetes would run or replace if they were not quoted.
func hostile() []string {
	return []string{
		"$(touch x)", "`touch x`", "a; touch x", "a && touch x", "a' 'b", `a"; touch x; "`, "$HOME", "${HOME}", "$$(HOME)", "$$", "a\\", "\\$(x)",
		"a b", "*", "~", "{a,b}", "a>x", "a|b", "#a", "!x", "ä € 😀", "{{ .Values }}", "%s", "a: b", "a - b", "'", `"`, "$'\\n'", "<(x)",
	}
}

// spread are plans of every engine: one worker, disaggregated, over several nodes.
func spread(t testing.TB) map[string]*launch.Plan {
	out := cases(t)
	out["vllm-nodes"] = planned(t, "vllm", "0.24.0", "Qwen/Qwen3-32B", "h200_sxm", []int{64}, both(1, tp(16)))
	out["sglang-nodes"] = planned(t, "sglang", "0.5.16", "Qwen/Qwen3-32B", "h200_sxm", []int{64}, both(2, tp(16)))
	out["vllm-ranks"] = planned(t, "vllm", "0.24.0", "deepseek-ai/DeepSeek-V3", "h200_sxm", []int{64}, both(1, parallel.Layout{Devices: 16, TP: 1, DP: 16, EP: 16}))
	out["mindie"] = planned(t, "mindie", "", "Qwen/Qwen3-32B", "ATLAS_800_A3_752T_128G_DIE", []int{64}, both(1, tp(4)))
	out["vllm-ascend"] = planned(t, "vllm-ascend", "0.23.0", "Qwen/Qwen3-32B", "ATLAS_800_A3_752T_128G_DIE", []int{64}, both(2, tp(4)))
	out["sglang-npu"] = planned(t, "sglang-npu", "0.5.16", "Qwen/Qwen3-32B", "ATLAS_800_A2_376T_64G", []int{64}, both(1, tp(4)))
	return out
}

// TestHostileNames: whatever a model is called, every script and manifest carries the name as one argument and runs nothing
// of it.
func TestHostileNames(t *testing.T) {
	plans, all := spread(t), hostile()
	for i, plan := range slices.Sorted(maps.Keys(plans)) {
		p := plans[plan]
		names := []string{strings.Join(all, " ")} // all of them in every plan, and each separately in one
		for k := i; k < len(all); k += len(plans) {
			names = append(names, all[k])
		}
		for _, name := range names {
			p.Deployment.Model, p.Site.ModelPath = name, "./"+name
			if err := quoted(p); err != nil {
				t.Errorf("%s, %q: %v", plan, name, err)
			}
		}
	}
}

// TestHeadings: a name with a line break does not leave the comment that it stands in.
func TestHeadings(t *testing.T) {
	for plan, p := range spread(t) {
		own := *p.Resolved.Pools[0].Device
		own.Name = "gpu\ntouch x\u2028touch y"
		p.Resolved.Pools[0].Device = &own
		all, _, err := files.Write(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			for line := range strings.Lines(string(f.Data)) {
				if strings.HasPrefix(line, "touch") {
					t.Errorf("%s, %s: %s", plan, f.Path, line)
				}
			}
		}
	}
}

// quoted checks all files of a plan whose model has a hostile name.
func quoted(p *launch.Plan) error {
	all, _, err := files.Write(p)
	if err != nil {
		return err
	}
	for _, f := range all {
		words, err := started(f)
		if err != nil {
			return errors.New(f.Path + ": " + err.Error())
		}
		loads := strings.Contains(string(f.Data), "vllm serve") || strings.Contains(string(f.Data), "--model-path") || strings.Contains(f.Path, "bench")
		if loads && !slices.Contains(words, p.Site.ModelPath) {
			return errors.New(f.Path + ": no argument is the path\n" + string(f.Data))
		}
	}
	for target, group := range byTarget(all) {
		if target == "plain/config.json" { // MindIE's, which names no command
			continue
		}
		found, err := launch.Read(group...)
		if err != nil {
			return errors.New(target + ": " + err.Error())
		}
		for i := range found.Launches {
			if got := found.Launches[i].Model(); got != p.Site.ModelPath && got != "" { // Dynamo's TensorRT-LLM files may lack it
				return errors.New(target + " reads as " + got)
			}
		}
		if got := found.Deployment.Model; got != p.Deployment.Model && got != "" {
			return errors.New(target + " is predicted as " + got)
		}
	}
	return nil
}

// FuzzNames: names, paths and ports are refused with the field's name, or quoted.
func FuzzNames(f *testing.F) {
	for i, name := range hostile() {
		f.Add(name, "./"+name, 8000+i, uint(i))
	}
	f.Add("model", "a\nb", 0, uint(0))
	f.Add("-x", "-y", 70000, uint(1))
	f.Add("", "x\x00y", 65535, uint(2))
	plans := spread(f)
	names := slices.Sorted(maps.Keys(plans))
	f.Fuzz(func(t *testing.T, served, path string, port int, which uint) {
		plan := names[which%uint(len(names))]
		p := plans[plan]
		p.Site = launch.Site{ServedName: served, ModelPath: path, Port: port}
		_, _, err := files.Write(p)
		if err != nil {
			text := err.Error()
			if !strings.Contains(text, "served_model_name") && !strings.Contains(text, "model_path") && !strings.Contains(text, "port") {
				t.Errorf("%s: %v", plan, err)
			}
			return
		}
		if err := p.Site.Check(); err != nil {
			t.Errorf("%s: files are written although %v", plan, err)
		}
		if path == "" {
			return
		}
		if err := quoted(p); err != nil {
			t.Errorf("%s: %v", plan, err)
		}
	})
}
