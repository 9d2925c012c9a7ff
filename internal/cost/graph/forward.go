package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// pass is a walk through a whole step, from token ids to logits.
type pass struct{ *Walk }

// run emits a whole step.
func (w pass) run(b Batch) {
	w.reps = 1
	w.Follows = op.Several
	w.images = b.Images
	w.vision(b.Images)
	w.Follows = w.rows
	w.embed()
	w.layerInputs()
	w.rewrites(AtSplitStreams, nil)
	w.ropeTables()
	w.Inside = true
	w.rewrites(AtFirstNorm, nil)
	for i, r := range w.g.runs {
		w.Last = i == len(w.g.runs)-1
		w.Count, w.Run, w.reps, w.Hashed = r.count, uint16(i+1), r.count, r.hashed
		w.Layer(&w.g.kinds[r.kind]).emit()
	}
	w.Count, w.Run, w.reps, w.Hashed = 1, 0, 1, 0
	if w.g.boundaries > 0 {
		w.Count = w.g.boundaries
		o := w.Next(op.Transfer, op.Send)
		o.Comm, o.Group = op.SendRecv, w.g.spec.Layout.PPGroup()
		o.Payload = units.Bytes(w.Width() * w.Tokens * w.Hidden)
		w.Count = 1
	}
	w.rewrites(AtJoinStreams, nil)
	if !w.rewrites(AtLastNorm, nil) {
		w.Norm(w.Stream, w.Hidden)
	}
	w.Inside, w.Last = false, false
	w.GatherStream()
	w.rowsOfHead()
	w.Follows = op.Logits
	w.project(w.logits)
	w.Follows = w.rows
	if w.g.spec.MTP > 0 {
		drafting{w}.predict()
	}
	if n := w.g.spec.Draft.Layers; n > 0 {
		w.propose(float64(n))
	}
}

// propose emits a draft model: layers like the target's last over the tokens of
// the step, and the head for one row a request.
func (w pass) propose(layers float64) {
	w.embed()
	w.Count = layers
	w.Layer(w.g.lastKind()).emit()
	w.Count = 1
	w.Norm(w.Stream, w.Hidden)
	w.Follows = op.Requests
	w.project(w.Requests)
	w.argmax(w.Requests)
	w.Follows = w.rows
}

// lastKind is the kind of the model's last layer.
func (g *Graph) lastKind() *Kind { return &g.kinds[g.spec.Model.Layers[len(g.spec.Model.Layers)-1]] }

// embed emits the word embedding, whole on every rank or cut.
func (w pass) embed() {
	t, e, tp := w.Tokens, w.Width(), w.g.spec.Layout.TPGroup()
	switch w.g.spec.EmbeddingTP {
	case EmbeddingCols:
		w.Elementwise(op.Embedding, IndexBytes*t+2*e*t*w.Hidden/w.g.tp)
		w.AllGather(tp, t, w.Hidden/w.g.tp)
	case EmbeddingRows:
		// Ids outside the rank's rows are masked: six operators on ids, one on rows.
		w.Count *= 6
		w.Elementwise(op.Mul, 2*IndexBytes*t)
		w.Count /= 6
		w.Elementwise(op.Embedding, IndexBytes*t+2*e*t*w.Hidden)
		w.Elementwise(op.Mul, 2*e*t*w.Hidden+t)
		w.ReduceTP(t)
	case EmbeddingCopied:
		w.Elementwise(op.Embedding, IndexBytes*t+2*e*t*w.Hidden)
		if !w.g.spec.CopiesEmbedding() {
			w.AllReduce(tp, t, w.Hidden) // rows live on other ranks
		}
	}
}

// layerInputs emits the layers' own vectors of the tokens: the look-up, and a
// projection of the embedding that is added to it.
func (w pass) layerInputs() {
	cols := w.g.layerInputs
	if cols == 0 {
		return
	}
	t, e := w.Tokens, w.Width()
	w.Elementwise(op.Embedding, IndexBytes*t+2*e*t*cols)
	w.Linear(dtype.Unquantized(w.Base), t, w.Hidden, cols, 1)
	w.Norm(t, cols)
	w.Add(t, cols)
	if l := &w.g.kinds[0].Layer; l.AltUp {
		w.Count = 2 * float64(l.Streams-1) // a matrix into and out of each further stream
		w.Linear(dtype.Unquantized(w.Base), t, w.Hidden, w.Hidden, 1)
		w.Count = 1
	}
}

// ropeTables emits the look-ups of the rotary cosines and sines.
func (w pass) ropeTables() {
	if w.g.ropeDim == 0 {
		return
	}
	w.Count = 2
	w.index(w.g.maxPos, w.Tokens, w.g.ropeDim)
	w.Count = 1
}

// rowsOfHead emits the selection of the rows that want logits.
func (w pass) rowsOfHead() {
	w.Follows = op.Several
	if w.logits < w.Tokens {
		w.index(w.Tokens, w.logits, w.Hidden)
	} else if w.g.spec.MTP > 0 && w.logits > w.Requests {
		w.speculatedRows()
	}
	w.Follows = w.rows
}

// project emits the product with the output head for rows tokens, and the
// gathering of the vocabulary.
func (w pass) project(rows float64) {
	s := w.g.spec.Head()
	w.Product(s, rows, w.Hidden, w.g.vocabRank)
	w.AllGather(w.g.spec.Layout.TPGroup(), rows, w.g.vocabRank)
}
