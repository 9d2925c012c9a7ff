package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	coststep "github.com/plimsoll-project/plimsoll/internal/cost/step"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/face/operation"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/ops/support"
	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// An agent pays for every word of an answer, so that answers are brief unless it asks for "detail": "full", which gives the
// document of the operation as all other interfaces have it.

// detail is how much of an answer is wanted.
type detail string

const (
	detailField  = "detail"
	detailBrief  = detail("summary")
	detailFull   = detail("full")
	shownOthers  = 4   // contenders or rows beside the best
	shownChanges = 5   // what would change the answer
	shownNotes   = 3   // notes, or what cannot be run
	shownText    = 240 // bytes of a note
	shownOps     = 12  // operators of a step
)

// shownEntries is the number of models or devices on a page.
const shownEntries = 20

// briefed are the tools whose answers have a summary.
func briefed() []string {
	return []string{"models", "devices", "plan", "optimize", "explain", "step", "support"}
}

// detailed takes the detail out of arguments.
func detailed(arguments json.RawMessage) (detail, json.RawMessage, error) {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(arguments, &all) // what is wrong is said by whoever reads the arguments
	if all[detailField] == nil {
		return detailBrief, arguments, nil
	}
	var want detail
	if err := json.Unmarshal(all[detailField], &want); err != nil || want != detailBrief && want != detailFull {
		return "", nil, document.Wrong(fmt.Sprintf("%s must be %s or %s, got %s", detailField, detailBrief, detailFull, all[detailField]), detailField)
	}
	delete(all, detailField)
	rest, err := json.Marshal(all)
	return want, rest, err
}

// brief is an answer in few words; documents that are short already are as they are.
func brief(doc any, uri string) any {
	switch d := doc.(type) {
	case *plan.Response:
		return briefPlan(d, uri)
	case *optimize.Response:
		return briefSearches(d)
	case *support.Response:
		return briefSupport(d)
	case *operation.Devices:
		return briefDevices(d)
	case *step.Response:
		return briefStep(d)
	}
	return doc
}

// number is a figure to four digits.
type number float64

// MarshalJSON writes it.
func (n number) MarshalJSON() ([]byte, error) {
	f, err := strconv.ParseFloat(strconv.FormatFloat(float64(n), 'g', 4, 64), 64)
	if err != nil {
		return nil, err
	}
	return json.Marshal(f)
}

// interval is a figure with its 80 % interval: value, low, high.
type interval []number

// of is the interval of an estimate, nil where there is none.
func of(r *figures.Estimate) interval {
	if r == nil {
		return nil
	}
	return interval{number(r.Value), number(r.Low), number(r.High)}
}

// record is the figures of a deployment, in few words.
type record struct {
	Tokens      interval `json:"tokens_per_second"`
	RequestRate interval `json:"request_rate"`
	TTFT        interval `json:"ttft_ms,omitempty"`
	TPOT        interval `json:"tpot_ms,omitempty"`
	Statistic   string   `json:"times_are"`
	Chance      *number  `json:"chance_within_limits,omitempty"`
}

func recordOf(r *figures.Record) record {
	return record{of(&r.Tokens), of(&r.RequestRate), of(r.Judged.TTFT), of(r.Judged.TPOT), r.Judged.Statistic, (*number)(r.Judged.Chance)}
}

// planSummary is a plan in few words.
type planSummary struct {
	Command    string             `json:"command"`
	Answer     plan.Answer        `json:"answer"`
	RankedBy   plan.RankedBy      `json:"ranked_by"`
	Columns    string             `json:"intervals"`
	Contenders []contenderSummary `json:"contenders"`
	Others     int                `json:"more_contenders,omitempty"`
	NotRun     []string           `json:"not_run,omitempty"`
	NotShown   int                `json:"more_not_run,omitempty"`
	Changes    []changeSummary    `json:"changes,omitempty"`
	More       int                `json:"more_changes,omitempty"`
	Schedule   *scheduleSummary   `json:"schedule,omitempty"`
	Notes      []string           `json:"notes,omitempty"`
	Record     string             `json:"record"`
	Caution    string             `json:"caution"`
}

type contenderSummary struct {
	Name        string `json:"name"`
	Deployment  string `json:"in_words"`
	GPUs        int    `json:"gpus_used"`
	Meets       bool   `json:"meets_limits"`
	Concurrency int    `json:"concurrency"`
	Batch       int    `json:"batch_size"`
	record
	PerMillion *number `json:"usd_per_million_output_tokens,omitempty"`
	PerMonth   *number `json:"usd_per_month,omitempty"`
	Load       *number `json:"load,omitempty"`
}

type changeSummary struct {
	What        string  `json:"what"`
	Ratio       *number `json:"ratio,omitempty"`
	WithinError bool    `json:"within_error,omitempty"`
	Failure     string  `json:"failure,omitempty"`
}

