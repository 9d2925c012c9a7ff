package calibration

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/serve/figures"
)

// Residuals are the errors of a kind of predictions over held-out rows.
type Residuals struct {
	Rows int
	figures.Each[Error]
}

// Kind says how rows were predicted to learn the errors from; each kind is divided
// into groups.
type Kind string

// The kinds.
const (
	KindSeen          Kind = "seen"         // aggregated, configuration held out of the fit
	KindOwn           Kind = "own"          // a user's rows, by cell, configuration held out
	KindUnseen        Kind = "unseen"       // aggregated, cell held out of the fit
	KindDisaggregated Kind = disaggregated  // disaggregated, cell held out of the fit
	KindUncalibrated  Kind = "uncalibrated" // without a fit
	// KindDisaggregatedSeen is disaggregated, configuration held out of the fit.
	KindDisaggregatedSeen Kind = "disagg-seen"
	KindFormulas          Kind = "formulas" // by throughput-optimizer's documented formulas
	KindSteady            Kind = "steady"   // by its steady formulas
)

// kinds are the words a file may use.
func kinds() []string {
	return []string{
		string(KindSeen), string(KindUnseen), string(KindOwn), string(KindDisaggregated), string(KindDisaggregatedSeen),
		string(KindUncalibrated), string(KindFormulas), string(KindSteady),
	}
}

// how says how the rows of a kind were predicted.
func (k Kind) how() string {
	switch k {
	case KindSeen, KindDisaggregatedSeen:
		return "with their configuration held out of the fit"
	case KindUnseen, KindDisaggregated:
		return "with their model, engine and device generation held out of the fit"
	case KindUncalibrated:
		return "predicted without calibration"
	case KindFormulas, KindSteady:
		return "predicted by these formulas"
	case KindOwn:
	}
	return "of this model, system and engine"
}

// text is the line of a file.
func (r Residuals) text() string {
	return fmt.Sprintf("%d rows, ttft %g %g, tpot %g %g, throughput %g %g",
		r.Rows, r.TTFT.Low, r.TTFT.High, r.TPOT.Low, r.TPOT.High, r.Throughput.Low, r.Throughput.High)
}

// parseResiduals reads the line of a file.
func parseResiduals(text string) (Residuals, error) {
	wrong := errors.New("want \"40 rows, ttft -0.3 0.3, tpot -0.1 0.1, throughput -0.1 0.1\"")
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })
	const count = 11
	if len(words) != count || words[1] != "rows" || words[2] != "ttft" || words[5] != "tpot" || words[8] != "throughput" {
		return Residuals{}, wrong
	}
	n, err := strconv.Atoi(words[0])
	if err != nil {
		return Residuals{}, wrong
	}
	var x [6]float64
	for i, at := range [...]int{3, 4, 6, 7, 9, 10} {
		if x[i], err = strconv.ParseFloat(words[at], 64); err != nil {
			return Residuals{}, wrong
		}
	}
	r := Residuals{n, figures.Each[Error]{TTFT: Error{x[0], x[1]}, TPOT: Error{x[2], x[3]}, Throughput: Error{x[4], x[5]}}}
	for _, e := range []Error{r.TTFT, r.TPOT, r.Throughput} {
		if !(e.Low <= e.High) || math.IsInf(e.Low, 0) || math.IsInf(e.High, 0) || n < 1 {
			return Residuals{}, errors.New("want at least one row, and a low and a high quantile in that order")
		}
	}
	return r, nil
}
