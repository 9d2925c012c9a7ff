package server

import (
	"errors"
	"fmt"
	"math"

	"github.com/plimsoll-project/plimsoll/internal/basic/units"
)

// Policy is the order in which a scheduler fills a step.
type Policy int

const (
	// DecodeFirst lets running requests decode, continues the prompt that was
	// cut off, then takes waiting prompts in order of arrival while the token
	// budget lasts; prompts are cut where it ends. Blocks are taken as needed;
	// when they run out, the request admitted last is preempted and recomputed.
	// vLLM v1.
	DecodeFirst Policy = iota
	// PrefillFirst runs prompts in separate steps, split at the token budget, while
	// decoding pauses. A prompt is admitted if the cached tokens, a share of what
	// running requests may still generate, and the prompt fit. SGLang.
	PrefillFirst
	// InFlight runs whole prompts together with decoding and reserves blocks for
	// prompt and output from the start, so that nothing is preempted.
	// TensorRT-LLM with GUARANTEED_NO_EVICT.
	InFlight
)

// String names the policy.
func (p Policy) String() string {
	switch p {
	case DecodeFirst:
		return "decode-first"
	case PrefillFirst:
		return "prefill-first"
	case InFlight:
		return "in-flight"
	default:
		return fmt.Sprintf("policy %d", int(p))
	}
}

// Engine is what a replica's scheduler and its API server do.
type Engine struct {
	Policy       Policy
	TokenBudget  int // tokens of one step; generation counts against it except under PrefillFirst
	MaxSequences int // requests running at the same time

	// Stages of a pipeline work on as many batches at a time, each request in one of them; 0
	// and 1 are no pipeline. A batch that has passed all stages is filled again at once, and
	// one without requests as soon as prompts wait; the pieces of a long prompt go through one
	// behind the other. All share the KV blocks. (vLLM, v1/engine/core.py, step_with_batch_queue,
	// with max_concurrent_batches of config/vllm.py; SGLang, managers/scheduler_pp_mixin.py,
	// event_loop_pp; TensorRT-LLM, pyexecutor/py_executor.py, _executor_loop_pp)
	Stages int
	// BatchSequences is the most requests of one batch; 0 means MaxSequences.
	BatchSequences int

	Blocks      int // KV blocks of the replica
	BlockTokens int // tokens in a block
	// PrefixCache keeps the blocks of prompts and reuses them; the client has to
	// say which prompts begin alike.
	PrefixCache bool
	// Host keeps what the prefix cache evicts.
	Host Tier

	// ReservePrompt admits a prompt only if all of it fits, not just its first
	// piece. DecodeFirst only; the others always do so.
	ReservePrompt bool
	// Chunked splits prompts where the token budget ends; otherwise one above the budget waits until nothing generates and
	// runs alone. InFlight only; the others always do so. (TensorRT-LLM's enable_chunked_prefill; pyexecutor/scheduler,
	// MicroBatchScheduler with the policy FIRST_COME_FIRST_SERVED)
	Chunked bool
	// Held tokens of a request whose cache came over a link are generated before its
	// client sees the first.
	Held int
	// Reserve is the share, 0 to 1, of what running requests may still generate
	// that admission keeps free. PrefillFirst only.
	Reserve float64
	// PrefillAhead has MaxSequences bound the requests that generate in a step, and not those
	// that are admitted: prompts are computed as long as they fit, and then wait for their
	// turn with the first token out. PrefillFirst only.
	PrefillAhead bool
	// ReceiveInterval is how many steps of generation pass between two looks at
	// the incoming queue; 0 and 1 look at every step.
	ReceiveInterval int
	// Overlapped has the scheduler fill a step while the one before it runs: what comes in during
	// a step is in the next but one. With nothing to do it begins at once, and fills the step after
	// that as soon as it has launched the first. Not in a pipeline. (vLLM, v1/engine/core.py, step_with_batch_queue;
	// SGLang, managers/scheduler.py, event_loop_overlap; TensorRT-LLM, pyexecutor/py_executor.py,
	// _executor_loop_overlap)
	Overlapped bool
	// LaunchAhead has launches of steps with prompts pass behind the step before, see launchqueue.go.
	// Overlapped engines whose step model is a [Launcher] only.
	LaunchAhead bool
	// CachedReadRatio is the time of reading a cached token that another request of the step reads too, as a share of reading it
	// first; 0 means 1. Not in a pipeline.
	CachedReadRatio float64
	// BatchWaitSteps holds prompts back for so many steps unless the step would
	// fill BatchWaitRatio of the token budget. InFlight only.
	BatchWaitSteps int
	BatchWaitRatio float64
	// RankWaitSteps holds prompts back for so many steps unless there is one for each
	// of so many Ranks, which step together. PrefillFirst and InFlight only.
	RankWaitSteps, Ranks int
	// RankFill then holds them back until they fill this share of the token budget, or no more have come for RankStallSteps; 0 does
	// not. PrefillFirst only.
	RankFill       float64
	RankStallSteps int

	// AcceptedPerStep is the mean number of tokens a request gains per step of
	// speculative decoding; 0 means 1. It is spread evenly: with 2.5, steps
	// bring 2 and 3 tokens in turn.
	AcceptedPerStep float64
	// VerifiedPerStep is how many tokens of the budget a generating request
	// takes, one more than are drafted; 0 means 1.
	VerifiedPerStep int

	// The API server works on one request at a time, for so long, before the
	// scheduler can see it.
	APIFixed, APIPerToken units.Seconds
	// First is added to every time to first token: what neither queues nor
	// occupies the engine; and APIPerOutput for each request that gets a token in the same step.
	First, APIPerOutput units.Seconds
}

