package web_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/basic/golden"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/web"
	opsplan "github.com/plimsoll-project/plimsoll/internal/ops/plan"
)

// plan is a record that the tests show: of plan.json, GPUs that are given; of day.json, a load over a day.
func plan(t testing.TB, name string) *opsplan.Response {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	p := &opsplan.Response{}
	if err := json.Unmarshal(data, p); err != nil {
		t.Fatal(err)
	}
	return p
}

func report(t testing.TB, p *opsplan.Response) string {
	t.Helper()
	var b bytes.Buffer
	if err := web.Report(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func markdown(t testing.TB, p *opsplan.Response) string {
	t.Helper()
	var b bytes.Buffer
	if err := web.Markdown(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReport(t *testing.T) {
	for _, name := range []string{"plan", "day", "small"} {
		p := plan(t, name)
		html := report(t, p)
		golden.Check(t, "testdata/"+name+".html", []byte(html))
		golden.Check(t, "testdata/"+name+".md", []byte(markdown(t, p)))
		wellFormed(t, html)
	}
}

// TestReportExplainsAll: a report has the reasons of every contender that the record has, with operators and neighbours.
func TestReportExplainsAll(t *testing.T) {
	p := plan(t, "plan")
	_, steps := p.Reasons(0)
	other := *p.Why
	other.Steps = steps
	other.Nearest = []calibration.Nearest{{Deployment: "TP 2 DP 1 of a/b on c under d 1.0", Rows: 25, Source: "somebody's rows", Nearness: 0.5, Kernels: 1.25, Prompts: 0.9}}
	p.Contenders[1].Why = &other
	html := report(t, p)
	_, view, _ := strings.Cut(html, `<dialog class="detail" id="contender-h200_sxm-sglang-disagg"`)
	view, _, _ = strings.Cut(view, "</dialog>")
	for _, want := range []string{`id="contender-h200_sxm-sglang-disagg--tpot"`, "fp8_linear", "TP 2 DP 1 of a/b on c under d 1.0", "× 1.25", "somebody&#39;s rows"} {
		if !strings.Contains(view, want) {
			t.Errorf("the view has no %s", want)
		}
	}
	if strings.Contains(view, "A plan of this contender alone explains") {
		t.Error("the view asks for another plan")
	}
	wellFormed(t, html)
}

// TestEveryFigureExplained: each figure of the answer and of the first contender's view leads to what is behind it.
func TestEveryFigureExplained(t *testing.T) {
	for _, name := range []string{"plan", "day"} {
		html := report(t, plan(t, name))
		first, _, _ := strings.Cut(html, "</dialog>")
		names := regexp.MustCompile(`<dt>(.*?)</dt>`).FindAllStringSubmatch(first, -1)
		if len(names) < 15 {
			t.Errorf("%s: %d figures", name, len(names))
		}
		for _, m := range names {
			_, why, _ := strings.Cut(m[1], `href="#`)
			id, _, _ := strings.Cut(why, `"`)
			if why == "" || !strings.Contains(first, `<details class="because" id="`+id+`"`) {
				t.Errorf("%s: nothing is behind %s", name, m[1])
			}
		}
	}
}

// TestRecordInPage: the record in a page has the digits of the document.
func TestRecordInPage(t *testing.T) {
	p := plan(t, "plan")
	p.Contenders[0].Tokens.Value = 1234.567890123456
	want, err := document.Compact(p)
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(report(t, p), `id="record">`)
	got, _, _ := strings.Cut(page, "</script>")
	if !strings.Contains(got, ":1234.56789,") || strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(got) != string(want) {
		t.Errorf("%d bytes in the page, %d in the document", len(got), len(want))
	}
}

// A report loads nothing: it names no address that a browser would follow.
func TestReportStandsAlone(t *testing.T) {
	html := report(t, plan(t, "plan"))
	for _, scheme := range []string{"http://", "https://", "url(", "@import", "src="} {
		if at := strings.Index(html, scheme); at >= 0 {
			t.Errorf("%q in %q", scheme, html[max(0, at-60):min(len(html), at+60)])
		}
	}
}

// Words of the data stay words, in every place they are shown at.
func TestEscaping(t *testing.T) {
	const bad = `</script><script>alert("1")</script><img src=x onerror='alert(2)'>`
	p := plan(t, "day")
	p.Model, p.Version, p.Schema, p.Command, p.Caution, p.RankedBy = bad, bad, bad, bad, bad, bad
	p.Answer = opsplan.Answer{Sentence: bad + ". " + bad, Reason: bad}
	p.Notes, p.Data = []string{bad}, []opsplan.Data{{Path: bad, SHA256: bad}}
	p.Next = []opsplan.Next{{What: bad, Command: bad}}
	p.NotRun = []opsplan.NotRun{{System: bad, Engine: bad, Mode: bad, Reason: bad}}
	for i := range p.Contenders {
		c := &p.Contenders[i]
		c.Name, c.System, c.Engine, c.EngineTitle, c.Mode, c.Deployment, c.BoundBy, c.Tier, c.Basis = bad, bad, bad, bad, bad, bad, bad, bad, bad
	}
	for i := range p.Changes {
		c := &p.Changes[i]
		c.What, c.Command, c.Failure, c.Deployment = bad, bad, bad, bad
	}
	for i := range p.Workloads {
		p.Workloads[i].Name, p.Workloads[i].Source = bad, bad
	}
	for i := range p.Pools {
		p.Pools[i].Role, p.Pools[i].Memory.ShareOf = bad, bad
		for j := range p.Pools[i].Steps {
			s := &p.Pools[i].Steps[j]
			s.Phase = bad
			for k := range s.Operators {
				s.Operators[k].Name, s.Operators[k].Bound = bad, bad
			}
		}
	}
	html := report(t, p)
	wellFormed(t, html)
	own := strings.Count(report(t, plan(t, "day")), "<script")
	if got := strings.Count(html, "<script"); got != own {
		t.Errorf("want %d scripts, got %d", own, got)
	}
	if strings.Contains(html, "<img") {
		t.Error("a picture of the data's making")
	}
	if md := markdown(t, p); strings.Contains(strings.ReplaceAll(md, "```sh\n"+bad, ""), "<script>") {
		t.Error("a script in Markdown, outside of code")
	}
}

func BenchmarkReport(b *testing.B) {
	p := plan(b, "plan")
	for b.Loop() {
		report(b, p)
	}
}
