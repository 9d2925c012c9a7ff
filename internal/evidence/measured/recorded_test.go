package measured

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// TestAsRun: a limit that cannot be is dropped, a layout that stands for any other is replaced,
// and all else stays.
func TestAsRun(t *testing.T) {
	t.Parallel()
	row := func(engine string, concurrency int, decode Workers, change func(*Row)) Row {
		r := Row{Engine: engine, Mode: disagg, Concurrency: concurrency, Prefill: Workers{Count: 1, TP: 4, DP: 1, MoETP: 4, MoEEP: 1}, Decode: decode}
		if change != nil {
			change(&r)
		}
		return r
	}
	limits := func(r *Row) { r.KV, r.MaxSequences, r.GraphBatch, r.Sides.DecodeTokenBudget = "fp8", 1, 1, 1 }
	wide, tensor := Workers{Count: 2, TP: 1, DP: 4, MoETP: 1, MoEEP: 4}, Workers{Count: 9, TP: 8, DP: 1, MoETP: 1, MoEEP: 8}
	for _, c := range []struct {
		name   string
		row    Row
		change func(*Row)
	}{
		{"a limit the load exceeds a little", row("trtllm", 11, tensor, limits), func(*Row) {}},
		{"a limit of another load", row("trtllm", 36, tensor, limits), func(r *Row) { r.MaxSequences, r.GraphBatch, r.Sides.DecodeTokenBudget = 0, 0, 0 }},
		{"a limit of all ranks", row("sglang", 64, wide, func(r *Row) { r.MaxSequences = 4 }), func(r *Row) { r.MaxSequences = 0 }},
		{"few requests on a rank", row("sglang", 64, wide, nil), func(r *Row) { r.Decode.TP, r.Decode.DP = 4, 1 }},
		{"enough requests on a rank", row("sglang", 65, wide, nil), func(*Row) {}},
		{"few requests, settings known", row("sglang", 64, wide, func(r *Row) { r.MemoryShare = 0.8 }), func(*Row) {}},
		{"experts cut over all ranks", row("sglang", 1024, Workers{Count: 1, TP: 1, DP: 16, MoETP: 2, MoEEP: 8}, nil), func(r *Row) { r.Decode.MoETP, r.Decode.MoEEP = 1, 16 }},
		{"an engine that cuts them", row("atom", 1024, Workers{Count: 1, TP: 1, DP: 4, MoETP: 4, MoEEP: 1}, nil), func(*Row) {}},
		{"aggregated", Row{Engine: "trtllm", Mode: aggregated, Concurrency: 64, MaxSequences: 1, Workers: wide}, func(*Row) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := c.row
			c.change(&want)
			got, said := c.row.asRun()
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if changed := !cmp.Equal(&c.row, got); changed != (len(said) > 0) {
				t.Errorf("changed %v, said %v", changed, said)
			}
		})
	}
}

// TestOnRank: SGLang's limit is of all ranks of a worker.
func TestOnRank(t *testing.T) {
	t.Parallel()
	w := Workers{DP: 16}
	for _, c := range []struct {
		engine      string
		limit, want int
	}{{"sglang", 2048, 128}, {"sglang", 8, 1}, {"sglang", 0, 0}, {"trtllm", 2048, 2048}} {
		if got := (&Row{Engine: c.engine}).onRank(c.limit, &w); got != c.want {
			t.Errorf("%s: %d on a rank of a limit of %d, want %d", c.engine, got, c.limit, c.want)
		}
	}
}

// TestCleaning: the file has a version, and every rule its numbers, its words and its reason.
func TestCleaning(t *testing.T) {
	t.Parallel()
	d := yaml.NewDecoder(bytes.NewReader(cleaningFile))
	d.KnownFields(true)
	var c cleaning
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	if c.Version < 1 || c.StrayLimit.RequestsPerSequence < 1 || c.TensorParallelDecode.RequestsPerRank < 1 || len(c.ExpertParallel.Engines) == 0 {
		t.Errorf("%+v", c)
	}
	for _, b := range c.Builds {
		if b.Engine == "" || b.Release == "" || b.Mark == "" || b.Reason == "" {
			t.Errorf("%+v", b)
		}
	}
	for _, r := range []rule{c.StrayLimit.rule, c.TensorParallelDecode.rule, c.ExpertParallel.rule, c.ExpertsCountedTwice.rule} {
		if r.Says == "" || r.Reason == "" {
			t.Errorf("%+v", r)
		}
	}
}

