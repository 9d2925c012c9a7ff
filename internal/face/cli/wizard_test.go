package cli_test

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-project/plimsoll/internal/face/cli"
	"github.com/plimsoll-project/plimsoll/internal/face/wizard"
)

// dialogue is a wizard at a terminal, in a language, line by line or with forms.
type dialogue struct {
	*terminal
	text *wizard.Text
	form bool
	gpus bool // the devices are no Ascend devices
	dir  string
}

// ways runs a test in both languages, line by line and with forms.
func ways(t *testing.T, test func(*dialogue)) {
	way(t, wizard.English, true, test)
	way(t, wizard.Chinese, false, test)
	twoWays(t, test)
}

// twoWays runs a test line by line in one language and with forms in the other, which is enough for questions that differ in
// nothing but their words.
func twoWays(t *testing.T, test func(*dialogue)) {
	way(t, wizard.English, false, test)
	way(t, wizard.Chinese, true, test)
}

func way(t *testing.T, lang wizard.Lang, form bool, test func(*dialogue)) {
	t.Run(fmt.Sprintf("lang=%s,form=%t", lang, form), func(t *testing.T) {
		t.Parallel()
		test(newDialogue(t, lang, form))
	})
}

func newDialogue(t *testing.T, lang wizard.Lang, form bool) *dialogue {
	locale, term := "LANG=en_US.UTF-8", "TERM=dumb"
	if lang == wizard.Chinese {
		locale = "LANG=zh_CN.UTF-8"
	}
	if form {
		term = "TERM=xterm-256color"
	}
	d := &dialogue{text: lang.Say(), form: form, dir: t.TempDir()}
	d.terminal = openTerminal(t, d.dir, []string{locale, term}, "plan")
	d.expect(d.text.Intro)
	return d
}

// question waits for a question.
func (d *dialogue) question(id wizard.ID) {
	d.t.Helper()
	d.expect(d.text.Questions[id].Title)
	d.ready()
}

// ready waits until what was asked can be answered.
func (d *dialogue) ready() {
	d.t.Helper()
	if d.form {
		d.expect(d.text.LegendForm)
	} else {
		d.expect("> ")
	}
}

// answer answers a question with a text or one of its choices.
func (d *dialogue) answer(id wizard.ID, value string) {
	d.t.Helper()
	d.question(id)
	d.give(id, value)
}

// give answers the question that is asked.
func (d *dialogue) give(id wizard.ID, value string) {
	d.t.Helper()
	all := wizard.Questions()
	q := &all[slices.IndexFunc(all, func(q wizard.Question) bool { return q.ID == id })]
	title := d.text.Questions[id].Title
	if q.Choices == nil {
		d.write(title, value)
		return
	}
	d.pick(title, slices.Index(d.choices(q), value))
}

// choices are those of a question as it is asked.
func (d *dialogue) choices(q *wizard.Question) []string {
	if q.ID == wizard.Quantization && d.gpus {
		return []string{wizard.Checkpoint, wizard.Custom}
	}
	return q.Choices(nil)
}

// wrong gives a text that is rejected: of it nothing is left behind.
func (d *dialogue) wrong(value string) {
	d.t.Helper()
	if d.form {
		d.send("\x15")
	}
	d.send(value + "\r")
}

// left waits for the line that a form leaves behind: only then is it over.
func (d *dialogue) left(title string) {
	d.t.Helper()
	if d.form {
		d.expect(title + ": ")
	}
}

// write answers with a text.
func (d *dialogue) write(title, value string) {
	d.t.Helper()
	if d.form {
		d.send("\x15") // whatever stands there
	}
	d.send(value + "\r")
	d.left(title)
}

// take takes what stands there.
func (d *dialogue) take(id wizard.ID) {
	d.t.Helper()
	d.send("\r")
	d.left(d.text.Questions[id].Title)
}