type scheduleSummary struct {
	Mean  number `json:"mean_gpus"`
	Peak  int    `json:"peak_gpus"`
	Saved number `json:"saved_gpu_hours_per_day"`
}

func briefPlan(p *plan.Response, uri string) *planSummary {
	out := &planSummary{
		Command: p.Command, Answer: p.Answer, RankedBy: p.RankedBy, Columns: "value, low, high (80 %)",
		Contenders: []contenderSummary{}, Notes: some(p.Notes), Record: uri, Caution: p.Caution,
	}
	for i := range p.Contenders[:min(len(p.Contenders), 1+shownOthers)] {
		c := &p.Contenders[i]
		s := contenderSummary{
			Name: c.Name, Deployment: c.Deployment, GPUs: c.GPUs, Meets: c.Meets,
			Concurrency: c.Concurrency, Batch: c.Batch, record: recordOf(&c.Record), Load: (*number)(c.Load),
		}
		if c.Cost != nil {
			s.PerMillion, s.PerMonth = new(number(c.Cost.PerMillion.Value)), new(number(c.Cost.PerMonth))
		}
		out.Contenders = append(out.Contenders, s)
	}
	out.Others = len(p.Contenders) - len(out.Contenders)
	for _, n := range p.NotRun[:min(len(p.NotRun), shownNotes)] {
		out.NotRun = append(out.NotRun, cut(strings.Join(strings.Fields(n.System+" "+n.Engine+" "+n.Mode), " ")+": "+n.Reason))
	}
	out.NotShown = len(p.NotRun) - len(out.NotRun)
	for i := range p.Changes[:min(len(p.Changes), shownChanges)] {
		c := &p.Changes[i]
		out.Changes = append(out.Changes, changeSummary{c.What, (*number)(c.Ratio), c.WithinError, cut(c.Failure)})
	}
	out.More = len(p.Changes) - len(out.Changes)
	if d := p.Day; d != nil {
		out.Schedule = &scheduleSummary{number(d.Mean), slices.Max(d.GPUs), number(d.SavedHours)}
	}
	return out
}

// some are the first notes.
func some(notes []string) []string {
	var out []string
	for _, n := range notes[:min(len(notes), shownNotes)] {
		out = append(out, cut(n))
	}
	return out
}

// cut is the beginning of a text.
func cut(text string) string {
	if len(text) <= shownText {
		return text
	}
	text = text[:shownText]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text + "…"
}

// searchesSummary is a search in few words.
type searchesSummary struct {
	Command      string                 `json:"command,omitempty"`
	Mode         string                 `json:"mode"`
	Devices      []deviceSearches       `json:"devices"`
	Explanations []optimize.Explanation `json:"explanations,omitempty"`
	Notes        []string               `json:"notes,omitempty"`
	Caution      string                 `json:"caution"`
}

type deviceSearches struct {
	Device   string          `json:"device"`
	Searches []searchSummary `json:"passes"`
	Ratio    *ratioSummary   `json:"ratio,omitempty"`
}

type searchSummary struct {
	Phase    string              `json:"phase"`
	By       optimize.Evaluation `json:"evaluation"`
	Compiled bool                `json:"compiled"`
	Devices  int                 `json:"num_devices"`
	Best     *rowSummary         `json:"best"`
	Next     []rowSummary        `json:"next,omitempty"`
	Others   int                 `json:"more_rows,omitempty"`
	Rejected int                 `json:"rejected_candidates,omitempty"`
	Safe     *optimize.Safe      `json:"safe_choice,omitempty"`
	Nearest  *session.Limits     `json:"nearest_limits,omitempty"`
	Helps    []optimize.Help     `json:"what_would_help,omitempty"`
	Notes    []string            `json:"notes,omitempty"`
}

type rowSummary struct {
	Layout      string `json:"parallel"`
	Batch       int    `json:"batch_size"`
	Concurrency int    `json:"concurrency"`
	PerDevice   number `json:"tokens_per_second_gpu"`
	BoundBy     string `json:"bound_by"`
	record
}

type ratioSummary struct {
	Ratio     number              `json:"pd_ratio"`
	Balanced  number              `json:"balanced_qps"`
	Prefill   rowSummary          `json:"prefill"`
	Decode    rowSummary          `json:"decode"`
	Instances *optimize.Instances `json:"instances,omitempty"`
}

func briefSearches(r *optimize.Response) *searchesSummary {
	out := &searchesSummary{Command: r.Command, Mode: r.Mode, Devices: []deviceSearches{}, Explanations: r.Explanations, Notes: some(r.Notes), Caution: r.Caution}
	for i := range r.Devices {
		d := &r.Devices[i]
		one := deviceSearches{Device: d.Name, Searches: []searchSummary{}}
		for k := range d.Searches {
			one.Searches = append(one.Searches, briefSearch(&d.Searches[k]))
		}
		if d.Ratio != nil && len(d.Ratio.Pairs) > 0 {
			p := &d.Ratio.Pairs[0]
			one.Ratio = &ratioSummary{number(p.Ratio), number(p.Balanced), briefRow(&p.P), briefRow(&p.D), d.Ratio.Instances}
		}
		out.Devices = append(out.Devices, one)
	}
	return out
}