// TestMarked: rows of a build that the cleaning names are not clean, once, and others are as their source says.
func TestMarked(t *testing.T) {
	t.Parallel()
	c := &cleaning{}
	if err := yaml.Unmarshal([]byte("builds: [{engine: sglang, release: a-build, mark: slow}, {engine: trtllm, release: 1.1, system: h200_sxm, source: march, mark: mtp}]"), c); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ engine, release, quality, want string }{
		{"sglang", "a-build", "", "slow"},
		{"sglang", "a-build", "mtp", "mtp slow"},
		{"sglang", "a-build", "slow", "slow"},
		{"sglang", "0.5.14", "mtp", "mtp"},
		{"vllm", "a-build", "", ""},
	} {
		if got := c.marked(&Row{Engine: x.engine, Version: x.release, Quality: x.quality}); got != x.want {
			t.Errorf("%s %s %q: %q, want %q", x.engine, x.release, x.quality, got, x.want)
		}
	}
	for _, x := range []struct{ system, source, want string }{{"h200_sxm", "march; c=4", "mtp"}, {"b200_sxm", "march", ""}, {"h200_sxm", "april", ""}} {
		if got := c.marked(&Row{Engine: "trtllm", Version: "1.1", System: x.system, Source: x.source}); got != x.want {
			t.Errorf("%+v: %q", x, got)
		}
	}
	const text = "backend,backend_version,model_path,system,isl,osl,tp_size,silicon_ttft_ms,silicon_tpot_ms\n"
	b := rules().Builds[0]
	rows, err := Read(strings.NewReader(text+b.Engine+","+b.Release+",m,mi355x,1024,1024,8,50,5\n"), "rows.csv")
	if err != nil || len(rows) != 1 || rows[0].Quality != b.Mark {
		t.Errorf("read %+v, %v", rows, err)
	}
	b = rules().Builds[1]
	rows, err = Read(strings.NewReader("silicon_data_source,"+text+b.Source+"; c=64,"+b.Engine+","+b.Release+",m,"+b.System+",1024,1024,8,50,5\n"), "rows.csv")
	if err != nil || len(rows) != 1 || !rows[0].Speculative {
		t.Errorf("read %+v, %v", rows, err)
	}
}

// TestExpertsCountedTwice: a row whose identifier names what its columns multiply is read as the identifier says, and predicted so; others stay.
func TestExpertsCountedTwice(t *testing.T) {
	t.Parallel()
	const head = "id,silicon_data_source,backend,model_path,system,isl,osl,concurrency,tp_size,attention_dp_size,moe_tp_size,moe_ep_size,silicon_ttft_ms,silicon_tpot_ms\n"
	sample := rules().ExpertsCountedTwice.Source + "a.csv"
	for _, c := range []struct {
		name, id, source string
		was, want        Workers
	}{
		{"tensor parallel", "a_tp2_ep2_931", sample, Workers{TP: 4, DP: 1, MoETP: 2, MoEEP: 2}, Workers{TP: 2, DP: 1, MoETP: 1, MoEEP: 2}},
		{"data parallel", "a_tp2_0_ep2_0_7", sample, Workers{TP: 1, DP: 4, MoETP: 2, MoEEP: 2}, Workers{TP: 1, DP: 2, MoETP: 1, MoEEP: 2}},
		{"counted once", "a_tp4_ep2_931", sample, Workers{TP: 4, DP: 1, MoETP: 2, MoEEP: 2}, Workers{TP: 4, DP: 1, MoETP: 2, MoEEP: 2}},
		{"no expert parallelism", "a_tp2_ep1_931", sample, Workers{TP: 2, DP: 1, MoETP: 2, MoEEP: 1}, Workers{TP: 2, DP: 1, MoETP: 2, MoEEP: 1}},
		{"another's file", "a_tp2_ep2_931", "mine", Workers{TP: 4, DP: 1, MoETP: 2, MoEEP: 2}, Workers{TP: 4, DP: 1, MoETP: 2, MoEEP: 2}},
	} {
		w := c.was
		line := fmt.Sprintf("%s,%s,trtllm,openai/gpt-oss-120b,h200_sxm,1024,1024,4,%d,%d,%d,%d,80,6\n", c.id, c.source, w.TP, w.DP, w.MoETP, w.MoEEP)
		rows, err := Read(strings.NewReader(head+line), "rows.csv")
		if err != nil {
			t.Fatal(err)
		}
		c.want.Count, c.want.PP = 1, 1
		if diff := cmp.Diff(c.want, rows[0].Workers); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
		if changed := c.was.TP*c.was.DP != c.want.TP*c.want.DP; changed != (rows[0].Corrected != "") {
			t.Errorf("%s: corrected %q", c.name, rows[0].Corrected)
		}
	}
	rows, err := Read(strings.NewReader(head+"a_tp2_ep2_9,"+sample+",trtllm,m,unknown,1024,1024,4,4,1,2,2,80,6\n"), "rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	if p := (&Predictor{}).Prepare(&rows[0]); !slices.Contains(p.assumed, rules().ExpertsCountedTwice.Says) {
		t.Errorf("assumed %q", p.assumed)
	}
}
