package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Answers that are pinned stand side by side with what differs, survive a reload, and are opened and removed, by keys.
func TestLivePins(t *testing.T) {
	s, p := serve(t), open(t)
	at := s.URL + "/?model=a&system=h200_sxm&isl=900&osl=80&tpot=30&gpus="
	pin := func(gpus string) {
		p.do(chromedp.Navigate(at + gpus))
		p.await(sentence + `.includes('` + gpus + ` GPUs')`)
		p.do(chromedp.Focus("#pin", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	}
	pin("8")
	p.await(`document.querySelector('#pins').checkVisibility() && document.querySelector('#pins .hint').checkVisibility()`)
	pin("16")
	const table = `document.querySelector('#pins table').innerText`
	p.await(table + `.includes('gpus: 8 → 16 (× 1.25)')`)
	pin("32")
	p.await(table + `.includes('gpus: 8 → 32')`)
	text := eval[string](p, table)
	for _, want := range []string{"Deployment", "one", "two", "+300 %", "+10 %, within error"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	p.await(`!document.querySelector('.old') && !document.body.classList.contains('stale')`)
	p.shoot("live-pins", false)
	p.findings("pins")
	p.do(chromedp.Reload())
	p.await(`document.querySelectorAll('#pins thead th').length === 3 && ` + table + `.includes('gpus: 8 → 32')`)
	p.do(press("#pin-open-1"))
	p.await(sentence + `.includes('16 GPUs')`)
	p.do(chromedp.EmulateViewport(375, 800))
	if got := eval[int](p, `document.documentElement.scrollWidth`); got > 375 {
		t.Errorf("the page is %d pixels wide on a telephone", got)
	}
	for range 3 {
		p.do(press("#pins thead th:nth-child(2) button:last-child"))
	}
	p.await(`!document.querySelector('#pins').checkVisibility()`)
}
