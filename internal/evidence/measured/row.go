package measured

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/draft"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
)

// Row is one measured deployment.
type Row struct {
	Line    int
	ID      string
	Source  string // where and when it was measured
	Engine  string
	Version string
	// Measured is the day of the measurement, "2026-01-23"; "" is unknown.
	Measured string
	// Nightly says that the engine was a build of that day, newer than its version.
	Nightly bool
	Model   string
	System  string
	// Precision is fp8, fp4, int4 or empty for the checkpoint's own.
	Precision string
	// Checkpoint is the name of the weights, "" where the row does not say: its number formats by part are those of the row.
	Checkpoint string
	// Linear is the format of linear layers on Ascend devices, "" for the default.
	Linear dtype.Action
	Mode   string // agg or disagg

	Input, Output         int
	Concurrency, Requests int
	LengthLow             float64 // lengths are uniform from this share to the whole
	Traffic               Traffic
	Workers               // of an aggregated deployment
	// Prefill and Decode are the pools of a disaggregated one.
	Prefill, Decode Workers

	// Settings of the engine; zero is its default.
	KV             string
	TokenBudget    int
	MemoryShare    float64
	MaxSequences   int
	GraphBatch     int
	ReceiveEvery   int
	BatchWaitSteps int
	BatchWaitRatio float64
	// Sides are those that prefill and decode workers do not share.
	Sides Sides
	// Others are the remaining columns with a value, by name: an engine may know one
	// as a setting of its own.
	Others []Other
	// Speculative says that tokens are drafted, Marked that only its quality says so; Drafted is how many per step and Drafter what
	// drafts them ("" is the model's MTP modules or what stands in for them), Acceptance the share of them that is accepted, negative where the row does not say.
	Speculative bool
	Marked      bool
	Drafted     int
	Drafter     draft.Method
	Acceptance  float64

	// What was measured; zero is not.
	TTFT, TPOT units.Seconds
	// TTFTMedian and TPOTMedian say that they are medians over requests; otherwise
	// they are means.
	TTFTMedian, TPOTMedian bool
	// TTFTEstimate is a TTFT derived from other measurements.
	TTFTEstimate units.Seconds
	// PerGPU is input and output tokens per second and device over the whole run, GPUs
	// the devices it counts; 0 is those of the layout.
	PerGPU float64
	GPUs   int
	// Joules is the energy of all devices per output token.
	Joules float64
	// Corrected is what a rule of the cleaning changed when the row was read; "" is nothing.
	Corrected string
	// Quality is empty for a clean row, otherwise what is wrong with it.
	Quality string
	// Defaulted names the columns that were missing or empty, replaced by defaults.
	Defaulted []string
}

// Sides are settings of one side of a disaggregated deployment; zero is the
// engine's default.
type Sides struct {
	// Unknown says that the row has neither number nor size of the workers of either.
	Unknown bool
	// Own says that the file tells the sides apart: its token budgets are then what the
	// engines were passed.
	Own               bool
	PrefillSequences  int
	DecodeTokenBudget int
	DecodeMemoryShare float64
}

// Other is a column the reader gives no meaning to.
type Other struct{ Column, Value string }

// Workers is a number of equal workers and the layout of each.
type Workers struct {
	Count                    int
	TP, PP, DP, MoETP, MoEEP int
}

// Cell is a model on a system under an engine.
func (r *Row) Cell() string { return r.Model + " · " + r.System + " · " + r.Engine }

// Configuration is everything a row describes but its concurrency: the cell, the
// number format, the lengths and the layout.
func (r *Row) Configuration() string {
	return fmt.Sprint(r.Cell(), r.Precision, r.Input, r.Output, r.Workers, r.Prefill, r.Decode)
}

// maxDrafted is more than any engine drafts per step.
const maxDrafted = 64

