package calibration

import (
	"cmp"
	"math"
	"strings"

	"github.com/plimsoll-project/plimsoll/internal/describe/device"
	"github.com/plimsoll-project/plimsoll/internal/describe/engine"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// Case is what a prediction is about and how it was made: everything its expected
// error depends on.
type Case struct {
	Subject     // without an engine where none was simulated
	Method      Method
	Tier        device.Tier // of the operator times that no kernel table covers
	Tables      bool        // kernel tables give some operator times
	Vendor      device.Vendor
	Devices     int      // of a replica
	Concurrency int      // of a replica; of a single step, its requests
	Input       int      // prompt length in tokens
	KVPeak      float64  // largest share of the KV cache in use
	Decode      bool     // of a single step
	Steady      bool     // of the formulas: the vendor's later accounting
	TensorCast  bool     // with the assumptions of Ascend's model
	Defaulted   []string // columns of a measured row that were left to defaults
	Familiar    bool     // a measured row from a source that the fit has rows of
}

// Method is how a prediction was made.
type Method uint8

// The methods.
const (
	Simulated  Method = iota // requests through an engine
	Formulas                 // throughput-optimizer's closed formulas
	SingleStep               // one forward pass
)

// On sets the devices and requests of a deployment with data-parallel ranks.
// Without experts the ranks share nothing: each is a replica.
func (s *Case) On(devices, concurrency, ranks int, experts bool) {
	if !experts && ranks > 1 {
		devices, concurrency = devices/ranks, parallel.MaxPerRank(concurrency, ranks)
	}
	s.Devices, s.Concurrency = devices, concurrency
}

// kind is the residuals a case belongs to.
func (o *Overlay) kind(s *Case) Kind {
	switch {
	case s.Disaggregated && o.seen(&s.Subject):
		return KindDisaggregatedSeen
	case s.Disaggregated:
		return KindDisaggregated
	case s.Method == Formulas && s.Steady:
		return KindSteady
	case s.Method == Formulas:
		return KindFormulas
	case s.Method == SingleStep || !o.fitted(s.Engine):
		return KindUncalibrated
	case o.seen(&s.Subject):
		return KindSeen
	}
	return KindUnseen
}

// fitted reports whether the fit used rows of an engine.
func (o *Overlay) fitted(engine string) bool {
	for row := range o.Cells {
		if strings.HasPrefix(row, engine+separator) {
			return true
		}
	}
	return false
}

// seen reports whether the fit used rows of the subject's cell.
func (o *Overlay) seen(s *Subject) bool {
	_, own := o.Groups[s.Cell()]
	return own || o.Has(s)
}

// Path names the residuals of a case from the widest to the narrowest: each
// divides the one before by what moves the errors most.
func (s *Case) Path(k Kind) []string {
	vendor := s.vendor()
	if vendor == ascend { // of which the fit has no rows
		vendor = nvidia
	}
	switch k {
	case KindDisaggregated, KindDisaggregatedSeen:
		return []string{string(k), vendor, s.Engine}
	case KindFormulas, KindSteady:
		return []string{string(k), s.load()}
	case KindUncalibrated:
		return []string{string(k), vendor, s.pressure(), s.load()}
	case KindUnseen: // a class has too few cells to be a group
		return []string{string(k), vendor, s.pressure(), s.load(), s.Engine}
	case KindSeen, KindOwn:
	}
	return []string{string(k), vendor, s.pressure(), string(s.Class), s.load(), s.Engine}
}

// fullCache is the share of the KV cache in use above which requests may have
// waited for blocks.
const fullCache = 0.8

// Full says that requests may have waited for blocks where such a share of the KV cache was in use at most.
func Full(kvPeak float64) bool { return kvPeak > fullCache }

// The codes of a path that are not names; inWords spells them out.
const (
	cacheFull, cacheFree       = "cache-full", "cache-free"
	loadLow, loadMid, loadHigh = "to-8", "to-64", "above-64"
)

func (s *Case) pressure() string {
	if Full(s.KVPeak) {
		return cacheFull
	}
	return cacheFree
}

// lowMost and midMost end the ranges of concurrency.
const lowMost, midMost = 8, 64

// load is the range a concurrency lies in.
func (s *Case) load() string {
	switch {
	case s.Concurrency <= lowMost:
		return loadLow
	case s.Concurrency <= midMost:
		return loadMid
	}
	return loadHigh
}

// Alike is the highest concurrency whose errors are those of another: the end of its range or of what was measured, and beyond that itself.
func (o *Overlay) Alike(concurrency int) int {
	end := math.MaxInt
	switch {
	case concurrency <= lowMost:
		end = lowMost
	case concurrency <= midMost:
		end = midMost
	}
	if most := o.Reach.Concurrency; most > 0 { // as in extrapolate
		end = min(end, max(concurrency, most))
	}
	return end
}

// named is a device of a vendor, and several, in words. The test device is one of TensorCast's; NVIDIA's are never missing.
func named(v device.Vendor) (one, several string) {
	name := map[device.Vendor]string{
		device.AMD: "AMD device", device.Intel: "Intel device", device.Google: "TPU", device.AWS: "AWS device", device.Apple: "Apple device",
		device.Ascend: "Ascend device", device.Test: "Ascend device",
	}[v]
	if name == "" {
		return "device of this vendor", "devices of this vendor"
	}
	return name, name + "s"
}

// pathWords spell out the codes of a path.
//
//nolint:gochecknoglobals // a constant table
var pathWords = map[string]string{
	nvidia: "NVIDIA", amd: "AMD", cacheFull: "KV cache full", cacheFree: "KV cache not full",
	loadLow: "concurrency up to 8", loadMid: "concurrency 9 to 64", loadHigh: "concurrency above 64",
	string(engine.Dense): "dense models", string(engine.MoE): "MoE models", string(engine.Latent): "MLA models",
	string(engine.Linear): "models with linear attention",
}

// inWords describes the part of a path below its kind.
func (s *Case) inWords(path []string) string {
	words := make([]string, len(path))
	for i, p := range path {
		words[i] = cmp.Or(pathWords[p], p)
		if p == nvidia && s.Vendor != device.NVIDIA { // whose rows stand in for those of others
			_, own := named(s.Vendor)
			words[i] = "NVIDIA GPUs in place of " + own
		}
	}
	return strings.Join(words, ", ")
}
