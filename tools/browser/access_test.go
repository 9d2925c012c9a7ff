package browser

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// findings are what is wrong with the page that is shown, one line each. With AXE=axe.min.js, a file of the package axe-core, its serious and
// critical findings are added.
func (p *tab) findings(where string) {
	p.Helper()
	access, err := os.ReadFile("access.js") // what keeps people from reading a page or working with it, by the rules of WCAG that can be computed
	if err != nil {
		p.Fatal(err)
	}
	for _, f := range eval[[]string](p, string(access)) {
		p.Errorf("%s: %s", where, f)
	}
	file := os.Getenv("AXE")
	if file == "" {
		return
	}
	axe, err := os.ReadFile(file)
	if err != nil {
		p.Fatal(err)
	}
	p.do(chromedp.Evaluate(string(axe), nil))
	p.do(chromedp.Evaluate(`window.found = undefined; axe.run(document, {resultTypes: ['violations']}).then(r => { window.found = r.violations.map(v =>
		v.impact + ' ' + v.id + ' ×' + v.nodes.length + ': ' + v.nodes.slice(0, 3).map(n => n.target.join(' ') + ' ' + (n.any[0]?.message ?? '')).join(' | ')); })`, nil))
	p.await(`window.found !== undefined`)
	for _, f := range eval[[]string](p, `window.found`) {
		if strings.HasPrefix(f, "serious") || strings.HasPrefix(f, "critical") {
			p.Errorf("%s: axe: %s", where, f)
		} else {
			p.Logf("%s: axe: %s", where, f)
		}
	}
}

// The report and the live page can be read and worked with by everyone: on a screen, on a telephone, on paper, light and dark.
func TestAccess(t *testing.T) {
	for _, x := range []struct {
		name, page  string
		width, high int64
		media       string
		features    []*emulation.MediaFeature
	}{
		{"report", golden, 1280, 900, "", nil},
		{"report of a day", "../../internal/face/web/testdata/day.html", 1280, 900, "", nil},
		{"report of nothing", tooSmall, 1280, 900, "", nil},
		{"dark report", golden, 1280, 900, "", []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}},
		{"report on a telephone", golden, 375, 800, "", nil},
		{"report on paper", golden, 700, 990, "print", nil},
		{"live page", "", 1280, 900, "", nil},
		{"dark live page", "", 1280, 900, "", []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}},
		{"live page on a telephone", "", 375, 800, "", nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := open(t)
			at := ""
			if x.page != "" {
				at = file(t, x.page)
			} else {
				at = serve(t).URL + "/?model=Qwen/Qwen3-32B-FP8&system=h200_sxm&gpus=32"
			}
			p.do(chromedp.EmulateViewport(x.width, x.high), emulation.SetEmulatedMedia().WithMedia(x.media).WithFeatures(x.features), chromedp.Navigate(at))
			if x.page != tooSmall {
				p.await(allDrawn)
			}
			p.await(`!document.body.classList.contains('stale')`)
			p.findings(x.name)
		})
	}
}

// So can what is added to the page: kinds of requests and sessions, pinned answers, the minute that is played, and the view of a contender with its reasons.
func TestAccessViews(t *testing.T) {
	dark := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}
	for _, x := range []struct {
		name        string
		width, high int64
		media       string
		features    []*emulation.MediaFeature
	}{{"light", 1280, 900, "", nil}, {"dark", 1280, 900, "", dark}, {"telephone", 375, 800, "", dark}, {"paper", 800, 1100, "print", nil}} {
		t.Run(x.name, func(t *testing.T) {
			s, p := serve(t), open(t)
			p.do(chromedp.EmulateViewport(x.width, x.high), emulation.SetEmulatedMedia().WithMedia(x.media).WithFeatures(x.features),
				chromedp.Navigate(s.URL+"/?model=a&system=h200_sxm&gpus=8&workload=chat=chat:3&workload=agents=session:system=4000,turns=12,first=900,user=200,output=300,think=5"))
			p.await(sentence + `.includes('8 GPUs') && document.querySelector('#player .lane') !== null`)
			click := func(what string) chromedp.Action {
				return chromedp.Evaluate(`document.querySelector('`+what+`').click()`, nil)
			}
			p.do(click("#pin"), set("#gpus", "32"))
			p.await(sentence + `.includes('32 GPUs')`)
			p.do(click("#pin"), click("#edit"))
			p.await(`document.querySelector('#pins').textContent.includes('gpus: 8 → 32') && !document.querySelector('.old') && !document.body.classList.contains('stale')`)
			p.findings("kinds and pins, " + x.name)
			for _, part := range []string{"kinds", "pins", "player"} {
				p.do(chromedp.Evaluate(`document.querySelector('#`+part+`').scrollIntoView({block: 'center', behavior: 'instant'})`, nil))
				p.shoot(part+"-"+x.name, false)
			}
			if x.media == "print" {
				if got := eval[[]string](p, `[...document.querySelectorAll('.try, .copy, #pins button')].filter(b => b.checkVisibility()).map(b => b.textContent)`); len(got) > 0 {
					t.Errorf("buttons are printed: %q", got)
				}
				return
			}
			p.do(click(`.lead a[href$="--tpot"]`))
			p.await(`document.querySelector('dialog[open] details[open]') !== null`)
			p.findings("view with reasons, " + x.name)
			p.shoot("view-"+x.name, false)
		})
	}
}

// legible reports labels of axes that are small, cover each other or read "-0".
func (p *tab) legible(where string) {
	p.Helper()
	for _, f := range eval[[]string](p, `[...document.querySelectorAll('svg.plot')].flatMap(s => {
		const ticks = [...s.querySelectorAll('.tick')].map(t => ({text: t.textContent, r: t.getBoundingClientRect()})), out = [];
		ticks.forEach((a, i) => {
			if (a.r.height < 9) out.push(a.text + ' is ' + a.r.height + ' pixels high');
			if (/^-0\b/.test(a.text) && !/[1-9]/.test(a.text)) out.push(a.text);
			for (const b of ticks.slice(i + 1)) if (a.r.left < b.r.right && b.r.left < a.r.right && a.r.top + 3 < b.r.bottom && b.r.top + 3 < a.r.bottom) out.push(a.text + ' covers ' + b.text);
		});
		return out;
	})`) {
		p.Errorf("%s: %s", where, f)
	}
}

// On a telephone the answer comes first, the question is a button away, and numbers stand beside their bars.
func TestLiveNarrow(t *testing.T) {
	s, p := serve(t), open(t)
	p.do(chromedp.EmulateViewport(375, 800), chromedp.Navigate(s.URL+"/?model=Qwen/Qwen3-32B-FP8&system=h200_sxm&gpus=32"))
	p.await(sentence + `.includes('Qwen')`)
	if y := eval[float64](p, `document.querySelector('#sentence').getBoundingClientRect().top`); y > 500 {
		t.Errorf("the answer is %g pixels down", y)
	}
	if eval[bool](p, `document.querySelector('#ask').checkVisibility()`) {
		t.Error("the question covers the answer")
	}
	if n := eval[int](p, `[...document.querySelectorAll('.changes tbody td:nth-child(3)')].filter(c => c.getBoundingClientRect().right > 375).length`); n != 0 {
		t.Errorf("%d numbers are beyond the screen", n)
	}
	p.do(press("#edit"))
	p.await(`document.querySelector('#ask').checkVisibility() && document.querySelector('#edit').getAttribute('aria-expanded') === 'true'`)
	p.shoot("live-narrow", false)
}
