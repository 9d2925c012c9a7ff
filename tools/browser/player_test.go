package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A minute of the run is played, paused and moved through, by keys, in a report that is a file.
func TestPlayer(t *testing.T) {
	p := open(t)
	p.do(chromedp.Navigate(file(t, golden)))
	p.await(allDrawn)
	const slider, time = `document.querySelector('#player input[type=range]')`, `document.querySelector('#player output').textContent`
	if n := eval[int](p, `document.querySelectorAll('#player .lane').length`); n != 8 {
		t.Fatalf("%d replicas", n)
	}
	p.do(chromedp.Focus("#player input[type=range]", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	p.await(slider + `.value === '2' && ` + time + ` === '0.5 s'`)
	if got := eval[string](p, slider+`.getAttribute('aria-valuetext')`); !strings.HasPrefix(got, "0.5 s: ") || !strings.Contains(got, " decode") {
		t.Errorf("the slider says %q", got)
	}
	// The words of a lane are those of the record.
	if got := eval[string](p, `(() => { const r = JSON.parse(document.querySelector('#record').textContent).minute.replicas[4];
		const want = r.queued[2] + ' queued, ' + r.prefill[2] + ' prefill, ' + r.decode[2] + ' decode';
		const got = document.querySelectorAll('#player .lane')[4].innerText; return got.includes('decode 1') && got.includes(want) ? '' : want + ' | ' + got; })()`); got != "" {
		t.Error(got)
	}
	p.do(chromedp.ScrollIntoView("#player", chromedp.ByQuery))
	p.shoot("player", false)
	p.do(chromedp.Focus("[data-play]", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	p.await(`Number(` + slider + `.value) > 5 && document.querySelector('[data-play]').textContent === 'Pause'`)
	p.do(chromedp.KeyEvent(kb.Enter))
	p.await(`document.querySelector('[data-play]').textContent === 'Play'`)
	at := eval[string](p, slider+`.value`)
	p.await(`new Promise(done => setTimeout(() => done(true), 300))`)
	if got := eval[string](p, slider+`.value`); got != at {
		t.Errorf("it goes on after a pause: %s, %s", at, got)
	}
	p.findings("player")
	p.do(chromedp.EmulateViewport(375, 800))
	if got := eval[int](p, `document.documentElement.scrollWidth`); got > 375 {
		t.Errorf("the page is %d pixels wide on a telephone", got)
	}
}
