package browser

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A drag over a chart zooms, a double click shows all again.
func TestReportZoom(t *testing.T) {
	p := open(t)
	p.do(chromedp.Navigate(file(t, golden)))
	p.await(allDrawn)
	p.do(chromedp.Evaluate(`document.querySelector('#frontier').scrollIntoView({behavior: 'instant'})`, nil))
	const picture = `document.querySelector('#frontier canvas').toDataURL()`
	p.do(chromedp.Evaluate(`document.querySelector('#frontier .u-over').dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))`, nil), chromedp.Sleep(500*time.Millisecond)) // as it is drawn again
	all := eval[string](p, picture)
	at := eval[[]float64](p, `(r => [r.x, r.y, r.width, r.height])(document.querySelector('#frontier .u-over').getBoundingClientRect())`)
	x, y := func(part float64) float64 { return at[0] + part*at[2] }, at[1]+at[3]/2
	p.do(mouse(input.MousePressed, x(0.3), y), mouse(input.MouseMoved, x(0.4), y), mouse(input.MouseMoved, x(0.6), y), mouse(input.MouseReleased, x(0.6), y))
	p.await(picture + ` !== ` + "`" + all + "`")
	p.do(chromedp.MouseClickXY(x(0.5), y, chromedp.ClickCount(2)))
	p.await(picture + ` === ` + "`" + all + "`")
}

func mouse(kind input.MouseType, x, y float64) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		return chromedp.MouseEvent(kind, x, y, chromedp.Button("left"), chromedp.ClickCount(1)).Do(ctx)
	})
}

// press clicks at an element itself, not at where it was when it was looked for: on a busy machine buttons may move in between.
func press(selector string) chromedp.Action {
	return chromedp.Evaluate(`document.querySelector('`+selector+`').click()`, nil, func(e *runtime.EvaluateParams) *runtime.EvaluateParams {
		return e.WithUserGesture(true)
	})
}

// Buttons copy commands and save what they say.
func TestLiveButtons(t *testing.T) {
	s, p := serve(t), open(t)
	dir := t.TempDir()
	p.do(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir), chromedp.Navigate(s.URL))
	p.await(sentence + `.includes('32 GPUs')`)
	p.do(chromedp.Click("#copy-command", chromedp.ByQuery))
	p.await(`document.querySelector('#copy-command').textContent === 'Copied'`)
	for _, name := range []string{"plan.json", "report.html", "report.md", "deployment.zip"} {
		p.do(press(`[data-export="` + name + `"]`))
		p.await(`document.querySelector('#status').textContent === '` + name + ` saved'`)
		arrived(t, filepath.Join(dir, name))
	}
}

// The report saves the record that it holds.
func TestReportSaves(t *testing.T) {
	p := open(t)
	dir := t.TempDir()
	p.do(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir), chromedp.Navigate(file(t, golden)))
	p.do(chromedp.Click(`[data-save]`, chromedp.ByQuery))
	if got := arrived(t, filepath.Join(dir, "plan.json")); !strings.Contains(got, `"schema": "plimsoll/plan/2"`) {
		t.Errorf("saved: %.200s", got)
	}
}

// arrived waits for a file.
func arrived(t *testing.T, path string) string {
	t.Helper()
	for range 100 {
		if data, err := os.ReadFile(path); err == nil && len(data) > 0 {
			return string(data)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("%s did not arrive", filepath.Base(path))
	return ""
}
