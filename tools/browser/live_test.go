package browser

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const sentence = `(document.querySelector('#sentence')?.textContent ?? '')`

func TestLive(t *testing.T) {
	s, p := serve(t), open(t)
	p.do(chromedp.Navigate(s.URL + "/?model=Qwen/Qwen3-32B&system=h200_sxm&system=mi300x&gpus=16&isl=3000&osl=512&ttft=1000&tpot=20"))
	p.await(sentence + `.includes('16 GPUs for Qwen/Qwen3-32B, 20 ms')`)
	p.await(allDrawn)
	if n := eval[int](p, blank); n != 0 {
		t.Errorf("%d charts are blank", n)
	}
	if got := s.last()["systems"]; !reflect.DeepEqual(got, []any{"h200_sxm", "mi300x"}) {
		t.Errorf("systems of the address: got %v", got)
	}
	if got := eval[string](p, `document.querySelector('#command').textContent`); !strings.HasPrefix(got, "plimsoll plan ") {
		t.Errorf("command: got %q", got)
	}
	if got := eval[string](p, `document.querySelector('#announce').textContent`); !strings.Contains(got, "16 GPUs") {
		t.Errorf("announced: got %q", got)
	}
	if !eval[bool](p, `(a => b => a.right <= b.left + 1 && a.top < b.bottom && b.width > 700)(document.querySelector('#ask').getBoundingClientRect())(document.querySelector('.side').getBoundingClientRect())`) {
		t.Error("the question does not stand beside the answer")
	}
	p.shoot("live", false)

	// A slider changes the numbers, soon. The polls of a test are not counted, the page's own clock is.
	p.do(chromedp.Evaluate(`{
		const slider = document.querySelector('[data-slide=tpot] input[type=range]');
		window.began = performance.now();
		new MutationObserver(() => { window.took ??= performance.now() - window.began; }).observe(document.querySelector('#answer'), {childList: true});
		slider.value = Number(slider.value) + 3;
		slider.dispatchEvent(new Event('input', {bubbles: true}));
	}`, nil))
	p.await(sentence + `.includes('GPUs for Qwen/Qwen3-32B') && !` + sentence + `.includes(' 20 ms')`)
	t.Logf("a slider's answer was shown after %.0f ms, 60 of them the hand's rest", eval[float64](p, `window.took`))
	if !eval[bool](p, `location.search.includes('tpot=') && !location.search.includes('tpot=20&')`) {
		t.Error("the address does not follow the slider")
	}
}

// The keyboard alone asks a question: type a model, tab, arrow keys on a slider, Enter.
func TestLiveKeyboard(t *testing.T) {
	s, p := serve(t), open(t)
	p.do(chromedp.Navigate(s.URL))
	p.await(sentence + `.includes('32 GPUs for Qwen/Qwen3-32B, 10 ms')`)
	p.do(chromedp.Focus("#model", chromedp.ByQuery), chromedp.Evaluate(`document.querySelector('#model').select()`, nil),
		chromedp.SendKeys("#model", "deepseek-ai/DeepSeek-V3"+kb.Enter, chromedp.ByQuery))
	p.await(sentence + `.includes('deepseek-ai/DeepSeek-V3')`)
	p.do(chromedp.Focus("[data-slide=gpus] input[type=range]", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight))
	p.await(sentence + `.includes('48 GPUs')`)
	p.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.ArrowUp))
	p.await(sentence + `.includes('49 GPUs')`)
	if got := eval[string](p, `document.activeElement.id`); got != "gpus" {
		t.Errorf("after Tab the focus is on %q", got)
	}
	if n := eval[int](p, `[...document.querySelectorAll('#ask input:not([type=hidden]), #ask select, button')].filter(e =>
		!e.labels?.length && !e.getAttribute('aria-label') && !e.textContent.trim()).length`); n != 0 {
		t.Errorf("%d fields have no name", n)
	}
}

// A preset fills in its lengths and is sent by its name; moving a length gives it up.
func TestLivePreset(t *testing.T) {
	s, p := serve(t), open(t)
	p.do(chromedp.Navigate(s.URL + "/?model=a&system=all&preset=chat&rate=7.5&tpot=30"))
	p.await(sentence + `.includes('for a')`)
	if got := eval[string](p, `document.querySelector('#isl').value + ' ' + document.querySelector('#prefix').value`); got != "1024 512" {
		t.Errorf("lengths of the preset: got %s", got)
	}
	want := []any{map[string]any{"preset": "chat"}}
	if got := s.last(); !reflect.DeepEqual(got["workloads"], want) || got["rate"] != 7.5 || got["gpus"] != nil {
		t.Errorf("request: got %v", got)
	}
	p.do(chromedp.Focus("[data-slide=osl] input[type=range]", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowRight))
	p.await(`location.search.includes('osl=300') && !location.search.includes('preset')`)
}

