package money

import "github.com/plimsoll-project/plimsoll/internal/basic/units"

const (
	// HoursPerMonth is an average month: 365 days of 24 hours over 12.
	HoursPerMonth = 730

	secondsPerHour = 3600
	million        = 1e6
	joulesPerKWh   = 3.6e6
)

// PerMillion is US dollars for a million tokens where so many dollars are spent in an hour
// and so many tokens come in a second.
func PerMillion(usdPerHour, tokens float64) float64 {
	return usdPerHour / secondsPerHour / tokens * million
}

// BreakEven is the requests per second from which devices that cost so much a month are cheaper than a price per request.
func BreakEven(usdPerMonth, usdPerRequest float64) float64 {
	return usdPerMonth / HoursPerMonth / secondsPerHour / usdPerRequest
}

// Cost is what a deployment costs at its throughput; zero where no price is known.
type Cost struct {
	USDPerHour float64 // of one device
	Source     string
	PerMillion float64 // output tokens
	PerRequest float64
	PerMonth   float64 // 730 hours of all devices
	// Energy is its part of PerMillion, EnergyPrice the price of a kilowatt-hour behind
	// it; zero where the power of the devices is unknown.
	Energy, EnergyPrice float64
}

// Load is what a number of devices serve: tokens and requests per second, and the energy of
// a token, which is 0 where it is unknown.
type Load struct {
	Devices          int
	Tokens, Requests float64
	PerToken         units.Joules
}

// Of completes a cost, of which the price of a device is given, for a load. A kilowatt-hour
// costs perKWh; 0 leaves energy out.
func (c Cost) Of(l Load, perKWh float64) Cost {
	hour := c.USDPerHour * float64(l.Devices)
	if l.PerToken > 0 && perKWh > 0 {
		c.EnergyPrice = perKWh
		c.Energy = float64(l.PerToken) / joulesPerKWh * c.EnergyPrice * million
		hour += c.Energy / million * l.Tokens * secondsPerHour
	}
	c.PerMillion, c.PerRequest = PerMillion(hour, l.Tokens), hour/secondsPerHour/l.Requests
	c.PerMonth = hour * HoursPerMonth
	return c
}

// Month is the cost per month with another number of devices on average and the same energy.
func (c *Cost) Month(devices int, mean float64) float64 {
	energy := c.PerMonth - c.USDPerHour*float64(devices)*HoursPerMonth
	return c.USDPerHour*mean*HoursPerMonth + energy
}
