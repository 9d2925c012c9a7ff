package browser

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// shown is the view that is open: its heading, "" where none is.
const shown = `(document.querySelector('dialog.detail[open] h2')?.textContent ?? '')`

// Every contender has a view of its own: a row opens it, its address is a link, and Back, Escape and the button close it.
func TestDetail(t *testing.T) {
	p := open(t)
	p.do(chromedp.Navigate(file(t, golden)))
	p.await(allDrawn)
	p.do(chromedp.Evaluate(`scrollTo({top: document.querySelector('table.wide').getBoundingClientRect().top, behavior: 'instant'})`, nil))
	place := eval[float64](p, `scrollY`)
	p.do(press(`tr[data-row="4"] td:nth-child(3)`)) // anywhere in the row
	p.await(shown + `.includes('vLLM v1, aggregated')`)
	if got := eval[string](p, `location.hash`); got != "#contender-h200_sxm-vllm-agg" {
		t.Errorf("address: %s", got)
	}
	words := eval[string](p, `document.querySelector('dialog[open]').textContent`)
	for _, want := range []string{
		"8 replicas of TP=4", "Time to first token", "Cost and energy", "KV cache", "tokens/s per GPU", "measured deployments", "--engine vllm --serving-mode agg", "plimsoll files plan.json --contender 'h200_sxm vllm agg'",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("the view does not say %q", want)
		}
	}
	if n := eval[int](p, `document.querySelectorAll('dialog[open] svg.picture rect.fill').length`); n != 32 {
		t.Errorf("%d GPUs in the picture", n)
	}
	p.shoot("detail", false)
	p.do(chromedp.Evaluate(`history.back()`, nil))
	p.await(shown + ` === '' && location.hash === '' && document.activeElement.matches('tr[data-row="4"] a.name')`)
	if got := eval[float64](p, `scrollY`); got != place || place < 500 {
		t.Errorf("the page is scrolled from %g to %g", place, got)
	}

	p.do(chromedp.Focus(`tr[data-row="2"] a.name`, chromedp.ByQuery))
	p.await(`document.activeElement.matches('tr[data-row="2"] a.name')`)
	p.do(chromedp.KeyEvent(kb.Enter))
	p.await(shown + `.includes('TensorRT-LLM, disaggregated')`)
	p.do(chromedp.KeyEvent(kb.Escape))
	p.await(shown + ` === '' && location.hash === ''`)
	if got := eval[string](p, `document.activeElement.getAttribute('href')`); got != "#contender-h200_sxm-trtllm-disagg" {
		t.Errorf("after the view is closed the focus is on %q", got)
	}

	// As a link.
	p.do(chromedp.Navigate(file(t, golden)+"#contender-l40s-sglang-agg"), chromedp.Reload())
	p.await(shown + `.includes('l40s, SGLang, aggregated')`)
	p.do(press("dialog[open] .close"))
	p.await(shown + ` === '' && location.hash === ''`)
}