func TestLiveErrors(t *testing.T) {
	s, p := serve(t), open(t)
	p.do(chromedp.Navigate(s.URL + "/?model=no/such&system=h200_sxm&gpus=8"))
	p.await(`document.querySelector('#model-wrong').textContent === 'model "no/such" is not in the catalog; nearest: Qwen/Qwen3-32B'`)
	if got := eval[string](p, `document.querySelector('#status').textContent`); got != `model "no/such" is not in the catalog; nearest: Qwen/Qwen3-32B` {
		t.Errorf("status: got %q", got)
	}
	if !eval[bool](p, `document.querySelector('#model').getAttribute('aria-invalid') === 'true'`) {
		t.Error("the field is not marked")
	}
	p.shoot("live-error", false)
	p.do(chromedp.SetValue("#model", "Qwen/Qwen3-32B", chromedp.ByQuery), chromedp.Evaluate(`document.querySelector('#model').dispatchEvent(new Event('input'))`, nil))
	p.await(`document.querySelector('#model-wrong').textContent === '' && ` + sentence + `.includes('Qwen')`)
}

// The answer to an earlier question never replaces that to a later one.
func TestLiveOrder(t *testing.T) {
	s, p := serve(t), open(t)
	p.do(chromedp.Navigate(s.URL + "/?model=slow&system=h200_sxm&gpus=8"))
	p.await(`document.querySelectorAll('#engines input').length === 2`)
	p.do(chromedp.Sleep(150*time.Millisecond), chromedp.SetValue("#model", "quick", chromedp.ByQuery),
		chromedp.Evaluate(`document.querySelector('#model').dispatchEvent(new Event('input'))`, nil))
	p.await(sentence + `.includes('quick')`)
	p.do(chromedp.Sleep(900 * time.Millisecond))
	if got := eval[string](p, sentence); !strings.Contains(got, "quick") {
		t.Errorf("after the slow answer: %q", got)
	}
}

// Where nothing fits there is one heading with ways out; a click plans one of them, and Back returns.
func TestLiveWays(t *testing.T) {
	s, p := serve(t), open(t)
	p.do(chromedp.Navigate(s.URL + "/?model=Qwen/Qwen3-32B&system=l40s&gpus=1&isl=1000&osl=200&ttft=2000&tpot=100"))
	p.await(sentence + `.includes('does not fit on 1 × l40s')`)
	if got := eval[string](p, `document.querySelector('.verdict').textContent.trim()`); got != "✗ Does not fit" {
		t.Errorf("verdict: got %q", got)
	}
	if n := eval[int](p, `document.querySelectorAll('.ways .try').length`); n < 3 {
		t.Errorf("%d ways out", n)
	}
	p.shoot("live-small", false)
	p.await(`!document.body.classList.contains('stale')`)
	p.do(chromedp.Click(".ways .try", chromedp.ByQuery))
	p.await(sentence + `.includes('2 GPUs for Qwen/Qwen3-32B, 100 ms')`)
	if got := eval[string](p, `location.search`); !strings.Contains(got, "gpus=2") || !strings.Contains(got, "isl=1000") {
		t.Errorf("address: got %q", got)
	}
	p.do(chromedp.Evaluate(`history.back()`, nil))
	p.await(sentence + `.includes('does not fit') && document.querySelector('#gpus').value === '1'`)
}

// The badge says how certain the answer is, in words and in a colour of its own.
func TestVerdict(t *testing.T) {
	p := open(t)
	p.do(chromedp.Navigate(file(t, golden)))
	if got := eval[string](p, `document.querySelector('.verdict').className + ': ' + document.querySelector('.verdict').textContent.trim()`); !strings.HasPrefix(got, "verdict likely: ◐ Likely that the means meet the limits: 5") {
		t.Errorf("got %q", got)
	}
	if got := eval[string](p, `document.querySelector('.safe').textContent`); !strings.Contains(got, "At 90 % confidence") || !strings.Contains(got, "instead of") {
		t.Errorf("safe choice: got %q", got)
	}
	if n := eval[int](p, `[...document.querySelectorAll('.try')].filter(b => b.getBoundingClientRect().height).length`); n != 0 {
		t.Errorf("%d buttons of the live page are in a file", n)
	}
}

// A long question shows its progress and the answer so far, is joined again after a reload, and ends when it is cancelled; a view of
// the answer so far stays open.
func TestLiveJob(t *testing.T) {
	s, p := serve(t), open(t)
	p.do(chromedp.Navigate(s.URL + "/?model=long&system=h200_sxm&gpus=4096"))
	const progress = `!document.querySelector('#job').hidden && document.querySelector('#job span').textContent === 'comparing: 3 of 8 searches'`
	p.await(progress + ` && document.querySelector('#job progress').value === 3`)
	p.await(sentence + `.includes('as far as it is known') && document.querySelector('#status').textContent.includes('left: a vllm agg')`)
	if got := eval[string](p, `location.hash`); got != "#job=one" {
		t.Errorf("address: %s", got)
	}
	p.shoot("live-job", false)
	p.do(chromedp.Reload())
	p.await(progress)
	s.mu.Lock()
	if s.joined < 2 {
		t.Errorf("joined %d times", s.joined)
	}
	s.mu.Unlock()
	p.await(sentence + `.includes('as far as it is known')`)
	p.do(press(`tr[data-row="4"] a.name`))
	p.await(shown + ` !== ''`)
	p.do(press("#job button"))
	p.await(`document.querySelector('#job').hidden && document.querySelector('#status').textContent === 'cancelled: 3 of 8 searches; left: a vllm agg'`)
	if got := eval[string](p, `location.hash`); got != "#contender-h200_sxm-vllm-agg" {
		t.Errorf("address: %s", got)
	}
}

