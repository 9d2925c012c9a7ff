package browser

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// asked waits until the server was asked for workloads.
func (s *server) asked(t *testing.T, name, want string) {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(want), &value); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if reflect.DeepEqual(s.last()[name], value) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	got, _ := json.Marshal(s.last()[name])
	t.Fatalf("%s: want %s, got %s", name, want, got)
}

// set types a value into a field.
func set(id, value string) chromedp.Action {
	return chromedp.Evaluate(`{ const e = document.querySelector('`+id+`'); e.focus(); e.value = '`+value+`'; e.dispatchEvent(new Event('input', {bubbles: true})); }`, nil)
}

// Several kinds of requests are edited on the page, by keys, and are part of its address.
func TestLiveKinds(t *testing.T) {
	s, p := serve(t), open(t)
	p.do(chromedp.Navigate(s.URL + "/?model=a&system=h200_sxm&rate=7&isl=900&osl=80&tpot=30"))
	p.await(sentence + `.includes('for a')`)
	p.do(chromedp.Focus("#add-kind", chromedp.ByQuery), chromedp.KeyEvent(kb.Enter))
	s.asked(t, "workloads", `[{"name":"first","isl":900,"osl":80},{"name":"other","isl":1024,"osl":256}]`)
	if eval[bool](p, `document.querySelector('#isl').checkVisibility()`) {
		t.Error("the lengths of one kind are shown beside the kinds")
	}
	p.do(set("#kind-1-share", "3"), set("#kind-1-of", "chat"))
	s.asked(t, "workloads", `[{"name":"first","isl":900,"osl":80},{"name":"other","share":3,"preset":"chat"}]`)
	p.do(press("#add-session"))
	p.do(set("#kind-2-name", "agents"), set("#kind-2-turns", "12"), set("#kind-2-think_s", "4"))
	const want = `[{"name":"first","isl":900,"osl":80},{"name":"other","share":3,"preset":"chat"},
		{"name":"agents","session":{"system":5072,"turns":12,"first":3916,"user":120,"output":202,"length_ratio_low":0.8,"think_s":4}}]`
	s.asked(t, "workloads", want)
	if !eval[bool](p, `document.querySelector('#talks').checkVisibility()`) {
		t.Error("the page does not say that rates are of sessions")
	}
	p.await(`!document.querySelector('.old') && !document.body.classList.contains('stale')`)
	p.shoot("live-kinds", true)
	p.findings("kinds")

	// The address has them.
	p.do(chromedp.Reload())
	p.await(sentence + `.includes('for a') && document.querySelectorAll('.kind').length === 3`)
	s.asked(t, "workloads", want)
	p.do(chromedp.EmulateViewport(375, 800), press("#edit"))
	if got := eval[int](p, `document.documentElement.scrollWidth`); got > 375 {
		t.Errorf("the page is %d pixels wide on a telephone", got)
	}
	p.shoot("live-kinds-narrow", true)

	// Without kinds the fields for one apply again.
	for range 3 {
		p.do(press("#kind-0 button"))
	}
	s.asked(t, "workloads", `[{"isl":3000,"osl":512}]`)
}

// A plan that is opened asks all of its question: every workload, and what the page has no control for.
func TestLiveOpenAll(t *testing.T) {
	s, p := serve(t), open(t)
	p.do(chromedp.Navigate(s.URL + "/?model=a&system=h200_sxm&gpus=8"))
	p.await(sentence + `.includes('for a')`)
	const workloads = `[{"name":"chat","share":3,"preset":"chat"},{"name":"w2","share":1,"input_distribution":{"bins":[1]},"osl":9},{"name":"s","share":2,"session":{"system":0,"turns":5,"min_turns":2,"first":9,"user":8,"output":7}}]`
	p.do(chromedp.Evaluate(`{
		const plan = {schema: 'plimsoll/plan/9', request: {model: 'opened', systems: ['l40s'], rate: 3, arrival: 'gamma', arrival_variation: 3, spare: 2, utilization: 0.8, workloads: `+workloads+`,
			limits: {latency_ms: 9000}, percentile: 99.5, routing: 'prefix', host_cache: {gib: 64, gb_per_s: 20}, draft: 'auto', engine_preset: 'x', formats: {kv: 'fp8', linear: 'W8A8'}, energy_price: 0.08}};
		const files = new DataTransfer();
		files.items.add(new File([JSON.stringify(plan)], 'plan.json'));
		document.querySelector('#opened').files = files.files;
		document.querySelector('#opened').dispatchEvent(new Event('change'));
	}`, nil))
	check := func() {
		t.Helper()
		p.await(sentence + `.includes('for opened')`)
		s.asked(t, "workloads", workloads)
		for name, want := range map[string]string{
			"arrival": `"gamma"`, "arrival_variation": "3", "spare": "2", "utilization": "0.8", "limits": `{"latency_ms":9000}`, "percentile": "99.5", "routing": `"prefix"`, "host_cache": `{"gib":64,"gb_per_s":20}`, "draft": `"auto"`,
			"engine_preset": `"x"`, "formats": `{"kv":"fp8","linear":"W8A8"}`,
		} {
			s.asked(t, name, want)
		}
	}
	check()
	p.do(chromedp.Reload())
	check()
	p.do(press("#forget-more"))
	s.asked(t, "engine_preset", "null")

	// Throughput alone.
	p.do(press("#no_limits"))
	s.asked(t, "no_limits", "true")
	s.asked(t, "limits", "null")
}

// Arrivals without a control stay while there is a load, and go with it.
func TestLiveOpenConstant(t *testing.T) {
	s, p := serve(t), open(t)
	p.do(chromedp.Navigate(s.URL + "/?model=a&system=h200_sxm&gpus=8"))
	p.await(sentence + `.includes('for a')`)
	p.do(chromedp.Evaluate(`{
		const plan = {schema: 'plimsoll/plan/9', request: {model: 'opened', systems: ['l40s'], rate: 3, arrival: 'constant', workloads: [{isl: 9, osl: 8}]}};
		const files = new DataTransfer();
		files.items.add(new File([JSON.stringify(plan)], 'plan.json'));
		document.querySelector('#opened').files = files.files;
		document.querySelector('#opened').dispatchEvent(new Event('change'));
	}`, nil))
	p.await(sentence + `.includes('for opened')`)
	s.asked(t, "arrival", `"constant"`)
	p.do(press(`#have input[value=gpus]`))
	s.asked(t, "arrival", "null")
}
