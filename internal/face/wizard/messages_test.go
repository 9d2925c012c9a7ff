package wizard

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
)

// messages are the formats of the mistakes that the checks of requests report, as their sources have them.
func messages(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, dir := range []string{"basic/field", "describe/workload", "serve/deployment", "serve/search", "ops/session", "ops/experiment", "ops/optimize", "ops/plan"} {
		files, err := filepath.Glob("../../" + dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", dir, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, data, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 && mistake(call.Fun, dir == "basic/field") {
					out = append(out, literal(call.Args[0]))
				}
				return true
			})
		}
	}
	return out
}

// mistake reports whether a function makes a mistake about fields.
func mistake(fun ast.Expr, here bool) bool {
	switch f := fun.(type) {
	case *ast.Ident:
		return here && f.Name == "Errorf"
	case *ast.SelectorExpr:
		of, ok := f.X.(*ast.Ident)
		return ok && of.Name == "field" && f.Sel.Name == "Errorf"
	}
	return false
}

// literal is a text of a source; what is not written there is a word.
func literal(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(x.Value)
		if err == nil {
			return s
		}
	case *ast.BinaryExpr:
		return literal(x.X) + literal(x.Y)
	}
	return "x"
}

// TestMessagesInChinese: every mistake that a check can report has a Chinese form.
func TestMessagesInChinese(t *testing.T) {
	t.Parallel()
	all, verb, zh := messages(t), regexp.MustCompile(`%[a-z]|%%`), Chinese.Say()
	if len(all) < 60 {
		t.Fatalf("only %d messages were found", len(all))
	}
	for _, err := range []error{field.OneOf("mode", "agr", "agg", "disagg"), field.OneOf("mode", "x", "agg", "disagg"), field.Between("gpus", 9, 1, 8)} {
		all = append(all, err.Error())
	}
	for _, format := range all {
		format = regexp.MustCompile(`([a-z])%s`).ReplaceAllString(format, "$1") // an ending that is mostly empty
		message := verb.ReplaceAllStringFunc(format, func(v string) string {
			switch v {
			case "%d", "%g":
				return "3"
			case "%q":
				return `"x"`
			case "%w":
				return "x must be positive, got 3"
			case "%%":
				return "%"
			}
			return "x"
		})
		got := zh.translate(message)
		if strings.HasPrefix(got, strings.TrimSuffix(zh.Other, "%s")) || !strings.ContainsFunc(got, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			t.Errorf("%q (%q) has no Chinese pattern: %s", format, message, got)
		}
	}
}

// TestPhrases: deployments and progress are Chinese but for names, as those who search and plan say them.
func TestPhrases(t *testing.T) {
	zh, en := Chinese.Say(), English.Say()
	for text, want := range map[string]string{
		"2 replicas of one GPU":                                      "2 个副本，每个单卡",
		"1 replica of TP=4 EP=4, 2 spare":                            "1 个副本，每个 TP=4 EP=4，2 个备用副本",
		"2 × (4 prefill of one GPU, 3 decode of TP=4), 2 MTP drafts": "2 ×（4 个 Prefill 实例，每个单卡，3 个 Decode 实例，每个 TP=4），2 个 MTP 草稿 token",
		"comparing systems, engines and modes: 3 of 6 searches":      "比较系统、引擎和部署模式：已完成 3 / 6 次搜索",
		"finding what would change the answer: 7 of 15 searches":     "寻找会改变结果的因素：已完成 7 / 15 次搜索",
		"h200_sxm aggregated: 7 of 15 layouts":                       "h200_sxm：已评估 7 / 15 种并行策略",
	} {
		if got := zh.Phrase(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if got := en.Phrase(text); got != text {
			t.Errorf("%q is %q", text, got)
		}
	}
}
