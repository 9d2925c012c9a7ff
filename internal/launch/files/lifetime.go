package files

import (
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// How long the parts of a deployment take, in seconds. Probes, time limits of routers and grace periods of all targets follow from these,
// so that nothing gives up on what still has time.
const (
	// loading is from the start of an engine to its first answer, at most: the largest models take up to an hour to load and compile.
	loading = 3600
	// withdrawal is how long requests still come after a pod was asked to end: its address leaves Services and routers meanwhile
	// (kubernetes.io, "Pod Lifecycle", termination of Pods: both happen at the same time).
	withdrawal = 15
	// leaving is from the last request to the end of the engine's processes.
	leaving = 30
	// abandoned is when vllm-router 0.1.16 and sglang-router 0.3.2 give a request up (--request-timeout-secs).
	abandoned = 1800
)

// drain is how long a worker that was asked to end still needs for its requests: twice the longest that is predicted, since a full
// engine answers later.
func (w *writer) drain() int {
	const least, unpredicted, room, step = 30, 300, 2, 10
	if w.Predicted.TPOT == 0 {
		return unpredicted
	}
	output := max(w.Output, w.Longest-max(w.Prompt, w.Input))
	request := w.Predicted.TTFT + units.Seconds(output)*w.Predicted.TPOT
	return min(max(least, step*int(math.Ceil(room*float64(request)/step))), abandoned)
}

// grace is how long a worker may take to end.
func (w *writer) grace() int { return withdrawal + w.drain() + leaving }

// A probe asks every so many seconds, and so many failures in a row count.
type patience struct{ period, failures int }

// whileLoading is for an engine that loads.
func whileLoading() patience { return patience{period: 10, failures: loading / 10} }

// whileBusy is for one that should get no requests for now.
func whileBusy() patience { return patience{period: 10, failures: 3} }

// whileStuck is for one that hangs.
func whileStuck() patience { return patience{period: 20, failures: 6} }

// answer is how long a probe waits for an answer.
const answer = 5