func briefSearch(s *optimize.Search) searchSummary {
	out := searchSummary{
		Phase: string(s.Mode), By: s.Evaluation, Compiled: s.Compiled, Devices: s.NumDevices, Safe: s.Safe, Nearest: s.Feasible, Helps: s.Helps, Notes: some(s.Notes),
	}
	if s.Best != nil {
		out.Best = new(briefRow(s.Best))
	}
	for i := 1; i < min(len(s.Rows), 1+shownOthers); i++ {
		out.Next = append(out.Next, briefRow(&s.Rows[i]))
	}
	out.Others = max(0, len(s.Rows)-1-len(out.Next))
	for i := range s.Candidates {
		if !s.Candidates[i].OK {
			out.Rejected++
		}
	}
	return out
}

func briefRow(r *optimize.Row) rowSummary {
	return rowSummary{
		Layout: r.Label, Batch: r.Batch, Concurrency: r.Concurrency, PerDevice: number(r.PerDevice()), BoundBy: string(r.Binds), record: recordOf(&r.Record),
	}
}

// supportSummary is what can be predicted, a line for each system.
type supportSummary struct {
	Columns string   `json:"columns"`
	Rows    []string `json:"rows"`
	Others  int      `json:"more_rows,omitempty"`
	Hint    string   `json:"hint,omitempty"`
	Caution string   `json:"caution"`
}

// shownSystems is the number of lines in an answer of "support".
const shownSystems = 40

func briefSupport(r *support.Response) *supportSummary {
	out := &supportSummary{
		Columns: "model, system: engine×GPUs needed (80 % interval of tokens/s as a factor, agg; * = compared with measurements); tier", Rows: []string{}, Caution: r.Caution,
	}
	var tier device.Tier
	last := ""
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Devices == nil { // it cannot run there
			continue
		}
		text := fmt.Sprintf(" %s×%d", row.Engine, *row.Devices)
		if a := row.Aggregated; a != nil {
			text += fmt.Sprintf(" (%.2f–%.2f)", a.Factors.Throughput.Low, a.Factors.Throughput.High)
			if a.Compared {
				text += "*"
			}
		}
		if head := row.Model + ", " + row.System + ":"; head != last {
			last, tier = head, row.Tier
			out.Rows = append(out.Rows, head+text+"; "+string(tier))
		} else {
			at := &out.Rows[len(out.Rows)-1]
			*at = strings.TrimSuffix(*at, "; "+string(tier)) + "," + text + "; " + string(tier)
		}
	}
	if out.Others = len(out.Rows) - shownSystems; out.Others > 0 {
		out.Rows, out.Hint = out.Rows[:shownSystems], "name model and systems to see the others"
	} else {
		out.Others = 0
	}
	return out
}

// devicesSummary is a page of devices.
type devicesSummary struct {
	Devices []deviceSummary `json:"devices"`
	Total   int             `json:"total"`
	Next    int             `json:"next_offset,omitempty"`
}

type deviceSummary struct {
	Name   string  `json:"name"`
	Vendor string  `json:"vendor"`
	Memory float64 `json:"memory_gib"`
	Speed  float64 `json:"gb_per_s"`
	BF16   float64 `json:"bf16_tflops,omitempty"`
	FP8    float64 `json:"fp8_tflops,omitempty"`
	Node   int     `json:"per_node"`
	Price  float64 `json:"usd_per_hour,omitempty"`
	Tier   string  `json:"tier"`
}

func briefDevices(d *operation.Devices) *devicesSummary {
	out := &devicesSummary{Devices: []deviceSummary{}, Total: d.Total, Next: d.Next}
	for i := range d.Devices {
		f := &d.Devices[i]
		out.Devices = append(out.Devices, deviceSummary{
			Name: f.Name, Vendor: string(f.Vendor), Memory: f.Memory.SizeGiB, Speed: f.Memory.BandwidthGBs,
			BF16: f.Peak.Matrix.BF16, FP8: f.Peak.Matrix.FP8, Node: f.Node, Price: f.Price.USDPerHour, Tier: string(f.Tier),
		})
	}
	return out
}

// stepSummary is a step with the operators that take most of its time.
type stepSummary struct {
	*step.Response

	Operators []coststep.Operator `json:"operators"`
	Others    int                 `json:"more_operators,omitempty"`
}

func briefStep(r *step.Response) any {
	if len(r.Operators) <= shownOps {
		return r
	}
	longest := slices.Clone(r.Operators)
	slices.SortStableFunc(longest, func(a, b coststep.Operator) int { return cmp.Compare(b.Time, a.Time) })
	return &stepSummary{r, longest[:shownOps], len(longest) - shownOps}
}