// pick answers with the n-th choice.
func (d *dialogue) pick(title string, n int) {
	d.t.Helper()
	defer d.left(title)
	switch {
	case n < 0:
		d.t.Fatal("no such choice")
	case d.form:
		d.send("g" + strings.Repeat("\x1b[B", n) + "\r")
	default:
		d.send(fmt.Sprint(n+1) + "\r")
	}
}

// do picks an action.
func (d *dialogue) do(title string, n int) {
	d.t.Helper()
	d.expect(title)
	d.ready()
	d.pick(title, n)
}

// unsure asks for a suggestion.
func (d *dialogue) unsure(id wizard.ID, choices int) {
	d.question(id)
	switch {
	case !d.form:
		d.send("?\r")
	case choices > 0:
		d.send("g" + strings.Repeat("\x1b[B", choices) + "\r")
	default:
		d.send("?\r")
	}
}

func (d *dialogue) back() {
	if d.form {
		d.send("\x1b")
	} else {
		d.send("<\r")
	}
}

func (d *dialogue) change() {
	if d.form {
		d.send("\x07")
	} else {
		d.send(d.text.ChangeWord + "\r")
	}
}

func (d *dialogue) quit() {
	if d.form {
		d.send("\x03")
	} else {
		d.send(d.text.QuitWord + "\r")
	}
}

// command is the command that is shown for confirmation.
func (d *dialogue) command() string {
	d.t.Helper()
	d.expect(d.text.CommandTitle + "\n  ")
	from := d.seen
	d.expect(d.text.ParametersTitle)
	line, _, _ := strings.Cut(d.terminal.text()[from:], "\n")
	return line
}

// base answers the core inputs before the mode.
func (d *dialogue) base(model, devices, n string) {
	d.t.Helper()
	d.answer(wizard.Model, model)
	d.answer(wizard.Devices, devices)
	d.answer(wizard.NumDevices, n)
	d.answer(wizard.Input, "512")
	d.answer(wizard.Output, "64")
}

// plain answers what follows the limits, without any extra.
func (d *dialogue) plain() {
	d.t.Helper()
	d.answer(wizard.PrefixCache, wizard.No)
	d.answer(wizard.Quantization, wizard.Recommended)
}

// confirm checks the command and runs it.
func (d *dialogue) confirm(words ...string) string {
	d.t.Helper()
	command := d.command()
	for _, w := range words {
		if !strings.Contains(command, w) {
			d.t.Errorf("want %s in the command, got %s", w, command)
		}
	}
	d.expect(d.text.Accepted)
	d.do(d.text.ConfirmTitle, 0)
	d.expect(d.text.Executed + "\n  " + command)
	d.expect(d.text.Best)
	return command
}

// done ends a dialogue after a run.
func (d *dialogue) done() string {
	d.t.Helper()
	d.expect(d.text.Caution)
	d.do(d.text.NextTitle, 3)
	return d.close(0)
}

// same checks that a command line alone asks for the same; once, since the languages and the ways of drawing share it.
func (d *dialogue) same(command string) {
	t := d.t
	t.Helper()
	if d.form || d.text.BackWord != wizard.English.Say().BackWord {
		return
	}
	var out, talk bytes.Buffer
	args := strings.Fields(command + " --json")[1:]
	code := cli.Main(&cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &talk,
		Getenv: func(string) string { return "" }, WorkDir: t.TempDir(), Now: time.Now, Memo: shared,
	})
	if code != 0 {
		t.Fatalf("%s: exit code %d\n%s", command, code, talk.String())
	}
	var doc struct{ Command string }
	if err := stdjson.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Command != command {
		t.Errorf("want %s\ngot  %s", command, doc.Command)
	}
}

const (
	small = "Qwen/Qwen3-0.6B"
	test  = "TEST_DEVICE"
)

func TestWizardAggregation(t *testing.T) {
	t.Parallel()
	ways(t, func(d *dialogue) {
		d.base(small, test+" ATLAS_800_A2_280T_64G", "2")
		d.answer(wizard.Mode, wizard.Aggregation)
		d.answer(wizard.SLO, wizard.Both)
		d.answer(wizard.TTFT, "5000")
		d.answer(wizard.TPOT, "50")
		d.plain()
		command := d.confirm("--ttft-limit 5000", "--tpot-limit 50", "--quantize-linear-action W8A8_DYNAMIC", "--compile")
		d.expect(d.text.Across)
		d.expect(d.text.Top)
		d.done()
		d.same(command)
	})
}

