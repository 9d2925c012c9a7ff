package measured

// Records of disaggregated deployments are put together from the configuration of a
// benchmark and the script it starts, and the two do not always agree.

// strayLimit is how many requests per sequence that a decode rank may run show that the
// limit is of another deployment: benchmarks offer up to two and a half.
const strayLimit = 3

// dataBatch is the fewest requests of a rank that published decode workers use
// data-parallel attention for: with fewer, sharing each request's attention is faster.
const dataBatch = 8

// asRun is the row as it must have run, and what was assumed for that. What a source
// says of the row's engine is kept as it is, except a limit that cannot be.
func (r *Row) asRun() (*Row, []string) {
	if r.Mode != disagg || r.Sides.Unknown {
		return r, nil
	}
	out, ranks := *r, r.Decode.Count*r.Decode.DP
	var said []string
	note := func(what string) { said = append(said, what) }
	if limit := r.onRank(r.MaxSequences, &r.Decode); limit > 0 && r.Concurrency > strayLimit*limit*ranks {
		// A deployment has several scripts for several loads; the one for a single request
		// was attributed to all (TensorRT-LLM on H200, batch1 among recipes up to batch64).
		out.MaxSequences, out.GraphBatch, out.Sides.DecodeTokenBudget = 0, 0, 0
		note("the limit of decode sequences is of another load: it would hold back two thirds of the requests and more")
	}
	if r.givesSettings() {
		return &out, said
	}
	// Configurations of dynamo-sglang and dynamo-trt say tp 1, ep 1 and dp-attn for whatever
	// their script does (InferenceX, pull request 486). The scripts for low latency use
	// tensor parallelism (dynamo's gb200-fp4/disagg/1k1k-low-latency.sh), the others
	// expert parallelism over all ranks.
	if r.Decode.DP > 1 && r.Concurrency <= dataBatch*ranks {
		out.Decode.TP, out.Decode.DP = r.Decode.TP*r.Decode.DP, 1
		note("the attention of decode workers is tensor-parallel: data-parallel ranks would have eight requests or fewer")
	}
	for _, w := range []*Workers{&out.Prefill, &out.Decode} {
		if r.Engine == "sglang" && w.DP > 1 && w.MoETP > 1 {
			w.MoEEP, w.MoETP = w.devices(), 1
			note("experts of data-parallel attention are expert-parallel")
		}
	}
	return &out, said
}