// WithDefaults fills in what zero stands for.
func (e Engine) WithDefaults() Engine {
	e.ReceiveInterval = max(1, e.ReceiveInterval)
	e.VerifiedPerStep = max(1, e.VerifiedPerStep)
	e.Stages = max(1, e.Stages)
	e.Overlapped = e.Overlapped && e.Stages == 1
	e.PrefillAhead = e.PrefillAhead && e.Policy == PrefillFirst
	if e.CachedReadRatio == 0 || e.Stages > 1 {
		e.CachedReadRatio = 1
	}
	if e.BatchSequences == 0 {
		e.BatchSequences = e.MaxSequences
	}
	if e.AcceptedPerStep == 0 {
		e.AcceptedPerStep = 1
	}
	return e
}

// TokensPerStep is the most tokens a request can gain in one step.
func (e *Engine) TokensPerStep() int { return int(math.Ceil(e.AcceptedPerStep)) }

// Check returns all that is wrong with the settings.
func (e *Engine) Check(name string) error {
	var errs []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(name+": "+format, args...))
		}
	}
	refuse(e.Policy < DecodeFirst || e.Policy > InFlight, "unknown %v", e.Policy)
	refuse(e.TokenBudget < 1, "token budget must be at least 1, got %d", e.TokenBudget)
	refuse(e.Held < 0, "held tokens must not be negative, got %d", e.Held)
	refuse(e.MaxSequences < 1, "max sequences must be at least 1, got %d", e.MaxSequences)
	refuse(e.Stages < 0 || e.Stages > maxStages, "stages must be between 1 and %d, got %d", maxStages, e.Stages)
	refuse(e.BatchSequences < 0, "sequences of a batch must not be negative, got %d", e.BatchSequences)
	refuse(e.BlockTokens < 1 || e.BlockTokens > maxBlockTokens,
		"tokens in a block must be between 1 and %d, got %d", maxBlockTokens, e.BlockTokens)
	refuse(e.Blocks < 1 || e.Blocks > math.MaxInt32, "blocks must be between 1 and 2³¹, got %d", e.Blocks)
	refuse(!(e.Reserve >= 0 && e.Reserve <= 1), "reserve must be between 0 and 1, got %g", e.Reserve)
	refuse(e.AcceptedPerStep != 0 && !(e.AcceptedPerStep >= 1 && e.AcceptedPerStep <= 1024),
		"accepted tokens per step must be at least 1, got %g", e.AcceptedPerStep)
	refuse(min(e.ReceiveInterval, e.BatchWaitSteps, e.RankWaitSteps, e.RankStallSteps, e.VerifiedPerStep) < 0 || e.RankFill < 0,
		"receive interval, waits and verified tokens must not be negative")
	refuse(!Sound(e.APIFixed) || !Sound(e.APIPerToken) || !Sound(e.First) || !Sound(e.APIPerOutput),
		"API times must not be negative")
	if err := e.Host.Check(); err != nil {
		errs = append(errs, fmt.Errorf("%s: %w", name, err))
	}
	return errors.Join(errs...)
}

// maxBlockTokens bounds the tally of block boundaries; engines use 1 to 256.
const maxBlockTokens = 1 << 16

// maxStages bounds a pipeline: a request keeps the number of its batch in a byte.
const maxStages = 1 << 8

// Sound reports whether a time can be added to the clock.
func Sound(t units.Seconds) bool { return t >= 0 && !math.IsInf(float64(t), 0) }