// A number says why: parts that add up, what bounds the step, its operators, the error in words, and measured deployments.
func TestWhy(t *testing.T) {
	p := open(t)
	p.do(chromedp.Navigate(file(t, golden)))
	p.await(allDrawn)
	p.do(chromedp.Focus(`.lead a[href$="--tpot"]`, chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	p.await(`document.querySelector('dialog[open] details[open]')?.id === 'contender-h200_sxm-vllm-disagg--tpot'`)
	words := eval[string](p, `document.querySelector('dialog[open] details[open]').textContent`)
	for _, want := range []string{"A decode step of 36 requests", "kernels of a decode step", "host work", "What a decode step waits for", "memory 78", "fp8_linear", "all_reduce", "communication", "80 % interval: 6.25 to 14.2 ms"} {
		if !strings.Contains(words, want) {
			t.Errorf("the reasons do not say %q", want)
		}
	}
	p.shoot("why", false)
	if got := eval[string](p, `document.activeElement.id`); got != "contender-h200_sxm-vllm-disagg--tpot" {
		t.Errorf("the focus is on %s", got)
	}
	if got := eval[string](p, `document.getElementById('contender-h200_sxm-vllm-disagg--measured').textContent`); !strings.Contains(got, "NVIDIA, vllm") || !strings.Contains(got, "Qwen/Qwen3-32B") {
		t.Errorf("measured: %s", got)
	}
	// Without a server the others say which command explains them.
	p.do(chromedp.Navigate(file(t, golden)+"#contender-h200_sxm-sglang-agg--ttft"), chromedp.Reload())
	p.await(shown + `.includes('SGLang') && document.querySelector('dialog[open] .loading').textContent.includes('--explain')`)
}

// On a live page any contender is explained, by a plan of it alone; the question stays, and Back does not ask again.
func TestLiveDetail(t *testing.T) {
	s, p := serve(t), open(t)
	p.do(chromedp.Navigate(s.URL + "/?model=Qwen/Qwen3-32B-FP8&system=h200_sxm&gpus=32"))
	p.await(sentence + `.includes('Qwen') && !document.body.classList.contains('stale')`)
	s.asked(t, "no_changes", "null") // the full answer
	p.await(`document.querySelector('#command').textContent.includes('l40s') && !document.body.classList.contains('stale')`)
	p.do(press(`tr[data-row="5"] a.name`))
	p.await(shown + `.includes('SGLang, aggregated')`)
	asked := len(s.all())
	p.do(press(`dialog[open] a[href$="--ttft"]`))
	p.await(`document.querySelector('dialog[open] details[open]')?.id === 'contender-h200_sxm-sglang-agg--ttft'`)
	last := s.last()
	if !reflect.DeepEqual(last["systems"], []any{"h200_sxm"}) || !reflect.DeepEqual(last["engines"], []any{"sglang"}) || !reflect.DeepEqual(last["modes"], []any{"agg"}) || last["no_changes"] != true || last["gpus"] != 32.0 {
		t.Errorf("request: %v", last)
	}
	p.shoot("live-detail", false)
	p.do(chromedp.Evaluate(`history.back()`, nil)) // whatever was opened in the view
	p.await(shown + ` === ''`)
	p.do(chromedp.Sleep(300 * time.Millisecond)) // a question would be sent now
	if n := len(s.all()); n != asked+2 {         // the server was busy at first
		t.Errorf("%d questions instead of %d", n, asked+2)
	}
	if got := eval[string](p, `location.search`); !strings.Contains(got, "gpus=32") {
		t.Errorf("address: %s", got)
	}

	// The files are those of the contender.
	dir := t.TempDir()
	p.do(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir), press(`tr[data-row="1"] a.name`))
	p.await(shown + `.includes('SGLang, disaggregated')`)
	p.do(press(`dialog[open] [data-files]`))
	arrived(t, filepath.Join(dir, "h200_sxm-sglang-disagg.zip"))
	if got := s.last()["contender"]; got != "h200_sxm sglang disagg" {
		t.Errorf("files of %v", got)
	}

	// A link opens the view once the answer is there, and a new answer keeps it.
	p.do(chromedp.Navigate(s.URL + "/?model=Qwen/Qwen3-32B-FP8&system=h200_sxm&gpus=32#contender-h200_sxm-trtllm-agg"))
	p.do(chromedp.Reload())
	p.await(shown + `.includes('TensorRT-LLM, aggregated')`)
	p.await(`document.querySelector('#command').textContent.includes('l40s')`)
	if got := eval[string](p, `location.hash + ' ' + `+shown); !strings.HasPrefix(got, "#contender-h200_sxm-trtllm-agg h200_sxm") {
		t.Errorf("after the full answer: %s", got)
	}
}

// A point of the trade-off says what it is and opens its contender, by a click and by Enter.
func TestFrontierOpens(t *testing.T) {
	p := open(t)
	p.do(chromedp.Navigate(file(t, golden)))
	p.await(allDrawn)
	note := `(document.querySelector('#frontier .tip .note')?.textContent ?? '')`
	p.do(chromedp.Focus("#frontier .uplot", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowLeft))
	p.await(note + `.includes('TTFT')`)
	if got := eval[string](p, note); strings.Contains(got, " 0 ms") || !strings.Contains(got, "TPOT") || !strings.Contains(got, "TP=") || !strings.Contains(got, "$") || !strings.Contains(got, "GPUs") {
		t.Errorf("a point says %q", got)
	}
	p.do(chromedp.KeyEvent(kb.Enter))
	p.await(shown + ` !== ''`)
	p.do(chromedp.KeyEvent(kb.Escape))
	p.await(shown + ` === ''`)
	p.do(chromedp.Evaluate(`document.querySelector('#frontier').scrollIntoView({behavior: 'instant'})`, nil), chromedp.Sleep(300*time.Millisecond))
	at := eval[[]float64](p, `(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector('#frontier .u-over').getBoundingClientRect())`)
	p.do(mouse(input.MouseMoved, at[0]-5, at[1]), mouse(input.MouseMoved, at[0], at[1]), chromedp.MouseClickXY(at[0], at[1]))
	p.await(shown + ` !== '' && location.hash.startsWith('#contender-')`)
}

// rows are the names in the table of contenders that are shown, in their order.
const rows = `[...document.querySelectorAll('table.wide tbody tr:not([hidden])')].map(r => r.querySelector('a.name').getAttribute('href').slice(11))`

// Tables are sorted, filtered and folded, and saved as they are shown.
func TestTables(t *testing.T) {
	p := open(t)
	dir := t.TempDir()
	p.do(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir), chromedp.Navigate(file(t, golden)))
	p.await(allDrawn)
	all := eval[[]string](p, rows)
	column := func(n string) string {
		return `[...document.querySelectorAll('table.wide thead th')].find(h => h.textContent.includes('` + n + `'))`
	}
	p.do(chromedp.Evaluate(column("TTFT")+`.querySelector('button').focus()`, nil), chromedp.KeyEvent(kb.Enter))
	if got := eval[string](p, column("TTFT")+`.getAttribute('aria-sort')`); got != "ascending" {
		t.Errorf("sorted: %q", got)
	}
	if got := eval[[]string](p, rows); got[0] != "h200_sxm-trtllm-agg" || len(got) != len(all) {
		t.Errorf("by TTFT: %v", got)
	}
	p.do(chromedp.KeyEvent(kb.Enter))
	if got := eval[[]string](p, rows); got[0] != "l40s-sglang-agg" {
		t.Errorf("by TTFT, the largest first: %v", got)
	}
	p.do(chromedp.SendKeys(`.table-tools input`, "h200_sxm aggregated", chromedp.ByQuery))
	want := []string{"h200_sxm-sglang-agg", "h200_sxm-vllm-agg", "h200_sxm-trtllm-agg"}
	if got := eval[[]string](p, rows); !slices.Equal(got, want) { // by beginnings of words: not disaggregated
		t.Errorf("filtered: %v", got)
	}
	p.shoot("tables", false)
	for _, kind := range []string{"csv", "json", "yaml"} {
		p.do(press(`.table-tools [aria-label^="Save contenders.` + kind + `"]`))
		got := arrived(t, filepath.Join(dir, "contenders."+kind))
		if !strings.Contains(got, "h200_sxm vllm agg") || strings.Contains(got, "l40s vllm") || strings.Index(got, "sglang agg") > strings.Index(got, "trtllm agg") {
			t.Errorf("%s: %.300s", kind, got)
		}
		if kind == "json" {
			var list []map[string]any
			if err := json.Unmarshal([]byte(got), &list); err != nil || list[0]["deployment"] == nil {
				t.Errorf("not the record: %v", err)
			}
		}
	}
	p.do(chromedp.Evaluate(`{ const i = document.querySelector('.table-tools input'); i.value = ''; i.dispatchEvent(new Event('input')); }`, nil))
	p.do(press(`.table-tools button[aria-expanded]`))
	if got := eval[[]string](p, rows); len(got) != 5 {
		t.Errorf("folded: %v", got)
	}
	p.do(press(`.table-tools button[aria-expanded]`))
	p.do(chromedp.Evaluate(column("TTFT")+`.querySelector('button').click()`, nil)) // a third time: as it was
	if got := eval[[]string](p, rows); !slices.Equal(got, all) {
		t.Errorf("at the end: %v", got)
	}
	p.do(press(`#frontier .chart-tools button`))
	if got := arrived(t, filepath.Join(dir, "frontier.png")); !strings.HasPrefix(got, "\x89PNG") {
		t.Errorf("picture: %.10q", got)
	}
	p.do(press(`#frontier .key button`), press(`#frontier .chart-tools button:nth-child(2)`))
	if got := arrived(t, filepath.Join(dir, "frontier.csv")); strings.Contains(got, "h200_sxm vllm disagg") || !strings.Contains(got, "h200_sxm sglang disagg") {
		t.Errorf("points: %.200s", got)
	}
}

// The views can be read by everyone.
func TestDetailAccess(t *testing.T) {
	for _, x := range []struct {
		name   string
		width  int64
		scheme string
	}{{"view", 1280, "light"}, {"dark view", 1280, "dark"}, {"view on a telephone", 375, "light"}} {
		t.Run(x.name, func(t *testing.T) {
			p := open(t)
			p.do(chromedp.EmulateViewport(x.width, 800), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: x.scheme}}),
				chromedp.Navigate(file(t, golden)+"#contender-h200_sxm-vllm-disagg--tpot"))
			p.await(`document.querySelector('dialog[open] details[open]')`)
			p.findings(x.name)
			if got := eval[int](p, `document.querySelector('dialog[open]').scrollWidth - document.querySelector('dialog[open]').clientWidth`); got > 0 {
				t.Errorf("the view is %d pixels too wide", got)
			}
			p.shoot("detail-"+strings.ReplaceAll(x.name, " ", "-"), false)
		})
	}
}
