//go:build playground

package browser

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// The page without a server answers in a browser, with the figures of the program, and is a small download. "make playground-check" builds
// what it needs.
func TestPlayground(t *testing.T) {
	const program = "../../bin/plimsoll"
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), program, "pages", "--playground", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	size := int64(0)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := os.Stat(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	const most = 8 << 20
	if t.Logf("%d files, %d bytes", len(files), size); size > most {
		t.Errorf("%d bytes, more than %d", size, most)
	}
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(s.Close)
	p := open(t)
	p.do(chromedp.Navigate(s.URL + "/?model=Qwen/Qwen3-8B&system=h200_sxm&gpus=2&isl=512&osl=8&ttft=1000&tpot=20&engine=vllm&mode=agg"))
	p.await(sentence + `.includes('Qwen3-8B')`)
	t.Logf("the first answer was there %.0f ms after the page began", eval[float64](p, `performance.now()`))
	const request = `{"model":"Qwen/Qwen3-8B","systems":["h200_sxm"],"gpus":2,"engines":["vllm"],"modes":["agg"],"no_changes":true,"workloads":[{"isl":512,"osl":8}],"limits":{"ttft_ms":1000,"tpot_ms":20}}`
	var got string
	p.do(chromedp.Evaluate(`fetch("api/plan", {method: "POST", body: `+"`"+request+"`"+`}).then(r => r.text())`, &got, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	args := "plan Qwen/Qwen3-8B --system h200_sxm --gpus 2 --engine vllm --serving-mode agg --no-changes --isl 512 --osl 8 --ttft 1000 --tpot 20 --json"
	want, err := exec.CommandContext(t.Context(), program, strings.Fields(args)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal([]byte(got), &a); err != nil {
		t.Fatalf("%v: %.300s", err, got)
	}
	if err := json.Unmarshal(want, &b); err != nil {
		t.Fatal(err)
	}
	t.Logf("byte for byte the same: %t", got == string(want))
	if !same(a, b) {
		t.Errorf("the playground and the program differ:\n%.2000s\n\n%.2000s", got, want)
	}
}

// same compares documents; figures may differ where processors round the last bits of a function otherwise.
func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			if !same(a[k], b[k]) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !same(a[i], b[i]) {
				return false
			}
		}
		return true
	case float64:
		b, ok := b.(float64)
		return ok && math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b))
	}
	return reflect.DeepEqual(a, b)
}
