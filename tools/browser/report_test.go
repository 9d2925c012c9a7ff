package browser

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// golden is what web.Report writes; a test of internal/face/web compares them.
const golden = "../../internal/face/web/testdata/plan.html"

// tooSmall is the same of a plan that finds no deployment.
const tooSmall = "../../internal/face/web/testdata/small.html"

// blank counts the charts whose canvas has one colour.
const blank = `[...document.querySelectorAll('.canvas canvas')].filter(c => {
	const d = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
	return d.every(v => v === d[0]);
}).length`

// allDrawn says that every chart is one of the script.
const allDrawn = `document.querySelectorAll('figure.chart').length > 0 && !document.querySelector('.canvas:not(.drawn)')`

func TestReport(t *testing.T) {
	p := open(t)
	p.do(chromedp.Navigate(file(t, golden)))
	p.await(allDrawn)
	charts := eval[int](p, `document.querySelectorAll('figure.chart').length`)
	if got := eval[int](p, `document.querySelectorAll('.canvas canvas').length`); got != charts || charts < 6 {
		t.Errorf("%d charts, %d drawn", charts, got)
	}
	if n := eval[int](p, blank); n != 0 {
		t.Errorf("%d charts are blank", n)
	}
	p.shoot("report-light", true)

	// Arrow keys read a chart, plus zooms, Escape shows all again.
	tip := `document.querySelector('#frontier .tip')`
	p.do(chromedp.Focus("#frontier .uplot", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight))
	p.await(tip + `.hidden === false && ` + tip + `.textContent.includes('h200_sxm')`)
	p.shoot("report-tip", false)
	if got := eval[string](p, `document.querySelector('#frontier .tip .note')?.textContent ?? ''`); !strings.Contains(got, "TTFT") || !strings.Contains(got, "GPU") {
		t.Errorf("a point says %q of itself", got)
	}
	p.do(chromedp.KeyEvent("+"), chromedp.KeyEvent(kb.Escape))
	before := eval[string](p, `document.querySelector('#frontier canvas').toDataURL()`)
	p.do(press("#frontier .key button"))
	p.await(`document.querySelector('#frontier .key button').getAttribute('aria-pressed') === 'false' && document.querySelector('#frontier canvas').toDataURL().length !== ` + strconv.Itoa(len(before)))

	// The mouse does too.
	p.do(chromedp.ScrollIntoView("#load-ttft .u-over", chromedp.ByQuery))
	shown := `document.querySelector('#load-ttft .tip').hidden === false`
	for i := 0; i < 100 && !eval[bool](p, shown); i++ { // the page may still be scrolling, and the element be elsewhere
		p.do(hover("#load-ttft .u-over", i%3), chromedp.Sleep(100*time.Millisecond))
	}
	p.await(shown)
}

// hover moves the mouse to some pixels beside the middle of an element.
func hover(selector string, beside int) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		var at []float64
		err := chromedp.Evaluate(`(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector('`+selector+`').getBoundingClientRect())`, &at).Do(ctx)
		if err != nil {
			return err
		}
		return chromedp.MouseEvent("mouseMoved", at[0]+float64(beside), at[1]).Do(ctx)
	})
}

func TestReportDark(t *testing.T) {
	p := open(t)
	dark := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}
	p.do(emulation.SetEmulatedMedia().WithFeatures(dark), chromedp.Navigate(file(t, golden)))
	p.await(allDrawn)
	const paper = `getComputedStyle(document.body).backgroundColor`
	if got := eval[string](p, paper); got != "rgb(20, 24, 29)" {
		t.Errorf("dark paper: got %s", got)
	}
	p.shoot("report-dark", true)
	p.do(chromedp.Click("[data-theme-next]", chromedp.ByQuery))
	if got := eval[string](p, paper); got != "rgb(255, 255, 255)" {
		t.Errorf("light paper after the button: got %s", got)
	}
	p.await(allDrawn)
	if n := eval[int](p, blank); n != 0 {
		t.Errorf("%d charts are blank after a change of colours", n)
	}
}

// Without scripts the pictures and the tables are there.
func TestReportWithoutScript(t *testing.T) {
	p := open(t)
	p.do(emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(file(t, golden)))
	p.do(chromedp.WaitVisible("#frontier svg.plot", chromedp.ByQuery))
	p.legible("without scripts")
	p.shoot("report-no-script", false)
	p.do(emulation.SetScriptExecutionDisabled(false))
	if n := eval[int](p, `[...document.querySelectorAll('figure.chart')].filter(f =>
		!f.querySelector('svg.plot').getBoundingClientRect().height || !f.querySelector('details table tbody tr')).length`); n != 0 {
		t.Errorf("%d charts lack a picture or a table", n)
	}
	if n := eval[int](p, `[...document.querySelectorAll('button')].filter(b => b.getBoundingClientRect().height).length`); n != 0 {
		t.Errorf("%d buttons are shown that do nothing", n)
	}
}

// On paper the pictures are vectors on white, and nothing is there to click at.
func TestReportPrinted(t *testing.T) {
	p := open(t)
	p.do(chromedp.Navigate(file(t, golden)))
	p.await(allDrawn)
	var pdf []byte
	p.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = page.PrintToPDF().WithPrintBackground(false).Do(ctx)
		return err
	}))
	if !bytes.HasPrefix(pdf, []byte("%PDF")) {
		t.Error("no PDF")
	}
	p.keep("report.pdf", pdf)
	dark := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}
	p.do(emulation.SetEmulatedMedia().WithMedia("print").WithFeatures(dark))
	if got := eval[string](p, `getComputedStyle(document.documentElement).colorScheme`); got != "light" {
		t.Errorf("colours on paper: want light, got %s", got)
	}
	if n := eval[int](p, `[...document.querySelectorAll('.uplot, button:not(.key button, .sort), .tip')].filter(e => e.getBoundingClientRect().height).length`); n != 0 {
		t.Errorf("%d things of the screen are printed", n)
	}
	p.do(chromedp.EmulateViewport(700, 990)) // the width of a page of paper within its margins
	p.shoot("report-print", true)
	if got := eval[int](p, `document.documentElement.scrollWidth`); got > 700 {
		t.Errorf("what is printed is %d pixels wide", got)
	}
	if n := eval[int](p, `[...document.querySelectorAll('svg.plot')].filter(e => !e.getBoundingClientRect().height).length`); n != 0 {
		t.Errorf("%d pictures are not printed", n)
	}
	p.legible("printed")
}

// On a telephone nothing but tables is wider than the screen.
func TestReportNarrow(t *testing.T) {
	p := open(t)
	p.do(chromedp.EmulateViewport(375, 800), chromedp.Navigate(file(t, golden)))
	p.await(allDrawn)
	if got := eval[int](p, `document.documentElement.scrollWidth`); got > 375 {
		t.Errorf("the page is %d pixels wide", got)
	}
	p.shoot("report-narrow", true)
}
