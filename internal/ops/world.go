package ops

import (
	"context"

	"github.com/plimsoll-project/plimsoll/internal/basic/field"
	"github.com/plimsoll-project/plimsoll/internal/describe/model"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/evidence/calibration"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
)

// World is a session with the operations that search.
type World struct{ session.Session }

// On is the world of a session.
func On(s *session.Session) *World { return &World{*s} }

type (
	// Sources is [session.Sources].
	Sources = session.Sources
	// Progress is [session.Progress].
	Progress = session.Progress
	// Workload is [session.Workload].
	Workload = session.Workload
	// PlanWorkload is [session.PlanWorkload].
	PlanWorkload = session.PlanWorkload
	// Traffic is [simulate.Traffic].
	Traffic = simulate.Traffic
	// Energy is [simulate.Energy].
	Energy = simulate.Energy
	// SimulateRequest is [simulate.Request].
	SimulateRequest = simulate.Request
	// SimulateResponse is [simulate.Response].
	SimulateResponse = simulate.Response
	// StepRequest is [step.Request].
	StepRequest = step.Request
	// StepResponse is [step.Response].
	StepResponse = step.Response
	// Effect is [step.Effect].
	Effect = step.Effect
	stage  = session.Stage
	kinds  = session.Kinds
)

// Their defaults and bounds.
const (
	DefaultEnergyPrice = simulate.DefaultEnergyPrice
	DefaultEngine      = simulate.DefaultEngine
	DefaultDevice      = step.DefaultDevice

	maxTokens  = session.MaxTokens
	imageMarks = session.ImageMarks
)

func (w *World) tell(p Progress)                                { w.Tell(p) }
func (w *World) kinds(all []Workload) (*kinds, error)           { return w.Kinds(all) }
func (w *World) overlay(f string) (*calibration.Overlay, error) { return w.Overlay(f) }

func (w *World) stage(d *deployment.Deployment, s *Sources) (*stage, error) { return w.Stage(d, s) }

// Simulate runs requests through a deployment.
func (w *World) Simulate(ctx context.Context, r SimulateRequest) (*SimulateResponse, error) {
	return simulate.Run(ctx, &w.Session, r)
}

func (w *World) simulated(r *SimulateRequest) (*stage, error) { return simulate.Prepare(&w.Session, r) }

func (w *World) simulate(ctx context.Context, s *stage, r *SimulateRequest) (*SimulateResponse, error) {
	return simulate.On(ctx, &w.Session, s, r)
}

func (w *World) metered(ctx context.Context, s *stage, r *SimulateRequest) (*SimulateResponse, error) {
	return simulate.Metered(ctx, &w.Session, s, r)
}

func (w *World) remembered(r *SimulateRequest, s *Sources, run func() (*SimulateResponse, error)) (*SimulateResponse, error) {
	return simulate.Remembered(&w.Session, r, s, run)
}

// Step evaluates one forward pass.
func (w *World) Step(ctx context.Context, r StepRequest) (*StepResponse, error) {
	return step.Run(ctx, &w.Session, r)
}

func badInput(err error) error { return session.BadInput(err) }

func between(name field.Name, v, least, most int) error { return field.Between(name, v, least, most) }
func optional(name field.Name, v int) error             { return session.Optional(name, v) }
func notNegative(name field.Name, x float64) error      { return session.NotNegative(name, x) }
func acceptance(rates []float64) error                  { return session.Acceptance(rates) }
func hitRate(x float64) error                           { return session.HitRate(x) }
func checkLimits(l workload.Limits) error               { return session.CheckLimits(l) }
func onLength(m *model.Model, tokens int) []string      { return session.OnLength(m, tokens) }
func longest(d *workload.Distribution) int              { return session.Longest(d) }

func checkImages(m *model.Model, number, height, width int) error {
	return session.CheckImages(m, number, height, width)
}

func imageTokens(m *model.Model, n, height, width int) int {
	return session.ImageTokens(m, n, height, width)
}

type span session.Span

func within(m *model.Model, a, b span, more int) error {
	return session.Within(m, session.Span(a), session.Span(b), more)
}
