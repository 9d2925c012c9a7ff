package cli

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
)

// fieldPackage is the package of names of fields.
const fieldPackage = "github.com/plimsoll-project/plimsoll/internal/basic/field"

// namedFields are the fields that the packages below the command line name in
// messages: every constant of type field.Name in their sources, and a file that has
// it. Packages other than field are not read for that: what is unknown of them
// leaves the types of constants as they are.
func namedFields(t *testing.T) map[field.Name]string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"../../*/*.go", "../../*/*/*.go"} {
		some, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, some...)
	}
	fset := token.NewFileSet()
	packages := map[string][]*ast.File{}
	for _, name := range files {
		if dir := filepath.Dir(name); filepath.Base(dir) != "cli" && !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			dir = filepath.ToSlash(strings.TrimPrefix(dir, filepath.FromSlash("../../")))
			packages[dir] = append(packages[dir], f)
		}
	}
	known := alone{}
	out := map[field.Name]string{}
	declaring := []string{"basic/field", "ops/session"} // have names in their signatures that others call
	for _, dir := range append(declaring, slices.Sorted(maps.Keys(packages))...) {
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		config := types.Config{Importer: known, Error: func(error) {}}
		path := "github.com/plimsoll-project/plimsoll/internal/" + dir
		p, _ := config.Check(path, fset, packages[dir], info)
		if slices.Contains(declaring, dir) && known[path] == nil {
			known[path] = p
		}
		for e, v := range info.Types {
			if n, ok := v.Type.(*types.Named); ok && v.Value != nil && n.Obj().Name() == "Name" && n.Obj().Pkg().Path() == fieldPackage {
				out[field.Name(constant.StringVal(v.Value))] = fset.Position(e.Pos()).String()
			}
		}
	}
	return out
}

// alone imports the packages it holds, and empty ones for all others.
type alone map[string]*types.Package

// Import implements [types.Importer].
func (a alone) Import(path string) (*types.Package, error) {
	if p, ok := a[path]; ok {
		return p, nil
	}
	p := types.NewPackage(path, path[strings.LastIndex(path, "/")+1:])
	p.MarkComplete()
	return p, nil
}

// TestFieldsAreFlags: what a message names is a flag of a command.
func TestFieldsAreFlags(t *testing.T) {
	t.Parallel()
	env, _, _ := testEnv(t, nil, nil)
	flags := map[string]bool{}
	for _, c := range commands(env) {
		for _, c := range append(c.Commands(), c) {
			c.Flags().VisitAll(func(f *pflag.Flag) { flags["--"+f.Name] = true })
		}
	}
	for name := range flagAliases() {
		flags["--"+name] = true
	}
	noFlag := map[field.Name]string{
		"pools":      "the command line makes the pools of a deployment from its flags, and makes them right",
		"config":     "sent with a request by pages and programs; the command line reads a file",
		"trace_data": "likewise",
		"engines":    "a key of grids",
	}
	for _, name := range []field.Name{"max_seq_len", "free_gpu_memory_fraction", "gemm_quant_mode", "moe_quant_mode", "kvcache_quant_mode"} {
		noFlag[name] = "a key of experiment files"
	}
	named := namedFields(t)
	for name, where := range named {
		if _, known := noFlag[name]; !known && !flags[flagOf(name)] {
			t.Errorf("%s: a message names the field %q, and %s is no flag of any command", where, name, flagOf(name))
		}
	}
	for _, want := range []field.Name{
		"pools", "pd_ratio", "tp_size", "perf_engine", "shared_expert_tp", "mxfp4_group_size", "prefill_replicas", "serving_cost", "num_queries", "device_file",
	} {
		if named[want] == "" {
			t.Errorf("the field %q was not found in the sources", want)
		}
	}
}

// TestSpellings: a command that takes a length, a limit or a number of devices by one vendor's name takes it by the other's.
func TestSpellings(t *testing.T) {
	t.Parallel()
	env, _, _ := testEnv(t, nil, nil)
	root := newRootCmd(env, commands(env), &profiles{})
	has := map[string][]string{}
	for _, c := range root.Commands() {
		for _, c := range append(c.Commands(), c) {
			for _, s := range spellings() {
				one, other := c.Flags().Lookup(s[0]), c.Flags().Lookup(s[1])
				if one != other {
					t.Errorf("%s: --%s and --%s are two flags", c.CommandPath(), s[0], s[1])
				}
				if one != nil {
					has[s[0]] = append(has[s[0]], c.Name())
				}
			}
		}
	}
	if plan, _, err := root.Find([]string{"plan"}); err != nil || plan.Flags().Lookup("ttft-limits") != plan.Flags().Lookup("ttft") {
		t.Errorf("plan does not take --ttft-limits: %v", err)
	}
	for flag, command := range map[string]string{"isl": "simulate", "osl": "lint", "gpus": "throughput-optimizer", "ttft": "upgrade", "nextn": "check"} {
		if !slices.Contains(has[flag], command) {
			t.Errorf("%s does not take --%s", command, flag)
		}
	}
}
