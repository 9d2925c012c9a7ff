package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// english lists what is shown that has two English words beside each other and nothing Chinese, or three in a Chinese text. Names of models,
// contenders and sources are the same in all languages.
const english = `(() => {
	const out = new Set(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	const take = (shown) => {
		const text = shown.replace(/\w+ (vllm|sglang|trtllm) (dis)?agg/g, '');
		if (!/[a-z]{3,},? [a-z]{2,}/.test(text) || (/[\u4e00-\u9fff]/.test(text) && !/[a-z]{3,},? [a-z]{2,},? [a-z]{2,}/.test(text))) return;
		out.add(text.slice(0, 200));
	};
	while (texts.nextNode()) {
		const e = texts.currentNode.parentElement;
		if (!e.closest('script, style, code, pre, noscript, #systems, [lang=en]')) take(texts.currentNode.textContent.replace(/\s+/g, ' ').trim());
	}
	for (const e of document.querySelectorAll('*')) for (const a of ['aria-label', 'placeholder', 'title', 'data-tip']) take(e.getAttribute(a) ?? '');
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
	const want = "运行 vLLM v1，预填充与解码在不同 worker 上：2 ×（4 个 单 GPU 预填充 worker，3 个 TP=4 解码 worker）。成本约为每百万输出 token $4.23，每月 $234,629。"
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

// A report is in Chinese where its address, the last choice or the browser asks for it, without a server: its answer, reasons, notes and what would help.
func TestReportChinese(t *testing.T) {
	for page, want := range map[string]string{golden: "每秒 41.3 个请求", "../../internal/face/web/testdata/day.html": "每秒", tooSmall: "放不进"} {
		p := open(t)
		p.do(chromedp.Navigate(file(t, page) + "?lang=zh"))
		p.await(`document.documentElement.lang === 'zh' && ` + sentence + `.includes('` + want + `')`)
		if page != tooSmall {
			p.await(allDrawn)
		}
		for _, text := range eval[[]string](p, english) {
			t.Errorf("%s: not in Chinese: %s", page, text)
		}
		if all := eval[string](p, `document.body.textContent`); page == golden && (!strings.Contains(all, "216 个请求进行中") || !strings.Contains(all, "32 个 GPU，每小时 10 USD，合每小时 320 USD。") || !strings.Contains(all, "矩阵运算")) {
			t.Error("the reasons are not in Chinese")
		}
		p.findings("Chinese " + page)
		p.shoot("report-chinese", true)
	}
}

// What the server refuses is said in Chinese too, beside its field.
func TestLiveChineseErrors(t *testing.T) {
	s, p := serve(t), open(t)
	p.do(chromedp.Navigate(s.URL + "/?model=no/such&system=h200_sxm&gpus=32&lang=zh"))
	p.await(`document.querySelector('#model-wrong').textContent.includes('目录中没有模型 "no/such"，相近的有：Qwen/Qwen3-32B')`)
	p.await(`document.querySelector('#status').textContent.includes('目录中没有模型')`)
}
