package results

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// records are the requests of AIPerf's profile_export.jsonl, one a line: a run without its load.
type records struct {
	values      [columns][]float64
	ok, failed  int
	silent      int     // without a time to first token
	first, last float64 // when the first was sent and the last ended, in ns
}

// isRecord reports whether an object is of one request.
func isRecord(o object) bool {
	return len(o.sub("metadata")) > 0 && (len(o.sub("metrics")) > 0 || len(o.sub("error")) > 0) && len(o.all("benchmarks")) == 0
}

// add reads a request; those of the warm-up do not count.
func (r *records) add(o object) error {
	about, metrics := o.sub("metadata"), o.sub("metrics")
	if about.text("benchmark_phase") == "warmup" {
		return nil
	}
	switch {
	case len(o.sub("error")) > 0:
		r.failed++
		return nil
	case len(metrics.sub("time_to_first_token")) == 0:
		r.silent++
		return nil
	}
	var wrong error
	value := func(key string) float64 { return metrics.metric(key, "value", &wrong) }
	one := [columns]float64{
		columnInput: value("input_sequence_length"), columnOutput: value("output_sequence_length"),
		columnTTFT: value("time_to_first_token") / 1e3, columnTPOT: value("inter_token_latency") / 1e3,
	}
	for c, x := range one {
		if column(c) != columnTPOT || one[columnOutput] > 1 {
			r.values[c] = append(r.values[c], x)
		}
	}
	sent, _ := about["request_start_ns"].(float64)
	ended, _ := about["request_end_ns"].(float64)
	if sent > 0 && (r.first == 0 || sent < r.first) {
		r.first = sent
	}
	r.last = max(r.last, ended)
	r.ok++
	return wrong
}

// join adds the run of the requests to others of the file.
func (r *records) join(runs []Run) ([]Run, error) {
	switch {
	case r.ok > 0:
		run := fromRequests(Records, &r.values)
		run.Failed = r.failed + r.silent
		if seconds := (r.last - r.first) / 1e9; r.first > 0 && seconds > 0 {
			n := float64(r.ok) / seconds
			run.OutputRate, run.TotalRate = n*run.Output, n*(run.Input+run.Output)
		}
		return append(runs, run), nil
	case r.silent > 0:
		return nil, fmt.Errorf("none of %s has a time to first token: run with streaming", units.Counted(r.silent, "request"))
	case r.failed > 0:
		return nil, fmt.Errorf("none of %s succeeded", units.Counted(r.failed, "request"))
	case len(runs) == 0:
		return nil, unknown()
	}
	return runs, nil
}