func TestWizardPhases(t *testing.T) {
	t.Parallel()
	for phase, limits := range map[string][]wizard.ID{
		wizard.PrefillOnly: {wizard.TTFT}, wizard.DecodeOnly: {wizard.TPOT}, wizard.Both: {wizard.TTFT, wizard.TPOT},
	} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			twoWays(t, func(d *dialogue) {
				d.base(small, test, "2")
				d.answer(wizard.Mode, wizard.Disaggregation)
				d.answer(wizard.Goal, wizard.EachPhase)
				d.answer(wizard.Phases, phase)
				for _, id := range limits {
					d.answer(id, "2000")
				}
				d.plain()
				d.same(d.confirm("--disagg"))
				all := d.done()
				if both := strings.Contains(all, d.text.BothPhases); both != (phase == wizard.Both) {
					d.t.Errorf("both phases: %t", both)
				}
			})
		})
	}
}

func TestWizardRatio(t *testing.T) {
	t.Parallel()
	for _, direct := range []bool{true, false} {
		t.Run(fmt.Sprintf("direct=%t", direct), func(t *testing.T) {
			t.Parallel()
			twoWays(t, func(d *dialogue) {
				d.base(small, test, "4")
				if direct {
					d.answer(wizard.Mode, wizard.Ratio)
				} else {
					d.answer(wizard.Mode, wizard.Disaggregation)
					d.answer(wizard.Goal, wizard.Ratio)
				}
				d.answer(wizard.PrefillDevices, "1")
				d.answer(wizard.DecodeDevices, "2")
				d.answer(wizard.SLO, wizard.TPOTOnly)
				d.answer(wizard.TPOT, "50")
				d.plain()
				d.same(d.confirm("--enable-optimize-prefill-decode-ratio", "--prefill-devices-per-instance 1", "--decode-devices-per-instance 2"))
				d.expect(d.text.RatioTitle)
				d.done()
			})
		})
	}
}

// TestWizardBranches: a model with images and one with experts; a prefix cache, MTP and formats of one's own.
func TestWizardBranches(t *testing.T) {
	t.Parallel()
	twoWays(t, func(d *dialogue) {
		d.base("Qwen/Qwen2.5-VL-7B-Instruct", test, "2")
		d.answer(wizard.Mode, wizard.Aggregation)
		d.answer(wizard.SLO, wizard.TTFTOnly)
		d.answer(wizard.TTFT, "60000")
		d.answer(wizard.ImageHeight, "224")
		d.answer(wizard.ImageWidth, "280")
		d.answer(wizard.PrefixCache, wizard.Yes)
		d.answer(wizard.HitRate, "0.25")
		d.answer(wizard.Quantization, wizard.Checkpoint)
		d.same(d.confirm("--image-height 224", "--image-width 280", "--prefix-cache-hit-rate 0.25", "--quantize-linear-action AUTO"))
		d.done()
	})
}

func TestWizardExperts(t *testing.T) {
	t.Parallel()
	for layouts, flags := range map[string]string{wizard.TPOnly: "--tp-sizes", wizard.AllExperts: "--tp-sizes --ep-sizes --moe-dp-sizes"} {
		t.Run(layouts, func(t *testing.T) {
			t.Parallel()
			twoWays(t, func(d *dialogue) {
				d.base("Qwen/Qwen3-30B-A3B", test, "2")
				d.answer(wizard.Mode, wizard.Aggregation)
				d.answer(wizard.SLO, wizard.TPOTOnly)
				d.answer(wizard.TPOT, "100")
				d.answer(wizard.Experts, layouts)
				d.answer(wizard.PrefixCache, wizard.No)
				d.answer(wizard.Quantization, wizard.Custom)
				d.answer(wizard.Linear, "MXFP4")
				d.answer(wizard.Attention, "FP8")
				d.answer(wizard.MXFP4, wizard.Custom)
				d.answer(wizard.MXFP4Group, "64")
				d.same(d.confirm(flags+" ", "--quantize-linear-action MXFP4",
					"--quantize-attention-action FP8", "--mxfp4-group-size 64"))
				d.done()
			})
		})
	}
}

