package results

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// requestColumns are the names of the columns of a CSV with one line per request, with the
// factor to seconds of times. The second of each is that of simulate --per-request.
//
//nolint:gochecknoglobals // a constant table
var requestColumns = map[string]struct {
	what   column
	factor float64
}{
	"isl": {columnInput, 1}, "input_tokens": {columnInput, 1},
	"osl": {columnOutput, 1}, "output_tokens": {columnOutput, 1},
	"ttft_ms": {columnTTFT, 1e-3}, "ttft_s": {columnTTFT, 1},
	"tpot_ms": {columnTPOT, 1e-3}, "tpot_s": {columnTPOT, 1},
}

// column is what a column of such a file holds.
type column int

const (
	columnInput column = iota
	columnOutput
	columnTTFT
	columnTPOT
	columns
)

// isRequests reports whether a header is of a CSV with one line per request.
func isRequests(head []string) bool {
	found := [columns]bool{}
	for _, name := range head {
		if c, ok := requestColumns[name]; ok {
			found[c.what] = true
		}
	}
	return found == [columns]bool{true, true, true, true}
}

// readRequests reads the lines of a CSV with one line per request. Requests that were refused
// have no times.
func readRequests(head []string, in *csv.Reader) ([]Run, error) {
	var values [columns][]float64
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("requests: %w", err)
		}
		one, err := readRequest(head, record)
		if err != nil {
			return nil, err
		}
		if one[columnTTFT] <= 0 {
			continue
		}
		for c, x := range one {
			if column(c) != columnTPOT || one[columnOutput] > 1 {
				values[c] = append(values[c], x)
			}
		}
	}
	return []Run{fromRequests(Requests, &values)}, nil
}

// fromRequests is the run of some requests.
func fromRequests(f Format, values *[columns][]float64) Run {
	run := Run{Format: f, Requests: len(values[columnTTFT]), TTFTs: seconds(values[columnTTFT]), TPOTs: seconds(values[columnTPOT])}
	run.Input, run.Output = mean(values[columnInput]), mean(values[columnOutput])
	run.TTFT.Mean, run.TPOT.Mean = units.Seconds(mean(values[columnTTFT])), units.Seconds(mean(values[columnTPOT]))
	return run
}

// readRequest reads one line; empty cells are zero.
func readRequest(head, record []string) ([columns]float64, error) {
	var out [columns]float64
	for i, name := range head {
		c, ok := requestColumns[name]
		if !ok || i >= len(record) || record[i] == "" {
			continue
		}
		x, err := strconv.ParseFloat(record[i], 64)
		if err != nil || math.IsInf(x, 0) || !(x >= 0) {
			return out, fmt.Errorf("column %s: want a number of at least 0, got %q", name, record[i])
		}
		out[c.what] = x * c.factor
	}
	return out, nil
}

func seconds(all []float64) []units.Seconds {
	out := make([]units.Seconds, len(all))
	for i, x := range all {
		out[i] = units.Seconds(x)
	}
	return out
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, x := range all {
		sum += x
	}
	return sum / float64(max(1, len(all)))
}

// readCSV reads a CSV with one line per request, or an export of AIPerf or genai-perf: a block of
// times with their percentiles, and one of single values.
func readCSV(data []byte) ([]Run, error) {
	in := csv.NewReader(bytes.NewReader(data))
	in.FieldsPerRecord = -1
	values := map[[2]string]float64{}
	var head []string
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && head == nil && isRequests(record) {
			return readRequests(record, in)
		}
		if err != nil || head == nil && (len(record) < 2 || record[0] != "Metric") {
			return nil, unknown()
		}
		if record[0] == "Metric" {
			head = record
			continue
		}
		if err := line(values, head, record); err != nil {
			return nil, err
		}
	}
	return []Run{fromMetrics(func(key, stat string) float64 { return values[[2]string{key, stat}] })}, nil
}

// line reads the numbers of one metric.
func line(values map[[2]string]float64, head, record []string) error {
	for i := 1; i < len(record) && i < len(head); i++ {
		x, err := strconv.ParseFloat(strings.ReplaceAll(record[i], ",", ""), 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			continue
		}
		if err := possible(record[0], x); err != nil {
			return err
		}
		stat := strings.ToLower(head[i])
		if stat == "value" {
			stat = "avg"
		}
		values[[2]string{metricOf(record[0]), stat}] = x
	}
	return nil
}

// metricOf is the key of a metric that a CSV calls by its title, "Time To First Token
// (ms)".
func metricOf(title string) string {
	name, _, _ := strings.Cut(title, "(")
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), " ", "_")
}
