package browser

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "write pictures of the pages to this folder")

// patience is what a page has for everything asked of it, on a busy machine.
const patience = 3 * time.Minute

// chrome finds a browser or skips the test, loudly.
func chrome(t *testing.T) string {
	t.Helper()
	names := []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}
	if given := os.Getenv("CHROME"); given != "" {
		names = []string{given}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const words = "*** NO BROWSER FOUND: THE PAGES ARE NOT TESTED IN ONE. Install chromium, or set CHROME. ***"
	fmt.Fprintln(os.Stderr, words)
	t.Skip(words)
	return ""
}

// tab is a page of a browser of its own. It notes what goes wrong.
type tab struct {
	*testing.T

	ctx context.Context

	mu    sync.Mutex
	wrong []string
	asked []string
}

// open starts a browser. What its page logs as an error, throws or requests from another host than this machine fails the test.
func open(t *testing.T) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chrome(t)), chromedp.UserDataDir(profile(t)), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("headless", true), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.WSURLReadTimeout(patience), chromedp.WindowSize(1280, 900))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, closing := chromedp.NewContext(ctx, chromedp.WithErrorf(func(format string, args ...any) {
		if !strings.HasPrefix(format, "unhandled") { // events of browsers newer than the library
			fmt.Fprintf(os.Stderr, format+"\n", args...)
		}
	}))
	t.Cleanup(closing)
	p := &tab{T: t, ctx: ctx}
	chromedp.ListenTarget(ctx, p.listen)
	p.do(network.Enable(), runtime.Enable(), log.Enable())
	t.Cleanup(p.check)
	return p
}

// profile is an empty folder. The browser may still write to it when the test is over, which is no failure.
func profile(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "plimsoll-browser-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (p *tab) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.wrong = append(p.wrong, "exception: "+e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			p.wrong = append(p.wrong, fmt.Sprintf("console: %s", e.Args[0].Value))
		}
	case *log.EventEntryAdded: // what the policy of the page forbids is here; refusals of the API are too
		if e.Entry.Level == log.LevelError && e.Entry.Source != log.SourceNetwork {
			p.wrong = append(p.wrong, "log: "+e.Entry.Text)
		}
	case *network.EventRequestWillBeSent:
		p.asked = append(p.asked, e.Request.URL)
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Scheme != "file" && u.Scheme != "data" && u.Scheme != "blob" && u.Hostname() != "127.0.0.1" {
			p.wrong = append(p.wrong, "a request leaves this machine: "+e.Request.URL)
		}
	}
}

func (p *tab) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.wrong {
		p.Error(w)
	}
}

func (p *tab) do(actions ...chromedp.Action) {
	p.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

// eval is what an expression of JavaScript gives.
func eval[T any](p *tab, expression string) (out T) {
	p.Helper()
	p.do(chromedp.Evaluate(expression, &out))
	return out
}

// await waits until an expression is true. A page that is loaded again may be gone while it is asked.
func (p *tab) await(expression string) {
	p.Helper()
	const tries = 5
	for i := 1; ; i++ {
		err := chromedp.Run(p.ctx, chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(time.Minute)))
		if err == nil {
			return
		}
		if i == tries || !strings.Contains(err.Error(), "-32000") {
			p.Fatalf("%s: %v", expression, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// shoot writes a picture if pictures are requested.
func (p *tab) shoot(name string, full bool) {
	p.Helper()
	if *screenshots == "" {
		return
	}
	var picture []byte
	action := chromedp.CaptureScreenshot(&picture)
	if full {
		action = chromedp.FullScreenshot(&picture, 100)
	}
	p.do(chromedp.Sleep(200*time.Millisecond), action)
	p.keep(name+".png", picture)
}

func (p *tab) keep(name string, data []byte) {
	p.Helper()
	if *screenshots == "" {
		return
	}
	if err := os.MkdirAll(*screenshots, 0o777); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*screenshots, name), data, 0o666); err != nil {
		p.Fatal(err)
	}
}

// file is the address of a file.
func file(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return "file://" + strings.ReplaceAll(full, " ", "%20")
}