// TestWizardWays: not sure, a bad value then a good one, back, change, save, quit.
func TestWizardWays(t *testing.T) {
	t.Parallel()
	ways(t, func(d *dialogue) {
		d.question(wizard.Model)
		d.wrong("Qwen/Qwen3-0.6")
		d.expect(small)
		d.ready()
		d.give(wizard.Model, small)
		d.unsure(wizard.Devices, 0)
		d.expect("h200_sxm")
		d.expect("plimsoll throughput-optimizer --help")
		d.ready()
		d.wrong("TEST_DEVICES")
		d.expect(`"TEST_DEVICES"`) // in the message, not as it is typed
		d.expect(test)
		d.ready()
		d.give(wizard.Devices, test)
		d.question(wizard.NumDevices)
		d.wrong("many")
		d.expect(fmt.Sprintf(d.text.WantSize, "many"))
		d.ready()
		d.give(wizard.NumDevices, "2")
		d.question(wizard.Input)
		d.wrong("999999999")
		d.expect("--input-length")
		d.ready()
		d.give(wizard.Input, "512")
		d.question(wizard.Output)
		d.back()
		d.answer(wizard.Input, "600")
		d.unsure(wizard.Output, 0)
		d.expect("1500")
		d.ready()
		d.take(wizard.Output)
		d.unsure(wizard.Mode, 4)
		d.expect(string([]rune(d.text.Questions[wizard.Mode].About[wizard.Compare])[:15])) // a form wraps lines
		d.expect(d.text.WhyAggregation)
		d.ready()
		d.take(wizard.Mode)
		d.question(wizard.SLO)
		d.change()
		d.expect(d.text.ChangeTitle)
		d.ready()
		d.pick(d.text.ChangeTitle, 4) // the output length
		d.answer(wizard.Output, "64")
		d.answer(wizard.SLO, wizard.TPOTOnly)
		d.answer(wizard.TPOT, "50")
		d.plain()
		d.command()
		d.expect(d.text.AssumptionsTitle)
		d.do(d.text.ConfirmTitle, 2)
		d.expect(d.text.SaveTitle)
		d.ready()
		d.write(d.text.SaveTitle, "mine.yaml")
		d.do(d.text.ConfirmTitle, 1)
		d.expect(d.text.ChangeTitle)
		d.ready()
		d.pick(d.text.ChangeTitle, 2)
		d.answer(wizard.NumDevices, "1")
		d.command()
		d.expect(d.text.ConfirmTitle)
		d.ready()
		d.quit()
		d.expect(d.text.NothingRun)
		d.close(cli.ExitFailure)
		replay(d)
	})
}