// Read reads measured rows. Columns are found by name; missing required columns
// are an error.
func Read(file io.Reader, name string) ([]Row, error) {
	in := csv.NewReader(file)
	in.FieldsPerRecord = -1
	in.ReuseRecord = true
	head, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: no header: %w", name, err)
	}
	columns := map[string]int{}
	for i, h := range head {
		columns[strings.TrimSpace(strings.TrimPrefix(h, "\ufeff"))] = i
	}
	var missing []string
	for _, need := range []string{"backend", "model_path", "system", "isl", "osl", "tp_size"} {
		if _, ok := columns[need]; !ok {
			missing = append(missing, strconv.Quote(need))
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%s:1: no column %s", name, strings.Join(missing, ", "))
	}
	if !slices.ContainsFunc(measureColumns(), func(c string) bool { _, ok := columns[c]; return ok }) {
		return nil, fmt.Errorf("%s:1: no column of measurements: want one of %s", name, strings.Join(measureColumns(), ", "))
	}
	others := othersOf(head, columns)
	var rows []Row
	for len(rows) < bound.MeasuredRows {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := in.FieldPos(0)
		c := cells{name: name, line: line, columns: columns, others: others, record: record}
		row := c.row()
		if c.err != nil {
			return nil, c.err
		}
		rows = append(rows, row)
	}
	return nil, fmt.Errorf("%s: %w", name, bound.Over(bound.MeasuredRows, "rows"))
}

// cells reads the fields of one record.
type cells struct {
	name      string
	line      int
	columns   map[string]int
	others    []string
	record    []string
	defaulted []string
	err       error
}

func (c *cells) text(column string) string {
	i, ok := c.columns[column]
	if !ok || i >= len(c.record) {
		return ""
	}
	return strings.TrimSpace(c.record[i])
}

// number reads a number; an empty field is the default and is remembered.
func (c *cells) number(column string, fallback float64) float64 {
	s := c.text(column)
	if s == "" {
		c.defaulted = append(c.defaulted, column)
		return fallback
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("%s:%d: %s: want a number, got %q", c.name, c.line, column, s)
	}
	return x
}

// given reads a number that need not be there.
func (c *cells) given(column string) float64 {
	if c.text(column) == "" {
		return 0
	}
	return c.number(column, 0)
}

func (c *cells) whole(column string, fallback int) int {
	return int(c.number(column, float64(fallback)))
}

// usualLow is the spread of lengths of rows that do not give one: between the 0.8
// that InferenceX draws from and the nearly equal ones of benchmarks that fix them.
// Exactly equal lengths would make all requests run in lockstep, which real clients
// do not.
const usualLow = 0.9

func (c *cells) row() Row {
	r := Row{
		Line: c.line, ID: c.text("id"), Source: c.text("silicon_data_source"), Engine: c.engine(), Version: c.text("backend_version"),
		Model: c.text("model_path"), System: c.text("system"), Precision: c.text("precision"), Checkpoint: c.checkpoint(), Mode: c.text("mode"),
		Input: c.whole("isl", 0), Output: c.whole("osl", 0),
		KV: c.text("kv_cache_dtype"), TokenBudget: c.whole("token_budget", 0), MemoryShare: c.number("memory_fraction", 0),
		MaxSequences: c.whole("max_num_seqs", 0), GraphBatch: int(c.given("cuda_graph_max_bs")), ReceiveEvery: c.whole("recv_interval", 0),
		BatchWaitSteps: c.whole("batch_wait_iters", 0), BatchWaitRatio: c.number("batch_wait_ratio", 0),
		LengthLow: c.number("length_ratio_low", usualLow),
		Drafted:   c.whole("mtp_tokens", 0), Acceptance: c.number("acceptance", -1),
		Quality: c.text("quality"), Others: c.rest(),
	}
	r.Quality = rules().marked(&r)
	c.measures(&r)
	c.speculation(&r)
	r.Linear = c.linear()
	r.Measured = c.text("measured")
	if _, date, ok := strings.Cut(r.Source, "measured="); ok && r.Measured == "" {
		r.Measured, _, _ = strings.Cut(date, "T")
	}
	if built := strings.Contains(c.text("image"), "nightly"); built && r.Measured == "" && engine.Server(r.Engine) == r.Engine {
		r.Measured = c.text("date_last")
		r.Nightly = r.Measured != ""
	}
	if r.Mode == disagg {
		r.Prefill, r.Decode, r.Sides = c.workers("prefill_"), c.workers("decode_"), c.sides()
	} else {
		r.Mode, r.Workers = aggregated, c.workers("")
		rules().once(&r)
	}
	if r.KV == "" {
		c.defaulted = append(c.defaulted, "kv_cache_dtype")
	}
	if r.Concurrency = c.whole("concurrency", 0); r.Concurrency == 0 && r.Mode == disagg {
		r.Concurrency = c.whole("decode_batch_size", 1) * r.Decode.DP * r.Decode.Count
	} else if r.Concurrency == 0 {
		r.Concurrency = c.whole("batch_size", 1) * r.DP
	}
	r.Requests = c.whole("num_prompts", 10*r.Concurrency)
	c.traffic(&r)
	r.Defaulted = c.defaulted
	c.check(&r)
	return r
}

