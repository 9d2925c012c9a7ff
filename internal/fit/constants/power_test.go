package constants_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/cost/power"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured/measuredtest"
	"github.com/plimsoll-project/plimsoll/internal/fit/constants"
)

// powerRows are made-up rows of two models on two systems, whose energy is that of true
// constants and factors; all run a tenth faster than predicted.
func powerRows(t *testing.T, truth power.Constants, factors map[string]float64) []measured.Metered {
	t.Helper()
	var sheet []map[string]string
	for _, system := range []string{"h200_sxm", "h100_sxm"} {
		for _, model := range []string{"Qwen/Qwen3-32B", "openai/gpt-oss-120b"} {
			for _, tp := range []string{"2", "4"} {
				for _, concurrency := range []string{"1", "8", "64"} {
					sheet = append(sheet, measuredtest.Needed("system", system, "model_path", model, "tp_size", tp, "moe_tp_size", tp,
						"concurrency", concurrency, "num_prompts", "64", "tput_per_gpu", "1", "joules_per_output_token", "1"))
				}
			}
		}
	}
	// Their power is wrong.
	sheet = append(sheet, measuredtest.Needed("model_path", "Qwen/Qwen3-32B", "tput_per_gpu", "1", "joules_per_output_token", "1", "quality", "mtp power-implausible"))
	read, err := measured.Read(strings.NewReader(measuredtest.Sheet(sheet...)), "power.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := measuredtest.Predictor().Meter(t.Context(), read, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(sheet)-1 {
		t.Fatalf("want %d rows, got %d", len(sheet)-1, len(rows))
	}
	for i := range rows {
		r := &rows[i]
		const faster = 1.1
		r.Row.PerGPU = faster * r.OutputRate / float64(r.Used[0].Devices) * float64(r.Row.Input+r.Row.Output) / float64(r.Row.Output)
		loads := r.Used[0].Loads
		for k := range loads.Decode.Activity {
			loads.Decode.Activity[k] *= faster
			loads.Prefill.Activity[k] *= faster
		}
		factor := 1.0
		for name, x := range factors {
			if strings.Contains(r.Kind, name) {
				factor = x
			}
		}
		watts := power.With(r.Device, &truth).Scaled(factor).Mean(&loads, r.Used[0].Busy)
		r.Row.Joules = float64(watts) / (faster * r.OutputRate / float64(r.Used[0].Devices))
		if math.Abs(r.Watts()-float64(watts)) > 1e-6 || math.Abs(r.Pace()-faster) > 1e-9 {
			t.Fatalf("want %g W at a pace of %g, got %g W at %g", watts, faster, r.Watts(), r.Pace())
		}
	}
	return rows
}

// TestFitPower fits a made-up world: power is found to a few percent, a model whose
// kernels draw more is recognized, and joules are off by what the pace is.
func TestFitPower(t *testing.T) {
	truth := power.Constants{Idle: 0.1, Active: 0.2, Memory: 170, Compute: 0.8, Link: 4000}
	rows := powerRows(t, truth, map[string]float64{"moe": 1.4})
	fit := constants.FitPower(t.Context(), rows)
	if len(fit.Generations) != 1 || len(fit.Factors) != 2 || fit.Numbers != 7 || fit.Rows != len(rows) || len(fit.Left) != 0 {
		t.Fatalf("%+v", fit)
	}
	all := &fit.Systems[len(fit.Systems)-1]
	if all.System != "all" || len(fit.Systems) != 3 || all.Fitted.Watts.MAPE > 0.03 || all.Configurations.Watts.MAPE > 0.06 || all.Cells.Watts.MAPE > 0.3 {
		t.Errorf("%+v", all)
	}
	// A prediction that is too slow by a tenth has tokens take up to a tenth more.
	if e := all.Fitted.Joules; e.Bias < 0.02 || e.Bias > 0.1 {
		t.Errorf("joules: %+v", e)
	}
	for kind, x := range fit.Factors {
		if more := strings.Contains(kind, "moe"); more != (x > 1.1) {
			t.Errorf("%s: %g", kind, x)
		}
	}
	if !(fit.Known[0] < fit.Known[1]) || !(fit.Unseen[0] < fit.Unseen[1]) {
		t.Errorf("known %v, unseen %v", fit.Known, fit.Unseen)
	}
	var text strings.Builder
	if err := fit.Write(&text, "made up"); err != nil {
		t.Fatal(err)
	}
	again, err := power.Read([]byte(text.String()))
	if err != nil || fmt.Sprintf("%.2f", again.Generations["hopper"].Idle) != fmt.Sprintf("%.2f", fit.Generations["hopper"].Idle) {
		t.Errorf("%v: %s", err, text.String())
	}
}

// TestFewPowerRows: a generation with few rows is left to its relatives.
func TestFewPowerRows(t *testing.T) {
	rows := powerRows(t, power.Constants{Idle: 0.1, Active: 0.2, Memory: 170, Compute: 0.8, Link: 4000}, nil)
	fit := constants.FitPower(t.Context(), rows[:constants.FewestPowerRows-1])
	if len(fit.Generations) != 0 || len(fit.Left) != 1 || fit.Left[0] != "hopper" {
		t.Errorf("%+v", fit)
	}
}
