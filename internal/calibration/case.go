package calibration

import (
	"strings"

	"plimsoll/internal/device"
	"plimsoll/internal/parallel"
)

// Case is what a prediction is about and how it was made, as far as that decides
// how far it may be off.
type Case struct {
	Subject     // without an engine where none was simulated
	Method      Method
	Tier        device.Tier // of the operators' prices where tables cover none
	Tables      bool        // some are priced by tables of kernels
	Vendor      device.Vendor
	Devices     int      // of a replica
	Concurrency int      // of a replica; the requests of a single step
	Input       int      // prompt length in tokens
	KVPeak      float64  // share of the cache in use where it was fullest
	Decode      bool     // of a single step
	Steady      bool     // of the formulas: the vendor's later accounting
	TensorCast  bool     // repeats the assumptions of Ascend's model
	Defaulted   []string // columns of a measured row that took defaults
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
		devices, concurrency = devices/ranks, parallel.Fullest(concurrency, ranks)
	}
	s.Devices, s.Concurrency = devices, concurrency
}

// kind is the residuals a case belongs to.
func (o *Overlay) kind(s *Case) Kind {
	switch {
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

// fitted reports whether the fit had rows of an engine.
func (o *Overlay) fitted(engine string) bool {
	for row := range o.Cells {
		if strings.HasPrefix(row, engine+separator) {
			return true
		}
	}
	return false
}

// seen reports whether the fit had rows of the subject's cell.
func (o *Overlay) seen(s *Subject) bool {
	_, own := o.Groups[s.Cell()]
	return own || o.has(s)
}

// Path names the residuals of a case from the widest to the narrowest: each
// divides the one before by what moves the errors most.
func (s *Case) Path(k Kind) []string {
	switch k {
	case KindDisaggregated:
		return []string{string(k), s.Engine}
	case KindFormulas, KindSteady:
		return []string{string(k), s.load()}
	case KindUncalibrated:
		return []string{string(k), s.pressure(), s.load()}
	case KindUnseen: // a class has too few cells to speak for others
		return []string{string(k), s.pressure(), s.load(), s.Engine}
	case KindSeen, KindOwn:
	}
	return []string{string(k), s.pressure(), string(s.Class), s.load(), s.Engine}
}

// fullCache is the share of the cache from which requests may have waited for
// room.
const fullCache = 0.8

// The words of paths that are no names.
const (
	cacheFull, cacheFree       = "cache-full", "cache-free"
	loadLow, loadMid, loadHigh = "to-8", "to-64", "above-64"
)

func (s *Case) pressure() string {
	if s.KVPeak > fullCache {
		return cacheFull
	}
	return cacheFree
}

// load is the band of a concurrency.
func (s *Case) load() string {
	switch {
	case s.Concurrency <= 8:
		return loadLow
	case s.Concurrency <= 64:
		return loadMid
	}
	return loadHigh
}

// inWords says what the rest of a path stands for.
func inWords(path []string) string {
	words := make([]string, len(path))
	for i, p := range path {
		switch p {
		case cacheFull:
			words[i] = "KV cache full"
		case cacheFree:
			words[i] = "room in the KV cache"
		case loadLow:
			words[i] = "concurrency up to 8"
		case loadMid:
			words[i] = "concurrency 9 to 64"
		case loadHigh:
			words[i] = "concurrency above 64"
		default:
			words[i] = p
		}
	}
	return strings.Join(words, ", ")
}
