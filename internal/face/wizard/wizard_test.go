package wizard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	opssession "github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/serve/search"
)

func flagOf(n field.Name) string { return "--" + strings.ReplaceAll(string(n), "_", "-") }

func session(known map[ID]string) *Session {
	a := Answers{}
	for id, v := range known {
		a[id] = Answer{Value: v}
	}
	return NewSession(Known{Answers: a, World: &opssession.Session{}, Text: English.Say(), Say: flagOf})
}

// core inputs before the mode.
func inputs(more map[ID]string) map[ID]string {
	out := map[ID]string{Model: "Qwen/Qwen3-0.6B", Devices: "TEST_DEVICE", NumDevices: "4", Input: "512", Output: "64"}
	maps.Copy(out, more)
	return out
}

// TestOrder: which questions are asked, in which order, by what was answered.
func TestOrder(t *testing.T) {
	t.Parallel()
	rest := []ID{PrefixCache, Quantization}
	for _, c := range []struct {
		name    string
		known   map[ID]string
		answers map[ID]string
		want    []ID
	}{
		{
			"everything", nil, inputs(map[ID]string{Mode: Aggregation, SLO: Both, TTFT: "1000", TPOT: "50"}),
			append([]ID{Model, Devices, NumDevices, Input, Output, Mode, SLO, TTFT, TPOT}, rest...),
		},
		{"aggregation, TTFT", inputs(nil), map[ID]string{Mode: "PD混部", SLO: TTFTOnly, TTFT: "1000"}, append([]ID{Mode, SLO, TTFT}, rest...)},
		{
			"prefill", inputs(nil),
			map[ID]string{Mode: "PD分离", Goal: EachPhase, Phases: PrefillOnly, TTFT: "1000"},
			append([]ID{Mode, Goal, Phases, TTFT}, rest...),
		},
		{
			"decode", inputs(nil),
			map[ID]string{Mode: Disaggregation, Goal: EachPhase, Phases: DecodeOnly, TPOT: "50"},
			append([]ID{Mode, Goal, Phases, TPOT}, rest...),
		},
		{
			"both phases", inputs(nil),
			map[ID]string{Mode: Disaggregation, Goal: EachPhase, Phases: Both, TTFT: "1000", TPOT: "inf"},
			append([]ID{Mode, Goal, Phases, TTFT, TPOT}, rest...),
		},
		{
			"ratio by way of disaggregation", inputs(nil),
			map[ID]string{Mode: Disaggregation, Goal: Ratio, PrefillDevices: "1", DecodeDevices: "2", SLO: TPOTOnly, TPOT: "50"},
			append([]ID{Mode, Goal, PrefillDevices, DecodeDevices, SLO, TPOT}, rest...),
		},
		{
			"ratio", inputs(nil),
			map[ID]string{Mode: "P/D配比", PrefillDevices: "1", DecodeDevices: "2", SLO: TPOTOnly, TPOT: "50"},
			append([]ID{Mode, PrefillDevices, DecodeDevices, SLO, TPOT}, rest...),
		},
		{
			"images", inputs(map[ID]string{Model: "Qwen/Qwen2.5-VL-7B-Instruct", Mode: Aggregation, SLO: TPOTOnly, TPOT: "50"}),
			map[ID]string{ImageHeight: "224", ImageWidth: "224"},
			append([]ID{ImageHeight, ImageWidth}, rest...),
		},
		{
			"no images", inputs(map[ID]string{Model: "Qwen/Qwen2.5-VL-7B-Instruct", Mode: Aggregation, SLO: TPOTOnly, TPOT: "50"}),
			map[ID]string{ImageHeight: "None"},
			append([]ID{ImageHeight}, rest...),
		},
		{
			"experts", inputs(map[ID]string{Model: "Qwen/Qwen3-30B-A3B", Mode: Aggregation, SLO: TPOTOnly, TPOT: "50"}),
			map[ID]string{Experts: AllExperts},
			append([]ID{Experts}, rest...),
		},
		{
			"compare asks neither for images nor experts", inputs(map[ID]string{Model: "Qwen/Qwen3-30B-A3B", Mode: Compare, SLO: TPOTOnly, TPOT: "50"}),
			map[ID]string{PrefixCache: Yes, PrefixTokens: "8"},
			[]ID{PrefixCache, PrefixTokens, Quantization},
		},
		{
			"prefix, MXFP4", inputs(map[ID]string{Mode: Aggregation, SLO: TPOTOnly, TPOT: "50"}),
			map[ID]string{PrefixCache: Yes, HitRate: "0.5", Quantization: Custom, Linear: "mxfp4", Attention: "INT8", MXFP4: Custom, MXFP4Group: "64"},
			[]ID{PrefixCache, HitRate, Quantization, Linear, Attention, MXFP4, MXFP4Group},
		},
		{
			"a load has no mode", inputs(map[ID]string{NumDevices: "20/s", SLO: TPOTOnly, TPOT: "50"}), nil,
			[]ID{PrefixCache, Quantization},
		},
		{
			"a preset has no other lengths", inputs(map[ID]string{Input: "chat", SLO: TPOTOnly, TPOT: "50"}), nil,
			[]ID{Quantization},
		},
		{
			"GPUs", inputs(map[ID]string{Devices: "h200_sxm", Mode: Aggregation, SLO: TPOTOnly, TPOT: "50"}),
			map[ID]string{Quantization: Checkpoint},
			rest,
		},
		{
			"a model with MTP modules", inputs(map[ID]string{Model: "deepseek-ai/DeepSeek-V3", NumDevices: "16", Mode: Aggregation, SLO: TPOTOnly, TPOT: "50", Experts: TPOnly}),
			map[ID]string{PrefixCache: No, MTP: Yes, MTPTokens: "1", MTPRates: "0.9"},
			[]ID{PrefixCache, MTP, MTPTokens, MTPRates, Quantization},
		},
		{"known formats", inputs(map[ID]string{Mode: Aggregation, SLO: TPOTOnly, TPOT: "50", PrefixCache: No, Quantization: Custom, Linear: "MXFP4", Attention: "FP8"}), map[ID]string{MXFP4: Keep}, []ID{MXFP4}},
	} {
		s := session(c.known)
		var got []ID
		for q, wrong := s.Next(); q != nil; q, wrong = s.Next() {
			if wrong != nil {
				t.Fatalf("%s: %s: %v", c.name, q.ID, wrong)
			}
			got = append(got, q.ID)
			value, ok := c.answers[q.ID]
			if !ok {
				value = map[ID]string{PrefixCache: No, Quantization: Recommended}[q.ID]
			}
			if err := s.Answer(q, value, Source{}); err != nil {
				t.Fatalf("%s: %s %q: %v", c.name, q.ID, value, err)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
		var err error
		if s.compares() {
			_, _, err = plan.Check(s.World, s.Plan())
		} else {
			_, err = optimize.Check(s.World, s.Optimize())
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestCheck: what is refused, by the program's own checks where there are some.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id          ID
		value, want string
	}{
		{Model, "Qwen/Qwen3-32", `unknown model "Qwen/Qwen3-32"; nearest: Qwen/Qwen3-32B`},
		{Model, "zzzzzz", `unknown model "zzzzzz"`},
		{Model, " ", "an answer is required"},
		{Devices, "TEST_DEVICE h200_sxx", "nearest: h200_sxm"},
		{NumDevices, "0", `want a number of devices, or a load such as 20/s, got "0"`},
		{NumDevices, "eight", `want a number of devices, or a load such as 20/s, got "eight"`},
		{NumDevices, "/s", "want a number of devices, or a load"},
		{NumDevices, "-3/s", "want a number of devices, or a load"},
		{NumDevices, "1.5", "want a number of devices, or a load"},
		{Output, "3.14159", "want a positive whole number"},
		{NumDevices, "1000000", "--num-devices 1000000 is more than"},
		{Input, "100000", "--input-length 100000 and --output-length 64"},
		{Mode, "agregation", "did you mean aggregation?"},
		{Mode, "zzz", `invalid choice "zzz"`},
		{TTFT, "-1", "want a positive number of milliseconds"},
		{TPOT, "fast", "want a positive number of milliseconds"},
		{HitRate, "1", `want a number from 0 to below 1, got "1"`},
		{MTPRates, "0.9 1.1", `want numbers from 0 to 1, got "1.1"`},
		{MTPTokens, "1000", "--num-mtp-tokens must be between"},
		{Linear, "W8A9", "invalid choice"},
	} {
		s := session(inputs(map[ID]string{Mode: Aggregation, SLO: Both, TTFT: "1000", TPOT: "50", PrefixCache: Yes, HitRate: "0", MTP: Yes, MTPSupport: Yes}))
		s.Answers[MTP] = Answer{Yes, Source{Origin: Flag}}
		_, err := s.question(c.id).Check(&s.Known, c.value)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: want %q, got %v", c.id, c.value, c.want, err)
		}
	}
}

// TestSuffixes: numbers with suffixes are understood, and kept in plain form.
func TestSuffixes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id          ID
		value, want string
	}{
		{TPOT, "50ms", "50"},
		{TPOT, "50 ms", "50"},
		{TTFT, "2s", "2000"},
		{TTFT, "1.5 S", "1500"},
		{TTFT, "2秒", "2000"},
		{TTFT, "inf", "inf"},
		{Input, "3.5k", "3500"},
		{Input, "Chat", "chat"},
		{Output, "1K", "1000"},
		{NumDevices, "2", "2"},
		{NumDevices, "20/s", "20/s"},
		{NumDevices, "1.5k /S", "1500/s"},
		{NumDevices, "1, 9 2.5/s", "1 9 2.5/s"},
	} {
		s := session(inputs(map[ID]string{Mode: Aggregation, SLO: Both}))
		if got, err := s.question(c.id).Check(&s.Known, c.value); err != nil || got != c.want {
			t.Errorf("%s %q: want %q, got %q, %v", c.id, c.value, c.want, got, err)
		}
	}
}

