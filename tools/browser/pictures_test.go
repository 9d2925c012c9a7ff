package browser

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// What the pictures of docs/pages.md show; they are written if pictures are requested.
func TestPictures(t *testing.T) {
	p := open(t)
	p.do(chromedp.EmulateViewport(1280, 820), chromedp.Navigate(file(t, golden)))
	p.await(allDrawn)
	p.shoot("pages-report", false)

	dark := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}
	p.do(emulation.SetEmulatedMedia().WithFeatures(dark), chromedp.Navigate(file(t, golden)))
	p.await(allDrawn)
	p.do(chromedp.Evaluate(`document.querySelector('#curves').scrollIntoView({behavior: 'instant'})`, nil), hover("#load-tpot .u-over", 0))
	p.await(`document.querySelector('#load-tpot .tip').hidden === false`)
	p.shoot("pages-dark", false)

	s := serve(t)
	p.do(emulation.SetEmulatedMedia(), chromedp.EmulateViewport(1280, 800),
		chromedp.Navigate(s.URL+"/?model=Qwen/Qwen3-32B-FP8&system=h200_sxm&system=l40s&gpus=32&isl=3000&osl=512&ttft=1000&tpot=10"))
	p.await(sentence + `.includes('Qwen3-32B-FP8')`)
	p.await(`!document.body.classList.contains('stale')`)
	p.shoot("pages-live", false)
}
