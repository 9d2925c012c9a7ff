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

// family is operators of TensorCast that belong together, those of a kind of layer for example.
type family interface{ ~struct{ cast } }

// of has a family emit a part.
func of[F family](emit func(F, graph.Part) bool) func(cast, graph.Part) bool {
	return func(w cast, p graph.Part) bool { return emit(F{w}, p) }
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
	graph.AtBegin:          {forms.contextual, of(contextParallel.begin)},
	graph.AtVision:         {forms.tracesVision, of(tower.emit)},
	graph.AtSplitStreams:   {forms.tracesStreams, of(streams.split)},
	graph.AtFirstNorm:      {forms.joinsLayers, cast.firstNorm},
	graph.AtWholeLayer:     {forms.tracesStreams, of(streams.layer)},
	graph.AtMixer:          {forms.ownMixer, cast.mixer},
	graph.AtNorm:           {forms.tracesNorms, cast.norm},
	graph.AtIndex:          {forms.readsTables, cast.index},
	graph.AtQKV:            {forms.splitsQKV, of(grouped.projectQKV)},
	graph.AtSumSquares:     {forms.localNorms, of(grouped.sumSquares)},
	graph.AtRope:           {forms.partRotated, of(grouped.rope)},
	graph.AtOutGate:        {forms.tracesGates, of(grouped.outGate)},
	graph.AtLatentInputs:   {forms.slowPrologue, of(latent.inputs)},
	graph.AtIndexer:        {forms.fusesIndexer, of(latent.indexer)},
	graph.AtLatentWrite:    {forms.quantizesAttention, of(latent.narrow)},
	graph.AtAttended:       {forms.amendsAttention, cast.attended},
	graph.AtGatheredQuery:  {forms.contextual, of(contextParallel.partLengths)},
	graph.AtMergeOutputs:   {forms.contextual, of(contextParallel.mergeOutputs)},
	graph.AtDeltaInputs:    {forms.linearLayers, of(delta.inputs)},
	graph.AtRecurrence:     {forms.linearLayers, of(delta.recurrence)},
	graph.AtGatedNorm:      {forms.linearLayers, of(delta.gatedNorm)},
	graph.AtMoE:            {forms.always, of(mixture.emit)},
	graph.AtRouter:         {forms.always, of(router.alone)},
	graph.AtExpertsBetween: {forms.narrowsExperts, cast.narrowOutput},
	graph.AtSharedGate:     {forms.always, of(mixture.sharedGate)},
	graph.AtSharedSum:      {forms.always, of(mixture.sharedSum)},
	graph.AtProduct:        {forms.amendsProducts, cast.product},
	graph.AtActivated:      {forms.clamps, cast.activated},
	graph.AtLayerSum:       {forms.joinsLayers, cast.layerSum},
	graph.AtJoinStreams:    {forms.tracesStreams, of(streams.join)},
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
func (w mixture) loosen() {
	if it := &w.Items[len(w.Items)-1]; it.Op.Kind == op.Collective {
		it.Loose = w.Spec().Policy.LostOrder
	}
}