// TestGPUs: on GPUs nothing recommends the guide's INT8, whose checkpoints hardly any GPU model has.
func TestGPUs(t *testing.T) {
	t.Parallel()
	s := session(inputs(map[ID]string{Model: "Qwen/Qwen3-8B", Devices: "h200_sxm", Mode: Aggregation, SLO: TPOTOnly, TPOT: "50"}))
	q := s.question(Quantization)
	if got := q.Choices(&s.Known); slices.Contains(got, Recommended) {
		t.Errorf("recommended on h200_sxm: %v", got)
	}
	if got := q.Suggest(&s.Known); got.Value != Checkpoint || !strings.Contains(got.Source.Why, "bf16") {
		t.Errorf("suggested on h200_sxm: %+v", got)
	}
	s.Answers[Quantization] = Answer{Value: Custom}
	if got := s.question(Linear).Suggest(&s.Known).Value; got != "FP8" {
		t.Errorf("custom on h200_sxm: %s", got)
	}
	s.Answers[Devices] = Answer{Value: "a100_sxm"}
	if got := s.question(Linear).Suggest(&s.Known).Value; got != "DISABLED" {
		t.Errorf("custom on a100_sxm: %s", got)
	}
	for _, devices := range []string{"h200_sxm", "h200_sxm TEST_DEVICE"} {
		s.Answers[Devices], s.Answers[Quantization] = Answer{Value: devices}, Answer{Value: Checkpoint}
		if f := s.Optimize().Formats; f.Linear == "W8A8_DYNAMIC" {
			t.Errorf("%s: %+v", devices, f)
		}
	}
}

