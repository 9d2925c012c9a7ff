package money_test

import (
	"math"
	"testing"

	"github.com/plimsoll-project/plimsoll/internal/cost/money"
)

// TestCost: an hour's tokens and an hour's requests cost what the devices and their energy do.
func TestCost(t *testing.T) {
	t.Parallel()
	load := money.Load{Devices: 8, Tokens: 5000, Requests: 10, PerToken: 0.4}
	price := money.Cost{USDPerHour: 3, Source: "given"}
	const kWh = 5000 * 3600 * 0.4 / 3.6e6
	for _, c := range []struct {
		perKWh, perToken float64
		want             float64 // US dollars for an hour
	}{{0, 0.4, 24}, {0.1, 0.4, 24 + 0.1*kWh}, {0.1, 0, 24}} {
		l := load
		l.PerToken = 0
		if c.perToken > 0 {
			l.PerToken = load.PerToken
		}
		got := price.Of(l, c.perKWh)
		for what, x := range map[string]float64{
			"tokens": got.PerMillion / 1e6 * 5000 * 3600, "requests": got.PerRequest * 10 * 3600, "month": got.PerMonth / 730,
			"fewer devices": got.Month(8, 4)/730 + 12,
			"parts":         24 + got.Energy/1e6*5000*3600,
		} {
			if math.Abs(x-c.want) > 1e-9 {
				t.Errorf("%g USD/kWh, %g J: %s come to %g USD an hour, want %g", c.perKWh, c.perToken, what, x, c.want)
			}
		}
		if got.Source != "given" || (got.EnergyPrice != 0) != (c.want != 24) {
			t.Errorf("%+v", got)
		}
	}
}
