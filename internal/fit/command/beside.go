package command

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// errNone marks a row that another program does not predict.
var errNone = errors.New("not predicted")

// beside reads the predictions of another program for rows: a CSV file with the columns id, ttft_ms and tpot_ms.
func beside(w *session.Session, file string, rows []measured.Compared) ([]measured.Compared, error) {
	data, err := w.ReadFile(file, bound.Rows)
	if err != nil {
		return nil, err
	}
	says, err := readPredictions(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	out, found := slices.Clone(rows), 0
	for i := range out {
		p, ok := says[out[i].Row.ID]
		out[i].Pred = measured.Prediction{TTFT: p[0], TTFTMean: p[0], TPOT: p[1]}
		if !ok || p[1] == 0 {
			out[i].Pred.Err = errNone
			continue
		}
		found++
	}
	if found == 0 {
		return nil, fmt.Errorf("%s predicts none of the rows", file)
	}
	return out, nil
}

// readPredictions reads TTFT and TPOT by the id of a row; what is empty is not predicted.
func readPredictions(data []byte) (map[string][2]units.Seconds, error) {
	r := csv.NewReader(bytes.NewReader(data))
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("it has no header: %w", err)
	}
	var at [3]int
	for i, name := range []string{"id", "ttft_ms", "tpot_ms"} {
		if at[i] = slices.Index(header, name); at[i] < 0 {
			return nil, fmt.Errorf("it has no column %s", name)
		}
	}
	out := map[string][2]units.Seconds{}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		var p [2]units.Seconds
		for i := range p {
			text := record[at[i+1]]
			if text == "" {
				continue
			}
			ms, err := strconv.ParseFloat(text, 64)
			if err != nil || !(ms >= 0) {
				return nil, fmt.Errorf("%s of %s must be a time in ms, got %q", header[at[i+1]], record[at[0]], text)
			}
			p[i] = units.Seconds(ms) * units.Millisecond
		}
		out[record[at[0]]] = p
	}
}
