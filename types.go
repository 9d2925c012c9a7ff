package plimsoll

import (
	"github.com/plimsoll-project/plimsoll/internal/basic/units"
	"github.com/plimsoll-project/plimsoll/internal/cost/prices"
	"github.com/plimsoll-project/plimsoll/internal/describe/parallel"
	"github.com/plimsoll-project/plimsoll/internal/describe/workload"
	"github.com/plimsoll-project/plimsoll/internal/face/document"
	"github.com/plimsoll-project/plimsoll/internal/launch/files"
	"github.com/plimsoll-project/plimsoll/internal/ops/deploy"
	"github.com/plimsoll-project/plimsoll/internal/ops/experiment"
	"github.com/plimsoll-project/plimsoll/internal/ops/lint"
	"github.com/plimsoll-project/plimsoll/internal/ops/optimize"
	"github.com/plimsoll-project/plimsoll/internal/ops/plan"
	"github.com/plimsoll-project/plimsoll/internal/ops/recommend"
	"github.com/plimsoll-project/plimsoll/internal/ops/session"
	"github.com/plimsoll-project/plimsoll/internal/ops/simulate"
	"github.com/plimsoll-project/plimsoll/internal/ops/step"
	"github.com/plimsoll-project/plimsoll/internal/serve/deployment"
	"github.com/plimsoll-project/plimsoll/internal/serve/sim"
)

// How a model is served.
type (
	// Deployment describes how a model is served; only Model is required. Its Pools are one with role Both, or one with
	// Prefill followed by one with Decode; none is one replica on one device. JSON: "plimsoll simulate --deployment".
	Deployment = deployment.Deployment
	// Engine is a serving engine: its Name ("vllm"), its Version ("" is the newest), a Preset of published settings, and
	// Settings that differ from the defaults, each as "key=value". [Engines] lists them.
	Engine = deployment.Engine
	// Pool is a number of equal Replicas with a Role, a Layout and settings of their own.
	Pool = deployment.Pool
	// Role is what the replicas of a pool do.
	Role = deployment.Role
	// Layout is how one replica is split over its TP·DP·PP devices; sizes of 0 have defaults. EP, MoETP and MoEDP are
	// those of the experts, DCP splits the context of a decode step.
	Layout = parallel.Layout
	// Formats are number formats that differ from the checkpoint's own: Checkpoint ("fp8"), GEMM, MoE, KV and others.
	Formats = deployment.Formats
	// HostCache is host memory for what prefix caches evict.
	HostCache = deployment.HostCache
	// Modelling is how a step is modelled, beside what is deployed.
	Modelling = deployment.Modelling
)

// The roles; "" is Both.
const (
	Both    = deployment.Both // prefill and decode on the same devices
	Prefill = deployment.Prefill
	Decode  = deployment.Decode
)

// What requests come, and how fast answers must be.
type (
	// Traffic is the requests sent to a deployment: a Concurrency, a Rate in requests per second or a Trace, and lengths.
	Traffic = simulate.Traffic
	// Workload is requests of one kind: a Preset, lengths (Input, Output) or a Trace, and a Share of all requests.
	Workload = session.Workload
	// Arrival is how evenly requests of a rate come.
	Arrival = sim.Process
	// Distribution is lengths in bins, and Bin one of them.
	Distribution = workload.Distribution
	// Bin is a range of lengths and its weight.
	Bin = workload.Bin
	// Limits are limits on TTFT, TPOT and Latency; 0 is none. In JSON they are in milliseconds.
	Limits = workload.Limits
	// Statistic is what limits apply to: the mean, a percentile, or a share of requests within all limits at once.
	Statistic = workload.Statistic
	// Seconds is a time: Limits{TPOT: 30 * Millisecond}.
	Seconds = units.Seconds
	// Sources are files an answer may rest on beside what is built in: a device profile, a calibration, kernel tables.
	Sources = session.Sources
	// Tables is a directory of measured kernel tables in AIConfigurator's layout.
	Tables = prices.Tables
)

// Millisecond is a thousandth of a second.
const Millisecond Seconds = 1e-3

// The arrival processes.
const (
	Poisson  = sim.Poisson
	Gamma    = sim.Gamma // as bursty as Variation says; 1 is Poisson
	Constant = sim.Constant
)

// Questions and answers. The JSON of a request is that of the HTTP API and of MCP, the JSON of an answer that of --json.
type (
	// PlanRequest asks how to serve a model within limits: which system, engine, mode and layout carry the most on a
	// number of devices (Devices), or carry a load (Rate, Daily) on the fewest.
	PlanRequest = plan.Request
	// Plan is the record of a plan: the answer in words, the contenders, the best first, and what would change them.
	Plan = plan.Response
	// Contender is the best deployment of one system, engine and mode, with its figures and cost.
	Contender = plan.Contender
	// ServingMode is agg or disagg.
	ServingMode = experiment.ServingMode

	// PredictRequest is a deployment, its traffic, and limits, which may be zero.
	PredictRequest = simulate.Request
	// Prediction is a simulated run: times with percentiles and 80 % intervals, throughput, memory, energy.
	Prediction = simulate.Response

	// OptimizeRequest asks for the layouts and batches of one model with the most throughput within limits, aggregated,
	// disaggregated (Disagg) or with matched prefill and decode (PDRatio).
	OptimizeRequest = optimize.Request
	// Optimization is the rows of a search, the best first, with every candidate and the Pareto frontier.
	Optimization = optimize.Response

	// StepRequest asks for one forward pass of a deployment.
	StepRequest = step.Request
	// Step is time and memory of one forward pass, by operator.
	Step = step.Response

	// SizeRequest asks for the fewest devices that carry a rate or a concurrency within the limits of experiments.
	SizeRequest = recommend.Request
	// How is how experiments are run: their sources, and how many rows each has.
	How = experiment.How
	// Experiment is a model, a system, an engine and a mode to size or compare.
	Experiment = experiment.Experiment
	// Sizing is the deployments that carry the load, the fewest devices first.
	Sizing = recommend.Response

	// LintRequest is files or a command that start an engine.
	LintRequest = lint.Request
	// Lint is what they will do, what is wrong with them, and which single settings would be better.
	Lint = lint.Response

	// FilesRequest asks for the files that run a plan's contender, the best by default, or a given deployment. Targets are
	// plain, compose, kubernetes, keda, dynamo, planner, llm-d, kserve, slurm, skypilot and bench.
	FilesRequest = deploy.Request
	// Target is a way to run a deployment that files are made for.
	Target = files.Target
	// Files are the files, and the targets that cannot run the deployment.
	Files = deploy.Response
)

// The serving modes.
const (
	Aggregated    = experiment.Aggregated
	Disaggregated = experiment.Disaggregated
)

// InputError is a mistake in a request, which the caller can correct: Fields are the fields in their JSON names, Mistakes
// each error of the request, with the value, what is allowed and the nearest match.
type InputError = document.InputError

// Mistake is one thing wrong with a request.
type Mistake = document.Mistake
