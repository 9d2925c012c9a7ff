package browser

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestSite: the documentation's pages load without an error or another host, the search finds and leads to a heading, colours
// change and stay on the next page, and the versions are offered.
func TestSite(t *testing.T) {
	chrome(t)
	out := t.TempDir()
	run := []string{"run", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w", "../site", "-parts", "../site", "-root", "../..", "-out", out, "-name"} // compiled as make test does
	for _, name := range []string{"v0", "dev"} {
		if text, err := exec.CommandContext(t.Context(), "go", append(run, name)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	p := open(t)
	p.do(chromedp.Navigate(file(t, filepath.Join(out, "dev/docs/plan.html"))))
	p.await(`document.querySelectorAll('#version option').length === 2`)
	p.shoot("site-light", false)
	p.do(chromedp.SendKeys("#search", "Indexed Job", chromedp.ByID))
	p.await(`document.querySelector('#found a')?.href.includes('sweep.html')`)
	p.do(chromedp.Click("#theme", chromedp.ByID))
	p.await(`document.documentElement.dataset.theme === 'dark' && getComputedStyle(document.body).backgroundColor === 'rgb(20, 23, 27)'`)
	p.shoot("site-search-dark", false)
	link := eval[string](p, `document.querySelector('#found a').href`)
	p.do(chromedp.Navigate(link)) // a click leaves the page while the next action may still ask it
	p.await(`location.href.includes('sweep.html') && document.documentElement.dataset.theme === 'dark'`)
	if got := eval[string](p, `document.querySelector('nav [aria-current]').getAttribute('href')`); got != "../docs/sweep.html" {
		t.Errorf("the navigation shows %q", got)
	}
	if wide := eval[bool](p, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("the page is wider than the window")
	}
}
