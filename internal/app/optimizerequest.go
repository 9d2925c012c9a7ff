package app

import (
	"fmt"
	"math"
	"strconv"

	"plimsoll/internal/dtype"
	"plimsoll/internal/graph"
	"plimsoll/internal/search"
	"plimsoll/internal/serving"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// OptimizeRequest asks for the deployments that carry the most load.
type OptimizeRequest struct {
	Model      string
	Devices    []string
	DeviceFile string
	NumDevices int
	PerfData   PerfData
	Modelling

	Input        int
	Distribution *workload.Distribution
	Output       int

	Disagg                        bool
	PDRatio                       bool
	PrefillDevices, DecodeDevices int

	// The limits: 0 is none given, infinity one that binds nothing but, where
	// phases are apart, still asks for its phase.
	TTFTLimit, TPOTLimit units.Seconds
	Budget               int // tokens of a step and DP rank; 0 = from the prompt length
	PrefixHitRate        float64
	ServingCost          units.Seconds
	BatchRange           []int
	ReservedGiB          float64
	Accounting           serving.Accounting

	Space           search.Space
	AcceptanceRates []float64
	Draft           Draft

	LinearAction    dtype.Action
	NonExpertAction dtype.Action
	AttentionAction dtype.Action
	MXFP4Group      int

	SequenceParallel bool
	MatMulAllReduce  bool
	DispatchCombine  bool
	EmbeddingTP      graph.EmbeddingTP
	SharedExpertTP   bool

	ImageHeight, ImageWidth, ImageBatch int

	Calibration string // an overlay file for the error bars; "" = the shipped one

	Jobs int
	// Progress, if not nil, is told after each candidate.
	Progress func(device string, mode search.Mode, done, of int) `json:"-"`
}

// Draft is speculation by a draft model that proposes a block of tokens.
type Draft struct {
	Method   string // "dflash" or "dspark", "" = none
	Block    int    // tokens verified in a step
	Accepted float64
	Layers   int
}

// graph is the part of a draft that costs time.
func (d Draft) graph() graph.Draft {
	if d.Method == "" {
		return graph.Draft{}
	}
	return graph.Draft{Layers: d.Layers, Block: d.Block}
}

// label is the draft as it stands behind a layout.
func (d Draft) label() string {
	name := map[string]string{"dflash": "DFlash", "dspark": "DSpark"}[d.Method]
	return fmt.Sprintf(" | %s=%d/acc=%s", name, d.Block, strconv.FormatFloat(d.Accepted, 'g', -1, 64))
}

// limits are what a pass has to keep.
func limits(ttft, tpot units.Seconds) search.Limits {
	finite := func(s units.Seconds) units.Seconds {
		if math.IsInf(float64(s), 1) {
			return 0
		}
		return s
	}
	return search.Limits{TTFT: finite(ttft), TPOT: finite(tpot)}
}

// largest is the most devices a phase has, and the flag that says so.
func (r *OptimizeRequest) largest() (flag string, devices int) {
	switch {
	case !r.PDRatio:
		return "num-devices", r.NumDevices
	case r.PrefillDevices >= r.DecodeDevices:
		return "prefill-devices-per-instance", r.PrefillDevices
	default:
		return "decode-devices-per-instance", r.DecodeDevices
	}
}
