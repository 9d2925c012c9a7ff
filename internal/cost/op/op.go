package op

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/describe/dtype"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
)

// Kind says which formula an operator follows.
type Kind uint8

// The kinds.
const (
	Elementwise    Kind = iota // norms, activations, quantization, copies, routing
	GEMM                       // one matrix product
	GroupedGEMM                // the products of all local experts in one kernel
	Attention                  // grouped-query attention over a KV cache
	Latent                     // multi-head latent attention
	LatentPrologue             // the projections in front of latent attention, fused
	Recurrent                  // linear attention and state-space scans
	Collective                 // communication in a group of ranks
	Transfer                   // point to point, between pipeline stages
)

// Op is one operator. Fields a kind does not use are zero, so that equal
// operators compare equal. Sizes are floats: they are only ever multiplied.
type Op struct {
	Name Name
	Kind Kind

	In, Weight, Out dtype.Format

	// Launches counts fixed costs beyond the first.
	Launches int32

	// GEMM: Rows × Depth times Depth × Cols. A grouped product has Rows over all
	// its Experts matrices. OutCols is the width written when an activation is
	// fused behind the product, 0 = Cols.
	Rows, Cols, Depth float64
	Experts           float64
	OutCols           float64
	Deal              Deal // how tokens came to the experts, if they chose
	Widens            bool // GroupedGEMM: a tile widens its weights before it multiplies

	// Bytes is the whole traffic of an elementwise operator, the extra traffic
	// (scales, metadata) of every other one.
	Bytes units.Bytes
	// Matrix is matrix work beyond what the shape implies.
	Matrix units.Ops
	// Vector work by the two formats that occur: F32 and the working format.
	Vector32 units.Ops
	Vector   units.Ops
	// VectorIn is the format of Vector.
	VectorIn dtype.Format

	// Attention, Latent and Recurrent.
	Heads, KVHeads    float64
	HeadDim, ValueDim float64
	Rank, Rope        float64 // latent width and rotated width
	Own               float64 // Latent: heads whose up-projections a decode absorbs here; 0 = Heads
	Window            float64 // tokens attended to at most; 0 = all
	Unsplit           bool    // Attention: one unit of the device reads all that a decode attends to of a KV head
	Prefill, Decode   Span
	Expanded          float64      // Latent: tokens whose keys and values a prefill expands
	KV                dtype.Format // of the cache, of a recurrence's state

	// Collective and Transfer.
	Comm  Comm
	Group parallel.Group
	// Payload is what crosses the link: this rank's input, or for all-to-all the
	// larger of what it sends and receives.
	Payload units.Bytes
}

// Span sums the requests of one phase in a batch.
type Span struct {
	Requests float64
	Tokens   float64 // new tokens
	Pairs    float64 // query-key pairs: sum of query length × attended length
	Context  float64 // cached tokens read: sum of attended lengths
}

// Equal sums requests of query new tokens each, the last of seq, where every
// token attends to all tokens up to itself.
func Equal(requests, query, seq float64) Span {
	return Span{
		Requests: requests, Tokens: requests * query,
		Pairs: requests * (query*seq - query*(query-1)/2), Context: requests * seq,
	}
}

// Comm names a communication pattern.
type Comm uint8

// The patterns.
const (
	NoComm Comm = iota
	AllReduce
	AllGather
	ReduceScatter
	AllToAll
	SendRecv
)

// Wire is how often an operator's payload crosses the link of each rank in a
// group of n.
func (c Comm) Wire(n float64) float64 {
	switch c {
	case AllReduce:
		return 2 * (n - 1) / n
	case AllGather:
		return n - 1
	case ReduceScatter:
		return (n - 1) / n
	case AllToAll, SendRecv, NoComm:
	}
	return 1
}

// Measure says what of a batch the size of an operator follows.
type Measure uint8

// The measures. An operator that follows one of the first three is the same in
// any two batches that agree in it.
const (
	Tokens   Measure = iota // new tokens
	Logits                  // rows that want logits
	Requests                // requests
	Several                 // more than one of these, or the phase they are in
	Context                 // what the requests have in the cache

	// Counts is the number of measures that are one count of a batch.
	Counts = Several
)

// Item is an operator and how many times a step runs it.
type Item struct {
	Op    Op
	Count float64
	// Follows is what the operator's size depends on.
	Follows Measure
	// Run numbers the run of equal layers this operator belongs to, from 1; 0 is
	// outside the layers. Layers is that run's length, so that Count/Layers
	// operators fall on one layer.
	Run    uint16
	Layers float64
	// Branch groups operators that may overlap when communication has its own
	// stream: 0 is the main line, 1 the shared experts, 2 the routed ones, which
	// need nothing of each other.
	Branch uint8
	// Beside marks an operator that runs at the same time as the one before it,
	// so that only what it lasts longer counts.
	Beside bool
	// Loose marks a collective whose result nothing takes that would wait for it,
	// which TensorCast uses when communication has its own stream.
	Loose bool
	// Continues marks more work of the operator in front: it takes its own time but
	// is no call of its own.
	Continues bool
}
