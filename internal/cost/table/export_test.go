package table

import "github.com/plimsoll-project/plimsoll/internal/cost/op"

// Busiest is what a table of experts that were dealt tokens by a power law measures.
func Busiest(exponent float64, d op.Deal, tokens float64) (rows, active float64) {
	return law{exponent: exponent}.busiest(d, tokens)
}

// Check decodes all surfaces.
func (f *Fitted) Check() error {
	for _, p := range f.Parts {
		_, err := p.sources([2]float64{})
		for i := range p.shelves {
			if err == nil {
				_, err = p.sources(p.shelves[i].Exactly)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