// checkpoint reads the name of the weights; what some of a row's runs had stands in brackets: "amd/Kimi-K2.5-MXFP4(-AttnFP8)".
func (c *cells) checkpoint() string {
	return strings.ReplaceAll(strings.ReplaceAll(c.text("checkpoint"), "(", ""), ")", "")
}

// engine is the backend or, where the framework is an engine of its own that runs the backend's server, that one.
func (c *cells) engine() string {
	backend, framework := c.text("backend"), c.text("framework")
	if framework != backend && engine.Server(framework) == backend {
		return framework
	}
	return backend
}

// check reports impossible values.
func (c *cells) check(r *Row) {
	switch {
	case c.err != nil:
	case r.Input < 1 || r.Output < 1:
		c.err = fmt.Errorf("%s:%d: isl and osl must be positive", c.name, c.line)
	case !amount(float64(r.TTFT)) || !amount(float64(r.TPOT)):
		c.err = fmt.Errorf("%s:%d: silicon_ttft_ms and silicon_tpot_ms must be finite and not negative, got %g and %g",
			c.name, c.line, r.TTFT.Ms(), r.TPOT.Ms())
	case !amount(float64(r.TTFTEstimate)) || !amount(r.PerGPU) || !amount(r.Joules):
		c.err = fmt.Errorf("%s:%d: ttft_est_ms, tput_per_gpu and joules_per_output_token must be finite and not negative, got %g, %g and %g",
			c.name, c.line, r.TTFTEstimate.Ms(), r.PerGPU, r.Joules)
	case r.Drafted < 0 || r.Drafted > maxDrafted:
		c.err = fmt.Errorf("%s:%d: mtp_tokens and spec_tokens must be between 0 and %d, got %d", c.name, c.line, maxDrafted, r.Drafted)
	case c.text("acceptance") != "" && !(r.Acceptance >= 0 && r.Acceptance <= 1):
		c.err = fmt.Errorf("%s:%d: acceptance, the share of draft tokens that is accepted, must be between 0 and 1, got %g", c.name, c.line, r.Acceptance)
	}
}

// amount reports whether a measured quantity is one; zero stands for none.
func amount(x float64) bool { return x >= 0 && !math.IsInf(x, 0) }

// workers reads the columns of a pool.
func (c *cells) workers(prefix string) Workers {
	w := Workers{
		Count: 1, TP: c.whole(prefix+"tp_size", 1), PP: max(1, int(c.given(prefix+"pp_size"))), DP: c.whole(prefix+"attention_dp_size", 1),
		MoETP: c.whole(prefix+"moe_tp_size", 0), MoEEP: c.whole(prefix+"moe_ep_size", 1),
	}
	if prefix != "" {
		w.Count = c.whole(prefix+"num_workers", 1)
	}
	w.Count, w.TP, w.DP, w.MoEEP = max(1, w.Count), max(1, w.TP), max(1, w.DP), max(1, w.MoEEP)
	return w
}
