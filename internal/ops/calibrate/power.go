package calibrate

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibrate"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
)

// PowerRequest is a fit of the power constants to measured rows.
type PowerRequest struct {
	Files []string `json:"files"`
	// Calibration is an overlay file for step times; "" = the shipped one.
	Calibration string `json:"calibration,omitempty"`
	Workers     int    `json:"jobs,omitempty"` // 0 = 1
}

// PowerResponse is the fitted constants and their errors.
type PowerResponse struct {
	*calibrate.PowerFit
	files []string
}

// Power fits the power constants to the rows with a measured energy.
func Power(ctx context.Context, w *session.Session, r PowerRequest) (*PowerResponse, error) {
	rows, err := w.Measured(r.Files...)
	if err != nil {
		return nil, err
	}
	o, err := w.Overlay(r.Calibration)
	if err != nil {
		return nil, err
	}
	metered, err := w.Predictor(o, &prices.Prices{}).Meter(ctx, rows, max(1, r.Workers))
	if err != nil {
		return nil, err
	}
	out := &PowerResponse{PowerFit: calibrate.FitPower(ctx, metered), files: r.Files}
	if len(out.Generations) == 0 {
		return nil, session.BadInput(fmt.Errorf("%s: no device generation has %d rows with joules_per_output_token and tput_per_gpu that can be predicted",
			strings.Join(r.Files, " "), calibrate.FewestPowerRows))
	}
	return session.Finish(ctx, out, nil)
}

// Write prints the constants with their source.
func (out *PowerResponse) Write(w io.Writer) error {
	names := make([]string, len(out.files))
	for i, f := range out.files { // without their paths, so that the same input gives the same bytes
		names[i] = filepath.Base(f)
	}
	return out.Fitted.Write(w, fmt.Sprintf(`What devices draw, fitted to %d rows with joules_per_output_token by %d numbers:
plimsoll calibrate --power %s --out coefficients.yaml

generations: idle and active are shares of the profile's power_w; memory, compute and link are picojoules per byte of
memory, per 16-bit matrix operation (8 bits take half, 4 bits a quarter) and per byte sent to other devices. The last is far
above what a link itself takes: it stands for all that devices do while they exchange.
factors: what the kernels of an engine on a generation for a class of models and format of weights draw above idle, over what is usual.
known, unseen: 10 %% and 90 %% quantiles of ln(measured/predicted) joules per output token, of held-out configurations and
of held-out cells.`, out.Rows, out.Numbers, strings.Join(names, " ")))
}