// TestRoom: a number of devices without room for the model is refused, with one that has room, and that one is suggested.
func TestRoom(t *testing.T) {
	t.Parallel()
	s := session(map[ID]string{Model: "deepseek-ai/DeepSeek-V3.1", Devices: "ATLAS_800_A3_560T_128G_DIE"})
	q := s.question(NumDevices)
	_, err := q.Check(&s.Known, "2")
	if err == nil || !strings.Contains(err.Error(), "does not fit on 2 x ATLAS_800_A3_560T_128G_DIE; it fits on 16") {
		t.Errorf("2 dies: %v", err)
	}
	for _, n := range []string{"16", q.Suggest(&s.Known).Value} {
		if _, err := q.Check(&s.Known, n); err != nil {
			t.Errorf("%s dies: %v", n, err)
		}
	}
	s.Answers[Devices] = Answer{Value: "h200_sxm"}
	if _, err := q.Check(&s.Known, "2"); err == nil || !strings.Contains(err.Error(), "it fits on 8") {
		t.Errorf("2 h200_sxm: %v", err)
	}
}

// TestChineseMessages: what the checks say is Chinese too.
func TestChineseMessages(t *testing.T) {
	t.Parallel()
	s := session(inputs(map[ID]string{Mode: Aggregation, SLO: Both, TTFT: "1000", TPOT: "50", MTPSupport: Yes}))
	s.Answers[MTP] = Answer{Yes, Source{Origin: Flag}}
	s.Text = Chinese.Say()
	for id, values := range map[ID][]string{
		Model: {"zzz", "Qwen/Qwen3-32"}, Devices: {"h200_sxx", "zzzzzzzz"}, NumDevices: {"x", "1000000"}, Input: {"x", "100000", "999999999"}, Output: {"-1", "999999999"},
		TTFT: {"x", "0"}, MTPTokens: {"1000"}, Mode: {"zzz", "agregation"},
	} {
		for _, value := range values {
			_, err := s.question(id).Check(&s.Known, value)
			if err == nil || !strings.ContainsFunc(err.Error(), func(r rune) bool { return unicode.Is(unicode.Han, r) }) || strings.Contains(err.Error(), "原文") {
				t.Errorf("%s %s: %v", id, value, err)
			}
		}
	}
	if got := s.Text.translate("something else is wrong"); !strings.HasPrefix(got, "检查未通过") {
		t.Error(got)
	}
}

