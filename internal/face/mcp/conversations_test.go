package mcp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plimsoll-project/plimsoll/internal/launch"
)

// TestConversations replays testdata/conversations: what a user says ("user:"), the call that an agent makes of it ("call:"), what
// its result must have ("has:"), and what the answer to the user is made of ("answer:", fields of the last result).
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d conversations: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			k := remembering()
			k.Write = func(string, []launch.File) error { return nil }
			s := overHTTP(t, k, nil)
			var last *sdk.CallToolResult
			parts := map[string]int{}
			for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
				what, rest, _ := strings.Cut(line, ": ")
				parts[what]++
				switch what {
				case "call":
					name, arguments, _ := strings.Cut(rest, " ")
					if last, err = call(t.Context(), s, name, arguments); err != nil || last.IsError {
						t.Fatalf("line %d: %v %v", i+1, err, last)
					}
				case "has":
					if got := structured(t, last); !strings.Contains(got, rest) {
						t.Errorf("line %d: the result lacks %s:\n%s", i+1, rest, got)
					}
				case "answer":
					answers(t, rest, structured(t, last))
				}
			}
			if parts["user"] == 0 || parts["call"] == 0 || parts["has"] == 0 || parts["answer"] != 1 {
				t.Errorf("no conversation: %v", parts)
			}
		})
	}
}

// structured is the structured part of a result.
func structured(t *testing.T, r *sdk.CallToolResult) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r.StructuredContent); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// answers reports parts of an answer that a result does not have.
func answers(t *testing.T, template, result string) {
	t.Helper()
	for _, path := range regexp.MustCompile(`\{([^}]+)\}`).FindAllStringSubmatch(template, -1) {
		var at any
		if err := json.Unmarshal([]byte(result), &at); err != nil {
			t.Fatal(err)
		}
		for key := range strings.SplitSeq(path[1], ".") {
			switch x := at.(type) {
			case map[string]any:
				at = x[key]
			case []any:
				i, err := strconv.Atoi(key)
				if err != nil || i >= len(x) {
					at = nil
				} else {
					at = x[i]
				}
			default:
				at = nil
			}
		}
		if at == nil || at == "" {
			t.Errorf("the result has no %s for the answer:\n%s", path[1], result)
		}
	}
}
