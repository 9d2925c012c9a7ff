package server

// BatchFormation is the order in which a scheduler fills a step with running and waiting requests. A new order is a type with these
// methods and a case in [formationOf]; [decodeFirst] is the simplest to read. It works with what the scheduler offers: whom it
// may admit ([scheduler.fit], [scheduler.spareBlocks], [scheduler.room]), and what puts a chunk or a request into the batch
// ([scheduler.compute], [scheduler.admit]).
type BatchFormation interface {
	// Form fills the batch and reports whether the requests that generate take part in the step.
	Form(s *scheduler) (decodes bool)
	// Stepped sees that the batch took so many steps without prompts, for orders that hold prompts back for some steps.
	Stepped(s *scheduler, steps int64)
	// Mixes reports whether generation counts against the token budget of a step.
	Mixes() bool
}

// formationOf is the order of an engine.
func formationOf(e *Engine) BatchFormation {
	switch e.Policy {
	case PrefillFirst:
		return prefillFirst{}
	case InFlight:
		return inFlight{}
	default:
		return decodeFirst{}
	}
}

// promptWait holds prompts back for steps of generation, so that more of them share a step. With a limit of 10 steps and prompts of 3,000
// tokens that wait since 4 steps, they are computed at the latest 6 steps later.
type promptWait struct {
	waited     int // steps that prompts were held back so far
	limit      int // the most such steps
	lastTokens int // tokens of the prompts that waited when a step was last filled
	lastGrowth int // steps waited when those tokens last grew
}
