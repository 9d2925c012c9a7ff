package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// english lists what is shown that has two English words beside each other and nothing Chinese: names and sources are in English everywhere.
const english = `(() => {
	const out = new Set(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		const e = texts.currentNode.parentElement, text = texts.currentNode.textContent.replace(/\s+/g, ' ').trim();
		if (e.closest('script, style, code, pre, noscript, #systems, [lang=en], .basis') || /[\u4e00-\u9fff]/.test(text) || !/[a-z]{3,} [a-z]{3,}/.test(text) || /^(of )?\w+ (vllm|sglang|trtllm) (dis)?agg$/.test(text)) continue;
		out.add(text.slice(0, 120));
	}
	return [...out];
})()`

// The page speaks Chinese where the address, the last choice or the browser asks for it; numbers and units stay.
func TestLiveChinese(t *testing.T) {
	s, p := serve(t), open(t)
	at := s.URL + "/?model=Qwen/Qwen3-32B-FP8&system=h200_sxm&gpus=32"
	p.do(chromedp.Navigate(at + "&lang=zh"))
	p.await(allDrawn)
	p.await(`document.documentElement.lang === 'zh' && document.querySelector('#pin').textContent === '固定此答案'`)
	p.await(sentence + `.includes('每秒 41.3 个请求')`)
	const want = "运行 vLLM v1，预填充与解码在不同 worker 上：2 × (4 prefill of one GPU, 3 decode of TP=4)。成本约为每百万输出 token $4.23，每月 $234,629。"
	if got := eval[string](p, `document.querySelector('.further').textContent.trim()`); got != want {
		t.Errorf("want %s, got %s", want, got)
	}
	for _, text := range eval[[]string](p, english) {
		t.Errorf("not in Chinese: %s", text)
	}
	if got := eval[string](p, `document.querySelector('[data-slide=tpot]').innerText + document.querySelector('.figures').innerText`); !strings.Contains(got, "每输出 token 时间，ms") || !strings.Contains(got, "660") {
		t.Errorf("got %s", got)
	}
	if got := eval[string](p, `location.search`); !strings.Contains(got, "lang=zh") {
		t.Errorf("the address forgets the language: %s", got)
	}
	p.await(`!document.querySelector('.old') && !document.body.classList.contains('stale')`)
	p.findings("Chinese")
	p.shoot("live-chinese", false)

	// A button changes it, and it is remembered.
	change := func(to string) {
		p.do(press("#language"))
		for range 100 { // the page is another one, and may be gone while it is asked
			lang := ""
			if err := chromedp.Run(p.ctx, chromedp.Evaluate(`document.readyState === 'complete' && location.search.includes('lang=`+to+`') ? document.documentElement.lang : ''`, &lang)); err == nil && lang == to {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatalf("the page is not in %s", to)
	}
	change("en")
	p.await(`document.querySelector('#pin').textContent === 'Pin this answer' && ` + sentence + `.includes('requests per second')`)
	change("zh")
	p.do(chromedp.Navigate(at))
	p.await(`document.documentElement.lang === 'zh'`)

	// A browser in Chinese gets Chinese.
	q := open(t)
	q.do(emulation.SetLocaleOverride().WithLocale("zh-CN"), emulation.SetUserAgentOverride("test").WithAcceptLanguage("zh-CN"), chromedp.Navigate(at))
	q.await(`document.documentElement.lang === 'zh' && document.querySelector('#pin').textContent === '固定此答案'`)
}
