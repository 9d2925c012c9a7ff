//go:build playground

package browser

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
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
	const most = 8_000_000
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
	if got != string(want) {
		t.Errorf("the playground and the program differ:\n%.2000s\n\n%.2000s", got, want)
	}
}
