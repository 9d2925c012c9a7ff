package plimsoll_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/plimsoll-project/plimsoll"
)

// TestJSON: questions can be written down and read back.
func TestJSON(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-z0-9_./-]{0,8}`)
	size := rapid.IntRange(0, 64)
	settings := rapid.MapOfN(rapid.StringMatching(`[a-z_.]{1,8}`), word, 0, 3)
	engine := rapid.Custom(func(t *rapid.T) plimsoll.Engine {
		return plimsoll.Engine{Name: word.Draw(t, "name"), Version: word.Draw(t, "version"), Settings: full(settings.Draw(t, "settings"))}
	})
	lengths := rapid.Custom(func(t *rapid.T) plimsoll.Lengths {
		l := plimsoll.Lengths{Input: size.Draw(t, "input"), Output: size.Draw(t, "output"), Low: rapid.Float64Range(0, 1).Draw(t, "low")}
		for range rapid.IntRange(0, 2).Draw(t, "bins") {
			l.InputBins = append(l.InputBins, plimsoll.Bin{Min: size.Draw(t, "min"), Max: size.Draw(t, "max"), Weight: rapid.Float64().Draw(t, "weight")})
		}
		return l
	})
	limits := rapid.Custom(func(t *rapid.T) plimsoll.Limits { // up to a day, beyond which a float of milliseconds rounds nanoseconds
		ns := func() time.Duration { return time.Duration(rapid.Int64Range(0, 86_400_000_000_000).Draw(t, "ns")) }
		return plimsoll.Limits{TTFT: ns(), TPOT: ns(), Latency: ns()}
	})
	rapid.Check(t, func(t *rapid.T) {
		d := plimsoll.Deployment{
			Model: word.Draw(t, "model"), System: word.Draw(t, "system"), Engine: engine.Draw(t, "engine"),
			Formats:     plimsoll.Formats{Checkpoint: word.Draw(t, "checkpoint"), KV: word.Draw(t, "kv"), Linear: word.Draw(t, "linear"), MXFP4Group: size.Draw(t, "group")},
			LeastLoaded: rapid.Bool().Draw(t, "least"),
		}
		for range rapid.IntRange(0, 2).Draw(t, "pools") {
			d.Pools = append(d.Pools, plimsoll.Pool{
				Role: plimsoll.Role(word.Draw(t, "role")), Replicas: size.Draw(t, "replicas"), Settings: full(settings.Draw(t, "settings")), MTP: size.Draw(t, "mtp"),
				Layout: plimsoll.Layout{
					TP: size.Draw(t, "tp"), DP: size.Draw(t, "dp"), PP: size.Draw(t, "pp"), EP: size.Draw(t, "ep"),
					MoETP: size.Draw(t, "moe-tp"), MoEDP: size.Draw(t, "moe-dp"), DCP: size.Draw(t, "dcp"),
				},
			})
		}
		again(t, d)
		again(t, plimsoll.Workload{
			Concurrency: size.Draw(t, "concurrency"), Rate: rapid.Float64().Draw(t, "rate"), Trace: word.Draw(t, "trace"),
			Arrival: plimsoll.Gamma, Lengths: lengths.Draw(t, "lengths"), Seed: rapid.Uint64().Draw(t, "seed"),
		})
		again(t, plimsoll.Question{
			Model: d.Model, Devices: size.Draw(t, "devices"), Engine: d.Engine, Lengths: lengths.Draw(t, "lengths"),
			Limits: limits.Draw(t, "limits"), Sizes: plimsoll.Sizes{EP: []int{size.Draw(t, "ep")}},
		})
	})
}

// full is a map, nil without entries, as JSON leaves it out.
func full(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}

// again writes a value and reads it back.
func again[T any](t *rapid.T, want T) {
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got T
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s (-written +read):\n%s", text, d)
	}
}

func TestLimitsJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(plimsoll.Limits{TTFT: 1500 * time.Millisecond, TPOT: 30 * time.Millisecond})
	if want := `{"ttft_limit":1500,"tpot_limit":30}`; err != nil || string(text) != want {
		t.Errorf("want %s, got %s (%v)", want, text, err)
	}
	var l plimsoll.Limits
	if err := json.Unmarshal([]byte(`{"tpot_limit":1e300,"ttft_limit":-1e300}`), &l); err != nil || l.TPOT != math.MaxInt64 || l.TTFT != math.MinInt64 {
		t.Errorf("beyond all durations: %+v (%v)", l, err)
	}
	if json.Unmarshal([]byte(`{"tpot_limit":"30ms"}`), &l) == nil {
		t.Error("a text is taken for a number")
	}
}
