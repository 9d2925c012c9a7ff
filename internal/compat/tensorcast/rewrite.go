package tensorcast

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// forms says which parts have the operators that TensorCast has, and not those of the
// graph. It is the rewriter of its policy.
type forms struct {
	// WholeIndex lets a row selection read its whole source: the rotary tables,
	// and all tokens to pick the last of each request.
	WholeIndex bool
	// SlowPrologue charges sixteen launches for the fused projections in front
	// of latent attention.
	SlowPrologue bool
	// CheapContext expands only the new tokens' latents in a prefill, never the
	// cached context it attends to.
	CheapContext bool
	// JoinedRope joins the rotated part of queries and keys with the rest by a
	// separate operator, where only a part is rotated.
	JoinedRope bool
	// TracedRope computes the rotation of a part of each head by elementwise
	// operators, as the source writes it, and copies the result into place.
	TracedRope bool
	// TracedGates computes gates by elementwise operators, as the source writes them.
	TracedGates bool
	// QuantizedGates quantizes the gate of shared experts like other linear layers.
	QuantizedGates bool
	// FragmentedRouter traces the router and the combination of expert outputs
	// as a dozen elementwise operators instead of one fused kernel each.
	FragmentedRouter bool
	// PaddedTokens pads tokens to equal shares of the ranks by a separate operator.
	PaddedTokens bool
	// UnevenTokens divides tokens over TP whenever EP differs from DP, and joins
	// them over DP whenever there is no EP, whatever the shards of the experts
	// need: with both EP and MoE-TP some of the work is missing.
	UnevenTokens bool
	// FrontLoaded lets every rank assign its tokens to experts starting with the
	// first, so that with few tokens rank 0 is full while others idle: it counts as
	// full in the fused dispatch-and-combine kernel.
	FrontLoaded bool
	// LocalNorms takes norms over all heads of queries or keys over those of each rank.
	LocalNorms bool
	// OwnChoices reads the selected entries of the KV cache for every query of a
	// prefill with sparse attention, instead of their union once.
	OwnChoices bool
	// ScatteredReads divides the bytes that sparse attention and its indexer read from
	// the cache by the share of the bandwidth that TensorCast assumes for scattered
	// reads: about 2 % in a decode.
	ScatteredReads bool
	// WideDelta computes the gated delta rule of Qwen's linear attention in float32,
	// with scratch memory, over all tokens of a step as one sequence unless they are
	// decoded, and computes its gates in a separate operator.
	WideDelta bool
	// NarrowingExperts quantizes the output of the first product of MXFP4 experts in
	// the same operator.
	NarrowingExperts bool
	// PairwiseCombine lets the fused dispatch-and-combine kernel compute the pairs of
	// token and expert that a rank sends, and return them pair by pair.
	PairwiseCombine bool
	// TracedVision uses the operators of Qwen3-VL's vision tower as the source writes
	// them: positions, rotations in float32, casts, attention image by image.
	TracedVision bool
	// JoinedLayers fuses the residual sum at the end of a layer with the norm of the
	// next where layers share index selections. Other layers are compiled one by one.
	JoinedLayers bool
}

// cast is a walk through a step whose operators are TensorCast's.
type cast struct {
	*graph.Walk
	does forms
}

const (
	indexBytes = graph.IndexBytes
	scaleBytes = graph.ScaleBytes
)

