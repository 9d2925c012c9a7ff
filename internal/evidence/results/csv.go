package results

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
)

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