// TestBackAndChange: back asks the question before, a change may make others wrong.
func TestBackAndChange(t *testing.T) {
	t.Parallel()
	s := session(map[ID]string{Model: "Qwen/Qwen3-0.6B"})
	answer := func(id ID, value string) {
		t.Helper()
		q, _ := s.Next()
		if q == nil || q.ID != id {
			t.Fatalf("want the question %s, got %v", id, q)
		}
		if err := s.Answer(q, value, Source{}); err != nil {
			t.Fatal(err)
		}
	}
	if s.Back(Devices) {
		t.Error("there is no question before the first")
	}
	answer(Devices, "ATLAS_800_A2_280T_64G")
	answer(NumDevices, "16")
	s.Back(Input)
	s.Back(NumDevices)
	answer(Devices, "TEST_DEVICE")
	answer(Input, "512")
	s.Change(Devices)
	answer(Devices, "gb10")
	if q, wrong := s.Next(); q.ID != NumDevices || wrong == nil {
		t.Errorf("16 of gb10: want a problem with the number, got %s, %v", q.ID, wrong)
	}
	answer(NumDevices, "4")
	answer(Output, "64")
}

// TestSuggestions: every question has one, with its source, and the program accepts it.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	for _, lang := range []Lang{English, Chinese} {
		known := inputs(map[ID]string{
			Model: "Qwen/Qwen3-30B-A3B", Mode: Aggregation, SLO: Both, TTFT: "1000", TPOT: "50", PrefixCache: Yes, HitRate: "0",
			MTP: Yes, MTPSupport: Yes, MTPTokens: "1", Quantization: Custom, Linear: "MXFP4", Attention: "FP8",
		})
		s := session(known)
		s.Text = lang.Say()
		for i := range s.all {
			q := &s.all[i]
			x := q.Suggest(&s.Known)
			if x.Source.Why == "" || !x.Source.Suggested() {
				t.Errorf("%s: no source", q.ID)
			}
			if x.Value == "" {
				continue // advice
			}
			if _, err := q.Check(&s.Known, x.Value); err != nil && q.ID != ImageHeight && q.ID != ImageWidth { // no images in this model
				t.Errorf("%s %q: %v", q.ID, x.Value, err)
			}
		}
	}
}

