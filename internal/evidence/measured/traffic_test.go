package measured

import (
	"math"
	"strings"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/serve/sim/traffic"
)

// trafficOf is a row with some columns of traffic.
func trafficOf(columns, values string) (Row, error) {
	head := "backend,model_path,system,isl,osl,tp_size,silicon_ttft_ms,silicon_tpot_ms,num_prompts"
	line := "vllm,Qwen/Qwen3-8B,h200_sxm,1000,100,1,200,10,50"
	rows, err := Read(strings.NewReader(head+","+columns+"\n"+line+","+values+"\n"), "x.csv")
	if err != nil {
		return Row{}, err
	}
	return rows[0], nil
}

// TestTraffic: rates, prefixes and distributions of lengths reach the simulated client.
func TestTraffic(t *testing.T) {
	t.Parallel()
	get := func(columns, values string) Row {
		t.Helper()
		r, err := trafficOf(columns, values)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := get("request_rate", "5")
	if c, ok := r.client().(traffic.OpenLoop); !ok || c.Rate != 5 || c.Requests != 50 || r.Concurrency != 6 {
		t.Errorf("a rate: %+v, %d in flight", r.client(), r.Concurrency)
	}
	r = get("request_rate,arrival", "5,constant")
	if c, ok := r.client().(traffic.OpenLoop); !ok || c.Process != traffic.Constant {
		t.Errorf("constant: %+v", r.client())
	}
	r = get("request_rate,concurrency", "5,8")
	if c, ok := r.client().(traffic.ClosedLoop); !ok || c.Concurrency != 8 {
		t.Errorf("a rate held by a concurrency: %+v", r.client())
	}
	r = get("prefix_share,concurrency", "0.25,8")
	if c, ok := r.client().(traffic.ClosedLoop); !ok || c.Prefix != 250 || !strings.Contains(strings.Join(r.settings(), " "), "prefix_caching=true") {
		t.Errorf("a prefix: %+v %v", r.client(), r.settings())
	}
	r = get("isl_bins,osl_stdev,concurrency", "100-200:0.5 200-1000:0.5,20,8")
	c := r.client().(traffic.ClosedLoop)
	if len(c.Input.Distribution.Bins) != 2 || math.Abs(float64(c.Output.Distribution.MeanEffective(0))-100) > 2 {
		t.Errorf("distributions: %+v, mean %d", c.Input.Distribution, c.Output.Distribution.MeanEffective(0))
	}
	for _, wrong := range [][2]string{
		{"arrival", "sometimes"}, {"request_rate", "-1"}, {"prefix", "1000"}, {"prefix_share", "1"}, {"isl_bins", "5-3:1"}, {"isl_bins", "1-2"}, {"osl_stdev", "-3"}, {"prefix_share", "NaN"}, {"request_rate", "Inf"},
	} {
		if _, err := trafficOf(wrong[0], wrong[1]); err == nil || !strings.Contains(err.Error(), "x.csv:2: ") {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}

// FuzzTraffic: no cell makes the reader fail other than by an error, and what it accepts makes a client that can be run.
func FuzzTraffic(f *testing.F) {
	f.Add("5", "poisson", "0", "0.5", "100-200:1", "10")
	f.Add("", "burst", "10", "", "", "1e3")
	f.Add("1e9", "rate", "-1", "2", "1-2:0 3", "NaN")
	f.Fuzz(func(t *testing.T, rate, arrival, prefix, share, bins, sd string) {
		for _, s := range []string{rate, arrival, prefix, share, bins, sd} {
			if strings.ContainsAny(s, ",\"\r\n") {
				return
			}
		}
		r, err := trafficOf("request_rate,arrival,prefix,prefix_share,isl_bins,osl_stdev", strings.Join([]string{rate, arrival, prefix, share, bins, sd}, ","))
		if err != nil {
			return
		}
		if r.Traffic.Prefix < 0 || r.Traffic.Prefix >= r.Input || !(r.Traffic.Rate >= 0) || math.IsInf(r.Traffic.Rate, 0) || r.Concurrency < 1 {
			t.Errorf("%+v", r)
		}
		for _, d := range []int{0, 1} {
			l := r.Traffic.InputLengths
			if d == 1 {
				l = r.Traffic.OutputLengths
			}
			if l != nil && (len(l.Bins) == 0 || l.MeanEffective(0) < 1) {
				t.Errorf("lengths %+v", l)
			}
		}
	})
}
