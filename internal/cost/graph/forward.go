package graph

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/op"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
)

// forward emits a whole step.
func (w *walk) forward(b Batch) {
	w.reps = 1
	w.by = op.Several
	w.vision(b.Images)
	w.by = op.Tokens
	w.images = b.Images
	w.embed()
	w.layerInputs()
	w.splitStreams()
	w.ropeTables()
	w.openLayers()
	for i, r := range w.g.runs {
		w.ends = i == len(w.g.runs)-1
		w.n, w.run, w.reps, w.hash = r.count, uint16(i+1), r.count, r.hashed
		w.layer(&w.g.kinds[r.kind])
	}
	w.n, w.run, w.reps, w.hash = 1, 0, 1, 0
	if w.g.boundaries > 0 {
		w.n = w.g.boundaries
		o := w.next(op.Transfer, op.Send)
		o.Comm, o.Group = op.SendRecv, w.g.spec.Layout.PPGroup()
		o.Payload = units.Bytes(w.width() * w.tokens * w.h)
		w.n = 1
	}
	w.joinStreams()
	w.closeLayers()
	w.gatherStream()
	w.rowsOfHead()
	w.by = op.Logits
	w.project(w.logits)
	w.by = op.Tokens
	if w.g.spec.MTP > 0 {
		w.predict()
	}
	if n := w.g.spec.Draft.Layers; n > 0 {
		w.propose(float64(n))
	}
}

// propose emits a draft model: layers like the target's last over the tokens of
// the step, and the head for one row a request.
func (w *walk) propose(layers float64) {
	w.embed()
	w.n = layers
	w.layer(w.g.lastKind())
	w.n = 1
	w.norm(w.stream, w.h)
	w.by = op.Requests
	w.project(w.requests)
	w.argmax(w.requests)
	w.by = op.Tokens
}

// lastKind is the kind of the model's last layer.
func (g *Graph) lastKind() *kind { return &g.kinds[g.spec.Model.Layers[len(g.spec.Model.Layers)-1]] }

// embed emits the word embedding, whole on every rank or cut.
func (w *walk) embed() {
	t, e, tp := w.tokens, w.width(), w.g.spec.Layout.TPGroup()
	switch w.g.spec.EmbeddingTP {
	case EmbeddingCols:
		w.elementwise(op.Embedding, indexBytes*t+2*e*t*w.h/w.g.tp)
		w.allGather(tp, t, w.h/w.g.tp)
	case EmbeddingRows:
		// Ids outside the rank's rows are masked: six operators on ids, one on rows.
		w.n *= 6
		w.elementwise(op.Mul, 2*indexBytes*t)
		w.n /= 6
		w.elementwise(op.Embedding, indexBytes*t+2*e*t*w.h)
		w.elementwise(op.Mul, 2*e*t*w.h+t)
		w.reduceTP(t)
	case EmbeddingCopied:
		w.elementwise(op.Embedding, indexBytes*t+2*e*t*w.h)
		if !w.g.spec.Policy.CopiedEmbedding {
			w.allReduce(tp, t, w.h) // rows live on other ranks
		}
	}
}

// layerInputs emits the layers' own vectors of the tokens: the look-up, and a
// projection of the embedding that is added to it.
func (w *walk) layerInputs() {
	cols := w.g.layerInputs
	if cols == 0 {
		return
	}
	t, e := w.tokens, w.width()
	w.elementwise(op.Embedding, indexBytes*t+2*e*t*cols)
	w.linear(dtype.Unquantized(w.base), t, w.h, cols, 1)
	w.norm(t, cols)
	w.add(t, cols)
	if l := &w.g.kinds[0].layer; l.AltUp {
		w.n = 2 * float64(l.Streams-1) // a matrix into and out of each further stream
		w.linear(dtype.Unquantized(w.base), t, w.h, w.h, 1)
		w.n = 1
	}
}

// ropeTables emits the look-ups of the rotary cosines and sines.
func (w *walk) ropeTables() {
	if w.g.ropeDim == 0 {
		return
	}
	w.n = 2
	w.index(w.g.maxPos, w.tokens, w.g.ropeDim)
	w.n = 1
}

// index emits the selection of rows from a table of the same width.
func (w *walk) index(table, rows, cols float64) {
	e := w.width()
	name, read := op.Index, table
	if !w.g.spec.Compile {
		name, read = op.IndexSelect, rows
	} else if !w.g.spec.Policy.WholeIndex {
		read = rows
	}
	w.elementwise(name, e*(read+rows)*cols+indexBytes*rows)
}

// rowsOfHead emits the selection of the rows that want logits.
func (w *walk) rowsOfHead() {
	w.by = op.Several
	if w.logits < w.tokens {
		w.index(w.tokens, w.logits, w.h)
	} else if w.g.spec.MTP > 0 && w.logits > w.requests {
		w.speculatedRows()
	}
	w.by = op.Tokens
}

// project emits the product with the output head for rows tokens, and the
// gathering of the vocabulary.
func (w *walk) project(rows float64) {
	s := w.g.spec.Head()
	w.quantize(s, rows, w.h)
	w.linear(s, rows, w.h, w.g.vocabRank, 1)
	w.allGather(w.g.spec.Layout.TPGroup(), rows, w.g.vocabRank)
}