// replay runs the saved answers without a terminal, and with one.
func replay(d *dialogue) {
	t := d.t
	t.Helper()
	saved, err := os.ReadFile(filepath.Join(d.dir, "mine.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"input_length: \"600\"", "output_length: \"64\"", "mode: \"aggregation\"", "num_devices: \"2\""} {
		if !bytes.Contains(saved, []byte(want)) {
			t.Errorf("want %s in\n%s", want, saved)
		}
	}
	var out, talk bytes.Buffer
	env := &cli.Env{
		Args: []string{"plan", "--answers", "mine.yaml"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &talk,
		Getenv: func(string) string { return "" }, WorkDir: d.dir, Now: time.Now,
	}
	if code := cli.Main(env); code != 0 {
		t.Fatalf("exit code %d\n%s", code, talk.String())
	}
	if !strings.Contains(out.String(), "Best result") {
		t.Errorf("no result:\n%s", out.String())
	}
	again := openTerminal(t, d.dir, []string{"LC_ALL=C", "TERM=dumb"}, "plan", "--answers", "mine.yaml")
	again.expect("saved answers, mine.yaml")
	again.expect("Run it?")
	again.send("quit\r")
	again.close(cli.ExitFailure)
}

// TestWizardCompare: all modes and engines, which is the plan itself.
func TestWizardCompare(t *testing.T) {
	t.Parallel()
	twoWays(t, func(d *dialogue) {
		d.gpus = true
		d.base(small, "h200_sxm", "1")
		d.answer(wizard.Mode, wizard.Compare)
		d.answer(wizard.SLO, wizard.TPOTOnly)
		d.answer(wizard.TPOT, "2.5") // a longer one is kept by thousands of requests at a time
		d.answer(wizard.PrefixCache, wizard.Yes)
		d.answer(wizard.PrefixTokens, "64")
		d.answer(wizard.Quantization, wizard.Checkpoint)
		command := d.command()
		if want := "plimsoll plan " + small + " --system h200_sxm --gpus 1 --isl 512 --osl 64 --prefix 64 --tpot 2.5"; command != want {
			d.t.Errorf("want %s\ngot  %s", want, command)
		}
		d.do(d.text.ConfirmTitle, 0)
		d.expect(d.text.Executed + "\n  " + command)
		d.expect(d.text.Best)
		d.expect(d.text.Format + ": ")
		d.expect("bf16")
		d.expect(d.text.Caution)
		d.do(d.text.NextTitle, 0)
		d.expect("h200_sxm")
		d.do(d.text.NextTitle, 3)
		d.close(0)
		d.same(command)
	})
}

// TestWizardFlags: what flags say is not asked, and without a terminal all that is missing is one error; in a process of its own.
func TestWizardFlags(t *testing.T) {
	t.Parallel()
	p := openProcess(t, t.TempDir(), []string{"TERM=dumb"}, "plan", small, "--system", test, "--gpus", "2", "--isl", "512", "--tpot", "50", "--lang", "zh")
	d := &dialogue{terminal: p, text: wizard.Chinese.Say()}
	d.answer(wizard.Output, "64")
	d.answer(wizard.Mode, wizard.Aggregation)
	d.plain()
	d.confirm("--tpot-limit 50", "--input-length 512")
	if all := d.done(); strings.Contains(all, d.text.Questions[wizard.Model].Help) || !strings.Contains(all, d.text.Origins[wizard.Flag]) {
		t.Errorf("asked again, or the source is lost:\n%s", all)
	}
}

// TestWizardFails: no feasible point, with the next step.
func TestWizardFails(t *testing.T) {
	t.Parallel()
	twoWays(t, func(d *dialogue) {
		d.base(small, test, "1")
		d.answer(wizard.Mode, wizard.Aggregation)
		d.answer(wizard.SLO, wizard.TPOTOnly)
		d.answer(wizard.TPOT, "0.001")
		d.plain()
		d.command()
		d.do(d.text.ConfirmTitle, 0)
		d.expect(d.text.Failed)
		d.expect(d.text.Infeasible)
		d.expect(d.text.Correction)
		d.expect(d.text.TPOT)
		d.do(d.text.NextTitle, 3)
		if all := d.close(cli.ExitFailure); !strings.Contains(all, "error: "+d.text.NoneMeets) {
			d.t.Errorf("the last message is another one:\n%s", all)
		}
	})
}

// TestWizardQuits at the first question, and at the end of the input.
func TestWizardQuits(t *testing.T) {
	t.Parallel()
	ways(t, func(d *dialogue) {
		d.question(wizard.Model)
		d.back()
		d.expect(d.text.FirstQuestion)
		d.ready()
		d.quit()
		d.close(cli.ExitFailure)
	})
}

// TestWizardGPUs: on GPUs the checkpoint's own format is suggested, the answer names it, and the command predicts the same.
func TestWizardGPUs(t *testing.T) {
	t.Parallel()
	twoWays(t, func(d *dialogue) {
		d.gpus = true
		d.base(small, "h200_sxm", "1")
		d.answer(wizard.Mode, wizard.Aggregation)
		d.answer(wizard.SLO, wizard.TPOTOnly)
		d.answer(wizard.TPOT, "50ms")
		d.answer(wizard.PrefixCache, wizard.No)
		d.unsure(wizard.Quantization, 2)
		d.expect("bf16")
		d.ready()
		d.take(wizard.Quantization)
		command := d.confirm("--tpot-limit 50", "--quantize-linear-action AUTO")
		d.expect(d.text.Format + ": " + fmt.Sprintf(d.text.Own, "bf16"))
		if all := d.done(); strings.Contains(all, "W8A8") {
			d.t.Errorf("INT8 on a GPU:\n%s", all)
		}
		d.same(command)
	})
}

// TestWizardRoom: a number of devices without room for the model is refused, and leaves no trace.
func TestWizardRoom(t *testing.T) {
	t.Parallel()
	ways(t, func(d *dialogue) {
		const die = "ATLAS_800_A3_560T_128G_DIE"
		d.answer(wizard.Model, "deepseek-ai/DeepSeek-V3.1")
		d.answer(wizard.Devices, die)
		d.question(wizard.NumDevices)
		d.wrong("2")
		d.expect(fmt.Sprintf(d.text.NoRoom, "deepseek-ai/DeepSeek-V3.1", 2, die, 16))
		d.ready()
		d.give(wizard.NumDevices, "16")
		d.question(wizard.Input)
		d.quit()
		if all := d.close(cli.ExitFailure); d.form && strings.Contains(all, d.text.Questions[wizard.NumDevices].Title+": 2\n") {
			d.t.Errorf("the rejected answer stays:\n%s", all)
		}
	})
}

// TestWizardStarts from whatever is given: a load, rates over a day, a preset, and flags that no question covers.
func TestWizardStarts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args, command string
		asks          []wizard.ID
	}{
		{"--rate 3 --system l40s", "--system l40s --rate 3 --isl 512 --osl 64 --tpot 50", []wizard.ID{wizard.Input, wizard.Output, wizard.SLO, wizard.TPOT, wizard.PrefixCache, wizard.Quantization}},
		{"--daily 1 3 2 --preset chat", "--system l40s --daily 1 3 2 --preset chat --tpot 50", []wizard.ID{wizard.Devices, wizard.SLO, wizard.TPOT, wizard.Quantization}},
		{"--preset chat --gpus 1", "--system l40s --gpus 1 --preset chat --tpot 50", []wizard.ID{wizard.Devices, wizard.SLO, wizard.TPOT, wizard.Quantization}},
		{"--engine vllm --percentile p95 --gpus 1 --isl 512 --osl 64", "--system l40s --gpus 1 --isl 512 --osl 64 --tpot 50 --percentile p95 --engine vllm", []wizard.ID{wizard.Devices, wizard.SLO, wizard.TPOT, wizard.PrefixCache, wizard.Quantization}},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"plan", small}, strings.Fields(c.args)...)
			d := &dialogue{terminal: openTerminal(t, t.TempDir(), []string{"TERM=dumb"}, args...), text: wizard.English.Say(), gpus: true}
			answers := map[wizard.ID]string{
				wizard.Devices: "l40s", wizard.Input: "512", wizard.Output: "64", wizard.SLO: wizard.TPOTOnly, wizard.TPOT: "50",
				wizard.PrefixCache: wizard.No, wizard.Quantization: wizard.Checkpoint,
			}
			for _, id := range c.asks {
				d.answer(id, answers[id])
			}
			if got, want := d.command(), "plimsoll plan "+small+" "+c.command; got != want {
				t.Errorf("want %s\ngot  %s", want, got)
			}
			d.expect(d.text.Accepted)
			d.do(d.text.ConfirmTitle, 3)
			d.close(cli.ExitFailure)
		})
	}
}
