package tensorcast

import (
	"fmt"

	"github.com/plimsoll-project/plimsoll/internal/cost/graph"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
)

// cast is a walk through a step whose operators are TensorCast's.
type cast struct {
	*graph.Walk
	does forms
}

const (
	indexBytes = graph.IndexBytes
	scaleBytes = graph.ScaleBytes

	f32, i32, i64, flag = 4, 4, 8, 1 // bytes of an element
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
	graph.AtActivated:      {forms.clamps, cast.activated},
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
		it.Loose = w.Spec().Policy.LostOrder
	}
}