// parts lists what TensorCast does with each part of a graph: for which specs, and how.
//
//nolint:gochecknoglobals // a constant table
var parts = [...]struct {
	when func(forms, *graph.Spec) bool
	emit func(cast, graph.Part) bool
}{
	graph.AtBegin:          {forms.contextual, cast.begin},
	graph.AtVision:         {forms.tracesVision, cast.vision},
	graph.AtSplitStreams:   {forms.tracesStreams, cast.splitStreams},
	graph.AtFirstNorm:      {forms.joinsLayers, cast.firstNorm},
	graph.AtWholeLayer:     {forms.tracesStreams, cast.connectedLayer},
	graph.AtMixer:          {forms.ownMixer, cast.mixer},
	graph.AtNorm:           {forms.tracesNorms, cast.norm},
	graph.AtIndex:          {forms.readsTables, cast.index},
	graph.AtQKV:            {forms.splitsQKV, cast.projectQKV},
	graph.AtSumSquares:     {forms.localNorms, cast.sumSquares},
	graph.AtRope:           {forms.partRotated, cast.rope},
	graph.AtOutGate:        {forms.tracesGates, cast.outGate},
	graph.AtLatentInputs:   {forms.slowPrologue, cast.latentInputs},
	graph.AtIndexer:        {forms.fusesIndexer, cast.indexer},
	graph.AtLatentWrite:    {forms.quantizesAttention, cast.narrowLatent},
	graph.AtAttended:       {forms.amendsAttention, cast.attended},
	graph.AtGatheredQuery:  {forms.contextual, cast.partLengths},
	graph.AtMergeOutputs:   {forms.contextual, cast.mergeOutputs},
	graph.AtDeltaInputs:    {forms.linearLayers, cast.deltaInputs},
	graph.AtRecurrence:     {forms.linearLayers, cast.recurrence},
	graph.AtGatedNorm:      {forms.linearLayers, cast.gatedNorm},
	graph.AtMoE:            {forms.always, cast.moe},
	graph.AtRouter:         {forms.always, cast.routerAlone},
	graph.AtExpertsBetween: {forms.narrowsExperts, cast.narrowOutput},
	graph.AtSharedGate:     {forms.always, cast.sharedGate},
	graph.AtSharedSum:      {forms.always, cast.sharedSum},
	graph.AtProduct:        {forms.amendsProducts, cast.product},
	graph.AtActivated:      {forms.tracesStreams, cast.activated},
	graph.AtLayerSum:       {forms.joinsLayers, cast.layerSum},
	graph.AtJoinStreams:    {forms.tracesStreams, cast.joinStreams},
	graph.AtLastNorm:       {forms.joinsLayers, cast.lastNorm},
	graph.AtRecall:         {forms.ownMixer, cast.recall},
	graph.AtEnd:            {forms.losesOrder, cast.loseOrder},
}

// Parts are the parts of a spec's graph that have operators of TensorCast.
func (f forms) Parts(s *graph.Spec) (graph.Places, error) {
	if f.quantizesAttention(s) && !s.Quant.Attention.Quantized() && hasLatent(s) {
		return 0, fmt.Errorf("quantized latent attention needs quantized linear layers, not %s", s.Quant.Attention.Name())
	}
	var set graph.Places
	for place := range parts {
		if parts[place].when(f, s) {
			set.Add(graph.Place(place))
		}
	}
	return set, nil
}

// Rewrite emits a part as TensorCast has it.
func (f forms) Rewrite(w *graph.Walk, p graph.Part) bool { return parts[p.Place].emit(cast{w, f}, p) }

// loseOrder marks the collectives in front of a fused residual sum and norm, an operator
// with several results: nothing waits for them.
func (w cast) loseOrder(graph.Part) bool {
	for i := range w.Items[:max(0, len(w.Items)-1)] {
		switch w.Items[i+1].Op.Name { //nolint:exhaustive // others have one result
		case op.AddRMSNorm, op.AddRMSNormQuant, op.AddRMSNormStaticQuant:
			w.Items[i].Loose = w.Items[i].Loose || w.Items[i].Op.Kind == op.Collective
		}
	}
	return false
}

// loosen marks the collective just emitted, if any, as one whose result goes through a
// division into pieces, and which nothing waits for.
func (w cast) loosen() {
	if it := &w.Items[len(w.Items)-1]; it.Op.Kind == op.Collective {
		it.Loose = w.Spec().LosesOrder()
	}
}