// A config.json that is pasted and a trace that is chosen go with the request; a name that is no model's offers those like it.
func TestLiveOwn(t *testing.T) {
	s, p := serve(t), open(t)
	p.do(chromedp.Navigate(s.URL + "/?model=mine&system=h200_sxm&gpus=8"))
	p.await(sentence + `.includes('for mine')`)
	p.do(chromedp.Evaluate(`{
		document.querySelector('#own').open = true;
		const box = document.querySelector('#config');
		box.value = '{"hidden_size": 64}';
		box.dispatchEvent(new Event('input'));
		const files = new DataTransfer();
		files.items.add(new File(['{"input_length": 5, "output_length": 6}'], 'a.jsonl'));
		document.querySelector('#trace').files = files.files;
		document.querySelector('#trace').dispatchEvent(new Event('change'));
	}`, nil))
	for i := 0; i < 100; i++ {
		if got := s.last(); reflect.DeepEqual(got["config"], map[string]any{"hidden_size": 64.0}) && reflect.DeepEqual(got["workloads"], []any{map[string]any{"trace_data": `{"input_length": 5, "output_length": 6}`}}) {
			break
		} else if i == 99 {
			t.Errorf("request: got %v", got)
		}
		time.Sleep(100 * time.Millisecond)
	}
	p.do(chromedp.SetValue("#model", "deepseek", chromedp.ByQuery), chromedp.Evaluate(`document.querySelector('#model').dispatchEvent(new Event('input'))`, nil))
	p.await(`document.querySelector('#suggest button')?.textContent.includes('/')`)
	p.do(press("#suggest button"))
	p.await(`document.querySelector('#suggest').hidden && document.querySelector('#model').value.includes('/')`)
}

// Prices of GPUs, energy and an API are part of the question and of its address.
func TestLivePrices(t *testing.T) {
	s, p := serve(t), open(t)
	p.do(chromedp.Navigate(s.URL + "/?model=a&system=h200_sxm&system=l40s&gpus=8&prices=2.5+l40s=1&energy=0&api_in=0.5&api_out=2"))
	p.await(sentence + `.includes('for a')`)
	want := map[string]any{"": 2.5, "l40s": 1.0}
	got := s.last()
	if !reflect.DeepEqual(got["prices"], want) || got["energy_price"] != 0.0 ||
		!reflect.DeepEqual(got["api_price"], map[string]any{"usd_per_million_input_tokens": 0.5, "usd_per_million_output_tokens": 2.0}) {
		t.Errorf("request: got %v", got)
	}
	p.do(chromedp.SetValue("#prices", "3", chromedp.ByQuery), chromedp.Evaluate(`document.querySelector('#prices').dispatchEvent(new Event('input'))`, nil))
	p.await(`location.search.includes('prices=3')`)
}

// The files of any contender, its row as CSV, and the question of a saved plan.
func TestLiveOpen(t *testing.T) {
	s, p := serve(t), open(t)
	p.do(chromedp.Navigate(s.URL + "/?model=Qwen/Qwen3-32B-FP8&system=h200_sxm&gpus=32"))
	p.await(allDrawn)
	p.do(press("tbody tr:nth-child(2) [data-files]"))
	for i := 0; i < 100 && s.last()["contender"] == nil; i++ {
		time.Sleep(100 * time.Millisecond)
	}
	if got, want := s.last()["contender"], eval[string](p, `JSON.parse(document.querySelector('#record').textContent).contenders[1].name`); got != want {
		t.Errorf("files of %v, want %s", got, want)
	}
	if n := eval[int](p, `document.querySelectorAll('section[aria-labelledby=picture] svg.picture .fill').length`); n != 32 {
		t.Errorf("%d GPUs in the picture", n)
	}
	p.do(chromedp.Evaluate(`{
		const plan = JSON.parse(document.querySelector('#record').textContent);
		plan.request.gpus = 64;
		plan.request.model = 'opened';
		const files = new DataTransfer();
		files.items.add(new File([JSON.stringify(plan)], 'plan.json'));
		document.querySelector('#opened').files = files.files;
		document.querySelector('#opened').dispatchEvent(new Event('change'));
	}`, nil))
	p.await(sentence + `.includes('64 GPUs for opened')`)
	p.shoot("live-open", true)
}