// TestText: both languages say everything, with the same verbs.
func TestText(t *testing.T) {
	t.Parallel()
	en, zh := reflect.ValueOf(*English.Say()), reflect.ValueOf(*Chinese.Say())
	verbs := func(s string) []string {
		var out []string
		for i := range len(s) - 1 {
			if s[i] == '%' {
				out = append(out, s[i:min(len(s), i+2)])
			}
		}
		return out
	}
	same := func(name, a, b string) {
		if a == "" || b == "" || !slices.Equal(verbs(a), verbs(b)) {
			t.Errorf("%s: %q and %q", name, a, b)
		}
	}
	for i := range en.NumField() {
		name := en.Type().Field(i).Name
		switch f := en.Field(i); f.Kind() { //nolint:exhaustive // the kinds there are
		case reflect.String:
			same(name, f.String(), zh.Field(i).String())
		case reflect.Array:
			for k := range f.Len() {
				same(name, f.Index(k).String(), zh.Field(i).Index(k).String())
			}
		}
	}
	s := session(nil)
	for _, lang := range []Lang{English, Chinese} {
		text := lang.Say()
		for _, do := range []string{doRun, doChange, doSave, doReport, doDone, doQuit} {
			if text.Actions[do] == "" {
				t.Errorf("%s: no words for %s", lang, do)
			}
		}
		for i := range s.all {
			q := &s.all[i]
			asked := text.Questions[q.ID]
			if asked.Title == "" || asked.Help == "" {
				t.Errorf("%s: no words for %s", lang, q.ID)
			}
			for _, c := range choicesOf(q, &s.Known) {
				if asked.About[c] == "" {
					t.Errorf("%s: %s of %s is not explained", lang, c, q.ID)
				}
				if asked.Choices[c] == "" && q.ID != Linear && q.ID != Attention { // those are names
					t.Errorf("%s: no words for %s of %s", lang, c, q.ID)
				}
			}
		}
	}
}

func choicesOf(q *Question, k *Known) []string {
	if q.Choices == nil {
		return nil
	}
	return q.Choices(k)
}

// TestLocale: the first variable that is set decides.
func TestLocale(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		vars map[string]string
		want Lang
	}{
		{nil, English},
		{map[string]string{"LANG": "zh_CN.UTF-8"}, Chinese},
		{map[string]string{"LANG": "zh_TW", "LC_ALL": "C"}, English},
		{map[string]string{"LANG": "de_DE", "LC_MESSAGES": "zh_CN"}, Chinese},
	} {
		if got := FromLocale(func(n string) string { return c.vars[n] }); got != c.want {
			t.Errorf("%v: want %s, got %s", c.vars, c.want, got)
		}
	}
}

