package session

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/plimsoll-project/plimsoll/internal/basic/bound"
	"github.com/plimsoll-project/plimsoll/internal/cost"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/evidence/measured"
)

// Measured reads a file of measured rows.
func (w *Session) Measured(files ...string) ([]measured.Row, error) {
	var out []measured.Row
	for _, file := range files {
		data, err := w.ReadFile(file, bound.Rows)
		if err != nil {
			return nil, BadInput(fmt.Errorf("reading measurements: %w", err))
		}
		rows, err := measured.Read(bytes.NewReader(data), file)
		if err != nil {
			return nil, BadInput(err)
		}
		out = append(out, rows...)
	}
	return out, nil
}

// Predictor predicts rows with physical graphs at each device's best prices, which must have
// no tables or be checked before.
func (w *Session) Predictor(o *calibration.Overlay, p *prices.Prices) *measured.Predictor {
	var mu sync.Mutex
	costers := map[string]cost.Coster{}
	return &measured.Predictor{
		Prices: func(d *device.Profile) cost.Coster {
			mu.Lock()
			defer mu.Unlock()
			if _, ok := costers[d.Name]; !ok {
				c, err := p.Physical(d)
				if err != nil {
					panic(fmt.Sprintf("prices of %s were not checked: %v", d.Name, err))
				}
				costers[d.Name] = c
			}
			return costers[d.Name]
		},
		Calibration: o,
		Models:      w.Models(),
	}
}