// TestFile: what is written is read; mistakes have their line.
func TestFile(t *testing.T) {
	t.Parallel()
	a := Answers{Model: {Value: `a "b": c`}, Devices: {Value: "x y"}, PrefixCache: {Value: No}, HitRate: {Value: "0.5"}}
	var out bytes.Buffer
	if err := Write(&out, a); err != nil {
		t.Fatal(err)
	}
	got, err := Read(out.Bytes(), "f")
	if err != nil {
		t.Fatal(err)
	}
	for id := range a {
		if got[id].Value != a[id].Value || got[id].Source != (Source{Saved, "f"}) {
			t.Errorf("%s: want %q, got %v", id, a[id].Value, got[id])
		}
	}
	json, err := Read([]byte(`{"model": "m", "device": ["a", "b"], "num_devices": 8, "mtp": false, "prefix_cache": "yes"}`), "f")
	if err != nil || json.value(Devices) != "a b" || json.value(NumDevices) != "8" || json.value(MTP) != No || json.value(PrefixCache) != Yes {
		t.Errorf("got %v, %v", json, err)
	}
	for text, want := range map[string]string{
		"modell: x\n":              "f:1: modell: unknown question; did you mean model?",
		"model: a\nmodel: b\n":     "f:2: model: given twice",
		"model: {a: b}\n":          "f:1: model: must be a word or a list of words, got a mapping",
		"device: [[a]]\n":          "f:1: device: must be a list of words",
		"mode:\n":                  "f:1: mode: must be a word",
		"- a\n":                    "f:1: must be a mapping",
		strings.Repeat("x", 1<<17): "f:1: too large with 128 KiB; a file of answers may have at most 64 KiB",
	} {
		if _, err := Read([]byte(text), "f"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestSilent: without a terminal everything must be known.
func TestSilent(t *testing.T) {
	t.Parallel()
	run := func(known map[ID]string) error {
		return Run(context.Background(), &Config{Silent: true, Out: &bytes.Buffer{}, World: &opssession.Session{}, Answers: session(known).Answers, Say: flagOf})
	}
	err := run(map[ID]string{Model: "Qwen/Qwen3-0.6B", Input: "512"})
	if missing, ok := errors.AsType[*MissingError](err); !ok || len(missing.Questions) < 5 || !strings.HasPrefix(err.Error(), "missing answers: device, num_devices, output_length, mode, ") {
		t.Errorf("got %v", err)
	}
	if err := run(map[ID]string{Model: "Qwen/Qwen3-0.6B", Devices: "h2000"}); err == nil || !strings.Contains(err.Error(), "device: unknown device") {
		t.Errorf("got %v", err)
	}
}

// TestClassify: what kind of failure an error is.
func TestClassify(t *testing.T) {
	t.Parallel()
	w := &wizard{Session: session(inputs(nil)), text: English.Say()}
	world := &opssession.Session{}
	_, unknown := world.Model("zzz", "")
	for _, c := range []struct {
		err        error
		kind, line string
	}{
		{&opssession.InputError{Err: field.Errorf("%s must be positive, got 0", field.Name("num_devices"))}, w.text.Invalid, "--num-devices must be positive, got 0"},
		{&opssession.InputError{Err: field.Errorf("%s FP8: x has no arithmetic", field.Name("quantize_linear_action"))}, w.text.Assumption, "--quantize-linear-action FP8: x has no arithmetic"},
		{unknown, w.text.Assumption, unknown.Error()},
		{&opssession.InputError{Err: fmt.Errorf("reading: %w", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist})}, w.text.Environment, "reading: open x: file does not exist"},
		{errors.New("no space"), w.text.Environment, "no space"},
	} {
		f := w.classify(c.err)
		if f.kind != c.kind || f.line != c.line || f.fix == "" {
			t.Errorf("%v: got %+v", c.err, *f)
		}
	}
}

// TestNoRoom: where nothing fits, the correction is the smallest change that helps, with its command.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	q := optimize.Request{Model: "Qwen/Qwen3-32B", Devices: []string{"ATLAS_800_A2_280T_32G_PCIE"}, Input: 100, Output: 10, Space: search.Space{TP: []int{1}}}
	r, err := optimize.Run(t.Context(), new(opssession.Session), q)
	if err != nil {
		t.Fatal(err)
	}
	for lang, want := range map[Lang]string{English: "2 devices instead of 1, all TP sizes\n    plimsoll throughput-optimizer Qwen/Qwen3-32B", Chinese: "卡数由 1 增至 2，搜索所有 TP 规模\n    plimsoll throughput-optimizer Qwen/Qwen3-32B"} {
		w := &wizard{Session: session(inputs(nil)), text: lang.Say(), config: &Config{}}
		if f := w.infeasible(r); f == nil || !strings.HasPrefix(f.fix, want) || !strings.Contains(f.fix, "--num-devices 2 ") {
			t.Errorf("got %+v, want %q", f, want)
		}
	}
}
