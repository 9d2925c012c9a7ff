"""Requests and answers, as the program's OpenAPI document describes them.

Written by "go -C tools run ./pytypes".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Literal, Optional, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

__all__ = [
    "APIPrice",
    "AgainstAPI",
    "Answer",
    "Assumption",
    "Bin",
    "Bounds",
    "Budget",
    "Capacity",
    "Carried",
    "Certainty",
    "Change",
    "Contender",
    "Content",
    "Cost",
    "Data",
    "Day",
    "Deployment",
    "DeploymentEngine",
    "Distribution",
    "Draft",
    "DraftLoad",
    "Drafting",
    "Energy",
    "EngineStep",
    "Estimate",
    "EstimateOperator",
    "EstimatePool",
    "EstimateStep",
    "Finding",
    "Formats",
    "Guide",
    "HostCache",
    "Improvement",
    "InFlight",
    "KVFlow",
    "Latencies",
    "Layout",
    "Limits",
    "LinkFacts",
    "LintLintRequest",
    "LintLintRequestLimits",
    "LintPool",
    "LintRequest",
    "LintRequestLimits",
    "LintResponse",
    "Load",
    "Modelling",
    "Moment",
    "Nearest",
    "Neighbours",
    "Next",
    "NotRun",
    "PlanRequest",
    "PlanRequestLimits",
    "PlanResponse",
    "PlanWorkload",
    "Pool",
    "Portion",
    "Reason",
    "ReplicaState",
    "Safe",
    "Sampling",
    "Session",
    "Sessions",
    "Shift",
    "SimulateRequest",
    "SimulateRequestLimits",
    "SimulateResponse",
    "SimulateSessions",
    "Speed",
    "SteadyRun",
    "TableUse",
    "Tables",
    "Timeline",
    "Times",
    "Use",
    "Why",
    "Workload",
]


class APIPrice(TypedDict):
    """APIPrice is the price of an API in US dollars per million tokens."""

    usd_per_million_input_tokens: float
    usd_per_million_output_tokens: float


class AgainstAPI(TypedDict):
    """AgainstAPI compares the cost of a deployment with that of an API."""

    api_usd_per_request: float
    # break_even_rate is the request rate above which the deployment is cheaper, with all its GPUs paid for, and break_even_load the same as a share of its capacity: above 1 the API is cheaper at any load.
    break_even_load: float
    # break_even_rate is the request rate above which the deployment is cheaper, with all its GPUs paid for, and break_even_load the same as a share of its capacity: above 1 the API is cheaper at any load.
    break_even_rate: float
    # ratio is the cost of a request over that of the API, at the same throughput as the other costs.
    ratio: float


class Answer(TypedDict):
    """Answer is the result of a plan in words."""

    # against_api compares the cost with the price of an API, if one is given.
    against_api: NotRequired[str]
    # certainty is the probability that the limits are met, missing without limits. safe is the answer at 90 % confidence, missing if this answer has it, and without changes.
    certainty: NotRequired[Union[Certainty, None]]
    meets_limits: bool
    # nearest_limits are the closest limits that can be met, if the requested ones cannot.
    nearest_limits: NotRequired[Union[Limits, None]]
    # sentence is the answer in a sentence, reason what limits it.
    reason: str
    # certainty is the probability that the limits are met, missing without limits. safe is the answer at 90 % confidence, missing if this answer has it, and without changes.
    safe: NotRequired[Union[Safe, None]]
    # sentence is the answer in a sentence, reason what limits it.
    sentence: str
    # usual_limits are the limits used because none were given.
    usual_limits: NotRequired[str]


class Assumption(TypedDict):
    """Assumption is a setting from a preset, for the workers of a role."""

    # also are further published values.
    also: NotRequired[Optional[List[str]]]
    key: NotRequired[str]
    role: NotRequired[Literal["", "both", "prefill", "decode"]]
    # left out is the engine's default, which others differ from
    value: NotRequired[str]


class Bin(TypedDict):
    """Bin is a range of prompt lengths, Min inclusive, Max exclusive, and its share of the requests. Weights need not add up to one."""

    max_tokens: int
    min_tokens: int
    weight: float


class Bounds(TypedDict):
    """Bounds are shares of a step's time: kernels by the bottleneck of each operator, and host work between them."""

    compute: float
    host: float
    link: float
    memory: float


class Budget(TypedDict):
    """Budget is how an engine divides the memory of one device."""

    activation_gib: float
    device_gib: float
    # 0 if the rest does not fit
    kv_gib: float
    kv_per_token_kib: float
    # share is of the memory, see share_of.
    share: float
    # share is of the memory, see share_of.
    share_of: str
    # recurrent ones
    states_gib: NotRequired[float]
    weights_gib: float
    workspace_gib: float


class Capacity(TypedDict):
    """Capacity is the capacity of the engines that generate: memory of one device, the rest over all ranks and replicas."""

    # batch_limit is the engines' limit on running sequences, cache_holds the number of full-length requests whose cache fits. safe_concurrency is the smaller one: more in flight wait or are preempted.
    batch_limit: int
    # batch_limit is the engines' limit on running sequences, cache_holds the number of full-length requests whose cache fits. safe_concurrency is the smaller one: more in flight wait or are preempted.
    cache_holds: int
    # memory is how the engine divides the memory; free_gib is unused.
    free_gib: float
    # of the KV caches
    kv_tokens: int
    # memory is how the engine divides the memory; free_gib is unused.
    memory: Budget
    # data-parallel, of all replicas
    ranks: int
    # batch_limit is the engines' limit on running sequences, cache_holds the number of full-length requests whose cache fits. safe_concurrency is the smaller one: more in flight wait or are preempted.
    safe_concurrency: int


class Carried(TypedDict):
    """Carried is the largest load that a deployment carries within the limits."""

    concurrency: int
    request_rate: Estimate
    tokens_per_second: Estimate


Certainty = TypedDict(
    "Certainty",
    {
    # sure, likely or doubtful
    "class": "str",
    # in_words is "Likely that the means meet the limits: 62 %".
    "in_words": "str",
    "probability": "float",
    },
)


class Change(TypedDict):
    """Change is the answer with one parameter changed."""

    # command is the command line of the changed plan, request its request.
    command: str
    failure: NotRequired[str]
    # ratio is tokens per second per GPU over that of the answer, or the number of gpus_used if a load was given. Unavailable values are null.
    gpus_used: Optional[int]
    in_words: NotRequired[str]
    meets_limits: bool
    # nearest_limits are the closest limits it meets, if the model fits but misses the limits.
    nearest_limits: NotRequired[Union[Limits, None]]
    # ratio is tokens per second per GPU over that of the answer, or the number of gpus_used if a load was given. Unavailable values are null.
    ratio: Optional[float]
    # command is the command line of the changed plan, request its request.
    request: PlanRequest
    request_rate: Optional[float]
    # safe marks the change to a higher confidence.
    safe: NotRequired[bool]
    # ratio is tokens per second per GPU over that of the answer, or the number of gpus_used if a load was given. Unavailable values are null.
    tokens_per_second_gpu: Optional[float]
    usd_per_million_output_tokens: Optional[float]
    usd_per_month: Optional[float]
    what: str
    # within_error reports whether the difference is within the prediction error.
    within_error: bool


class Contender(TypedDict):
    """Contender is the best deployment of one system, engine and mode."""

    # basis is the source of the intervals.
    basis: str
    batch_size: int
    bound_by: NotRequired[str]
    # load is the share of its capacity in use, if a rate was requested. All figures but those of capacity are then at that rate.
    capacity: NotRequired[Union[Carried, None]]
    # command is the command line of a plan with only this system, engine and mode.
    command: NotRequired[str]
    concurrency: int
    # null if no price is known
    cost: Union[Cost, None]
    deployment: Deployment
    energy: NotRequired[Union[Energy, None]]
    engine: str
    engine_title: str
    engine_version: NotRequired[str]
    frontier: Optional[List[Speed]]
    # good_share is the share of the simulated requests within all limits, goodput_per_s their rate in requests per second; null without limits.
    good_share: Optional[float]
    # good_share is the share of the simulated requests within all limits, goodput_per_s their rate in requests per second; null without limits.
    goodput_per_s: Optional[float]
    gpus: int
    # of a node of the system
    gpus_per_node: int
    gpus_used: int
    # guide is the prediction of the formulas of Ascend's guide for the same deployment and load, on Ascend devices.
    guide: NotRequired[Union[Guide, None]]
    # "4 replicas of TP 8"
    in_words: str
    # judged are the latencies that limits apply to.
    judged: Latencies
    # links are the levels of the system's interconnect, outermost first. kv_flow is missing if no KV caches are sent.
    kv_flow: NotRequired[Union[KVFlow, None]]
    kv_tokens: int
    kv_use_peak: float
    # links are the levels of the system's interconnect, outermost first. kv_flow is missing if no KV caches are sent.
    links: NotRequired[Optional[List[LinkFacts]]]
    # load is the share of its capacity in use, if a rate was requested. All figures but those of capacity are then at that rate.
    load: NotRequired[Optional[float]]
    mean: Latencies
    meets_limits: bool
    memory: Budget
    # agg or disagg
    mode: str
    # "h200_sxm vllm disagg"
    name: str
    nearest_limits: NotRequired[Union[Limits, None]]
    p95: Latencies
    # prefix_cached_share is the prefix-cache hit rate in prompt tokens, of requests outside sessions.
    prefix_cached_share: NotRequired[float]
    request_rate: Estimate
    sessions: NotRequired[Union[Sessions, None]]
    # spare_replicas replicas exceed what the load needs; figures are those with this many replicas down.
    spare_replicas: NotRequired[int]
    system: str
    tier: str
    # of all devices
    tokens_per_second: Estimate
    # of a device that is paid for
    tokens_per_second_gpu: Estimate
    # tokens_per_second_user is those that a user sees, null if requests generate one token.
    tokens_per_second_user: Union[Estimate, None]
    # why explains its figures; for the first contender see the plan's. Missing without changes.
    why: NotRequired[Union[Why, None]]


class Content(TypedDict):
    """Content is a file."""

    content: str
    name: str


class Cost(TypedDict):
    """Cost is what a deployment costs in US dollars."""

    # api compares the cost with the price of an api, if one is given.
    api: NotRequired[Union[AgainstAPI, None]]
    # energy_usd_per_million_output_tokens is the energy part of the cost of output tokens, energy_usd_per_kwh the price of a kilowatt-hour; missing if the power of the device is unknown.
    energy_usd_per_kwh: NotRequired[float]
    # energy_usd_per_million_output_tokens is the energy part of the cost of output tokens, energy_usd_per_kwh the price of a kilowatt-hour; missing if the power of the device is unknown.
    energy_usd_per_million_output_tokens: NotRequired[float]
    # price_class is the kind of price: on_demand and gpu_cloud (list prices of large clouds and of GPU clouds), reserved, spot or yours. not_compared says why it is not compared with prices of another class; "" if it is.
    not_compared: NotRequired[str]
    # price_class is the kind of price: on_demand and gpu_cloud (list prices of large clouds and of GPU clouds), reserved, spot or yours. not_compared says why it is not compared with prices of another class; "" if it is.
    price_class: str
    price_date: NotRequired[str]
    price_region: NotRequired[str]
    source: str
    usd_per_gpu_hour: float
    usd_per_million_output_tokens: Estimate
    # 730 hours
    usd_per_month: float
    # usd_per_month_scaled is the cost per month if the number of GPUs follows the load over the day.
    usd_per_month_scaled: NotRequired[Optional[float]]
    usd_per_request: Estimate


class Data(TypedDict):
    """Data is embedded data by its hash."""

    path: str
    sha256: str


class Day(TypedDict):
    """Day is the number of GPUs over the day for a varying load, and a schedule that follows it."""

    # cold_start_s is the time to start a replica in seconds. Scheduled replicas start this long before they are needed.
    cold_start_s: float
    # mean_gpus and gpu_hours_per_day are the schedule's average number of gpus and its GPU-hours per day, saved_gpu_hours_per_day the savings against running the peak fleet all day, with their price; null if none is known.
    gpu_hours_per_day: float
    # that each part needs
    gpus: Optional[List[int]]
    # mean_gpus and gpu_hours_per_day are the schedule's average number of gpus and its GPU-hours per day, saved_gpu_hours_per_day the savings against running the peak fleet all day, with their price; null if none is known.
    mean_gpus: float
    rates: Optional[List[float]]
    # mean_gpus and gpu_hours_per_day are the schedule's average number of gpus and its GPU-hours per day, saved_gpu_hours_per_day the savings against running the peak fleet all day, with their price; null if none is known.
    saved_gpu_hours_per_day: float
    saved_usd_per_day: Optional[float]
    saved_usd_per_month: Optional[float]
    schedule: Optional[List[Shift]]


class Deployment(TypedDict):
    """Deployment says how a model is served. Zero fields take their defaults."""

    # as_family is the family that the model's config.json is read as; left out is that of its architecture.
    as_family: NotRequired[str]
    # engine is empty if no engine is modelled: for single steps, and the formulas of throughput-optimizer.
    engine: NotRequired[DeploymentEngine]
    formats: NotRequired[Formats]
    # host_cache is host memory for KV blocks evicted from prefix caches.
    host_cache: NotRequired[HostCache]
    model: str
    modelling: NotRequired[Modelling]
    pools: NotRequired[Optional[List[Pool]]]
    # routing is the policy that routes requests to replicas; left out = round-robin.
    routing: NotRequired[Literal["", "round-robin", "least-loaded", "session", "prefix", "llm-d", "dynamo", "sglang"]]
    # a device profile
    system: NotRequired[str]


class DeploymentEngine(TypedDict):
    """Engine is a serving engine, its version (left out is the newest) and settings that differ from its defaults, each as 'key=value'. Preset names published settings that fill unset engine settings."""

    name: NotRequired[str]
    preset: NotRequired[str]
    settings: NotRequired[Optional[List[str]]]
    version: NotRequired[str]


class Distribution(TypedDict):
    """Distribution is prompt lengths in bins, in the order they were given."""

    bins: Optional[List[Bin]]


class Draft(TypedDict):
    """Draft is a draft model made of decoder layers like the target's last."""

    # tokens verified in a step
    block: NotRequired[int]
    layers: NotRequired[int]


class DraftLoad(TypedDict):
    """DraftLoad is the best number of draft tokens at a concurrency."""

    best_tokens: int
    concurrency: int
    # gain is throughput with the answer's drafts over that without drafts.
    gain: float


class Drafting(TypedDict):
    """Drafting describes the answer's draft tokens and the loads at which they raise throughput."""

    # of EAGLE-3
    head: NotRequired[str]
    # kept are the acceptance rates of the draft tokens, source their source.
    kept: Optional[List[float]]
    loads: Optional[List[DraftLoad]]
    method: Literal["", "mtp", "eagle3", "ngram"]
    # off_above is the highest concurrency at which drafting raises throughput; null if it does at all loads tried.
    off_above: Optional[int]
    # kept are the acceptance rates of the draft tokens, source their source.
    source: str
    tokens: int


class Energy(TypedDict):
    """Energy is what the devices of a deployment draw while it serves."""

    # joules_per_output_token is the energy of all devices for an output token.
    joules_per_output_token: Estimate
    # tier is calibrated where the power of the device's generation was measured, transferred where it is estimated from others.
    tier: str
    # watts_per_device is the mean power of a device.
    watts_per_device: float


class EngineStep(TypedDict):
    """EngineStep is what an engine makes of a step."""

    # step_s is the sum of kernels_s, as calibrated, and host_s.
    host_s: float
    # step_s is the sum of kernels_s, as calibrated, and host_s.
    kernels_s: float
    name: str
    # step_s is the sum of kernels_s, as calibrated, and host_s.
    step_s: float
    title: str


class Estimate(TypedDict):
    """Estimate is a predicted value with its 80 % interval. A value that does not exist is nil, and null in JSON."""

    high: float
    low: float
    value: float


class EstimateOperator(TypedDict):
    """Operator is all calls of an operator in a step."""

    bound: str
    calls: float
    kernels: NotRequired[str]
    limit_ms: float
    limit_share: float
    name: str
    share: float
    source: str
    time_ms: float


class EstimatePool(TypedDict):
    """Pool is the workers of one role."""

    batch_size: int
    # of a data-parallel rank
    kv_tokens: int
    kv_use_peak: float
    # complete
    layout: Layout
    memory: Budget
    # in use at most
    memory_gib: float
    role: Literal["", "both", "prefill", "decode"]
    # steps are steps of a worker in detail, if they were requested.
    steps: NotRequired[Optional[List[EstimateStep]]]
    system: str
    workers: int


class EstimateStep(TypedDict):
    """Step is one step of a worker."""

    # bounds are what the step of the engine waits for, as shares of its time.
    bounds: Bounds
    cached_tokens: int
    engine: NotRequired[Union[EngineStep, None]]
    # time_ms is the time of the kernels, limit_ms the shortest time the data sheet allows.
    limit_ms: float
    limit_share: float
    new_tokens: int
    operators: Optional[List[EstimateOperator]]
    phase: str
    # of a data-parallel rank
    requests: int
    # time_ms is the time of the kernels, limit_ms the shortest time the data sheet allows.
    time_ms: float


class Finding(TypedDict):
    """Finding is a problem in files or a command."""

    # the correction
    better: NotRequired[str]
    # of the rule: PL001
    code: str
    file: NotRequired[str]
    # of the file, from 1
    line: NotRequired[int]
    severity: Literal["", "error", "warning", "hint"]
    what: str
    # a flag or key of the engine
    where: str


class Formats(TypedDict):
    """Formats are the number formats that differ from the checkpoint's own."""

    # linear, non_expert and attention are quantization actions of the Ascend tools.
    attention: NotRequired[Literal["", "AUTO", "DISABLED", "W8A16_STATIC", "W8A8_STATIC", "W4A8_STATIC", "W8A16_DYNAMIC", "W8A8_DYNAMIC", "W4A8_DYNAMIC", "FP8", "MXFP4", "INT8"]]
    # checkpoint is a published conversion of the model: fp8, fp4 or int4.
    checkpoint: NotRequired[Literal["", "fp8", "fp4", "int4"]]
    # gemm is the format of linear layers other than routed experts, moe that of routed experts, as in WeightFormats; they override the fields above.
    gemm: NotRequired[Literal["", "bf16", "fp8", "fp8_static", "fp8_block", "nvfp4", "w4afp8", "w4a16_mxfp4", "w4a8_mxfp4_mxfp8", "int8_wo", "int4_wo", "sq"]]
    # kv is the format of the cache: fp8, int8, or bf16 for the model's own.
    kv: NotRequired[Literal["", "fp8", "int8", "bf16", "bfloat16"]]
    # linear, non_expert and attention are quantization actions of the Ascend tools.
    linear: NotRequired[Literal["", "AUTO", "DISABLED", "W8A16_STATIC", "W8A8_STATIC", "W4A8_STATIC", "W8A16_DYNAMIC", "W8A8_DYNAMIC", "W4A8_DYNAMIC", "FP8", "MXFP4", "INT8"]]
    # gemm is the format of linear layers other than routed experts, moe that of routed experts, as in WeightFormats; they override the fields above.
    moe: NotRequired[Literal["", "bf16", "fp8", "fp8_static", "fp8_block", "nvfp4", "w4afp8", "w4a16_mxfp4", "w4a8_mxfp4_mxfp8", "int8_wo", "int4_wo", "sq"]]
    # mxfp4_group is the number of elements that share an MXFP4 scale.
    mxfp4_group: NotRequired[int]
    # linear, non_expert and attention are quantization actions of the Ascend tools.
    non_expert: NotRequired[Literal["", "AUTO", "DISABLED", "W8A16_STATIC", "W8A8_STATIC", "W4A8_STATIC", "W8A16_DYNAMIC", "W8A8_DYNAMIC", "W4A8_DYNAMIC", "FP8", "MXFP4", "INT8"]]


class Guide(TypedDict):
    """Guide is what the formulas of Ascend's guide say of an aggregated deployment on its devices under the same load, as throughput-optimizer does with its defaults, whatever memory it would reserve: TensorCast's operator times, and prompts that arrive together. It has no interval: it is what those who plan with the guide expect, and measured deployments were far below it."""

    # output tokens of all replicas
    tokens_per_second: float
    tpot_ms: float
    ttft_ms: float


class HostCache(TypedDict):
    """HostCache is host memory for KV blocks evicted from the prefix caches of devices."""

    # gb_per_s is that between host memory and one device, in GB/s; 0 = 50.
    gb_per_s: NotRequired[float]
    # gib is the memory of one replica, over all its devices.
    gib: NotRequired[float]


class Improvement(TypedDict):
    """Improvement is a change of settings that raises the throughput within the limits."""

    # basis is the source of the intervals.
    basis: str
    # with the engine's own flags
    change: str
    concurrency: int
    # gain is relative to the throughput of the files; 0 if those meet the limits at no concurrency.
    gain: float
    # judged are the latencies that limits apply to.
    judged: Latencies
    # its drawbacks
    note: NotRequired[str]
    request_rate: Estimate
    # as "key=value"
    settings: Optional[List[str]]
    # of all devices
    tokens_per_second: Estimate
    # of a device that is paid for
    tokens_per_second_gpu: Estimate
    # tokens_per_second_user is those that a user sees, null if requests generate one token.
    tokens_per_second_user: Union[Estimate, None]


class InFlight(TypedDict):
    """InFlight is requests sent and not yet answered, over time."""

    max: int
    mean: float
    p50: int
    p90: int
    p95: int
    p99: int


class KVFlow(TypedDict):
    """KVFlow is the KV cache traffic from prefill to decode workers."""

    # of all requests, at the rate of the contender
    gb_per_s: float
    # link connects the workers as placed. Times are those of the outermost link, since launch files may place the workers on other nodes.
    link: str
    # of a prompt of mean length
    mb_per_request: float


class Latencies(TypedDict):
    """Latencies are the times of requests by one statistic, in milliseconds, null where a deployment has none: TPOT if requests generate one token."""

    # chance_within_limits is the probability that they meet the limits; null without limits.
    chance_within_limits: Optional[float]
    request_latency_ms: Union[Estimate, None]
    # mean, or a percentile such as p95
    statistic: str
    tpot_ms: Union[Estimate, None]
    ttft_ms: Union[Estimate, None]


class Layout(TypedDict):
    """Layout is how a model is split over devices. Attention is sharded over TP and replicated over DP; experts are distributed over EP (whole experts) and sharded over MoETP, and replicated over MoEDP; PP splits the layers; DCP the context of a decode step inside a TP group."""

    dcp: NotRequired[int]
    devices: NotRequired[int]
    dp: NotRequired[int]
    ep: NotRequired[int]
    moe_dp: NotRequired[int]
    moe_tp: NotRequired[int]
    pp: NotRequired[int]
    tp: NotRequired[int]


class Limits(TypedDict):
    """Limits are limits in milliseconds; null means none."""

    # latency_ms is that of a whole request; left out without such a limit.
    latency_ms: NotRequired[Optional[float]]
    tpot_ms: Optional[float]
    ttft_ms: Optional[float]


class LinkFacts(TypedDict):
    """LinkFacts is one level of the interconnect."""

    bandwidth_gb_s: float
    efficiency: float
    latency_us: float
    name: str
    size: int
    topology: str


class LintLintRequest(TypedDict):
    """Request is a launch command or launch files to check."""

    # files are those of one target; command is a command line. Exactly one is set.
    command: NotRequired[str]
    # 0 = the highest safe concurrency
    concurrency: NotRequired[int]
    # model, device and engine_version override the files.
    device: NotRequired[str]
    # model, device and engine_version override the files.
    engine_version: NotRequired[str]
    # files are those of one target; command is a command line. Exactly one is set.
    files: NotRequired[Optional[List[str]]]
    # input_length and output_length are lengths in tokens; 0 = from the files, or 1024 and 256.
    input_length: NotRequired[int]
    # Limits on latencies; an omitted latency has none.
    limits: NotRequired[LintLintRequestLimits]
    # model, device and engine_version override the files.
    model: NotRequired[str]
    # input_length and output_length are lengths in tokens; 0 = from the files, or 1024 and 256.
    output_length: NotRequired[int]
    # static leaves out what takes simulations: the prediction and better settings.
    static: NotRequired[bool]


class LintLintRequestLimits(TypedDict):
    """Limits on latencies; an omitted latency has none."""

    # latency of a whole request in milliseconds, or "inf" for none
    latency_ms: NotRequired[Union[float, Literal["inf"]]]
    # time per output token in milliseconds, or "inf" for none
    tpot_ms: NotRequired[Union[float, Literal["inf"]]]
    # time to first token in milliseconds, or "inf" for none
    ttft_ms: NotRequired[Union[float, Literal["inf"]]]


class LintPool(TypedDict):
    """Pool is a pool as it was read."""

    # of a replica
    devices: int
    layout: str
    replicas: int
    role: Literal["", "both", "prefill", "decode"]
    # with the engine's own flags
    settings: Optional[List[str]]


class LintRequest(TypedDict):
    """LintRequest is a launch command or launch files to check."""

    # files are those of one target; command is a command line. Exactly one is set.
    command: NotRequired[str]
    # 0 = the highest safe concurrency
    concurrency: NotRequired[int]
    # model, device and engine_version override the files.
    device: NotRequired[str]
    # model, device and engine_version override the files.
    engine_version: NotRequired[str]
    # files are the files of one target, with their content; instead of a command.
    files: NotRequired[Optional[List[Content]]]
    # input_length and output_length are lengths in tokens; 0 = from the files, or 1024 and 256.
    input_length: NotRequired[int]
    # Limits on latencies; an omitted latency has none.
    limits: NotRequired[LintRequestLimits]
    # model, device and engine_version override the files.
    model: NotRequired[str]
    # input_length and output_length are lengths in tokens; 0 = from the files, or 1024 and 256.
    output_length: NotRequired[int]
    # static leaves out what takes simulations: the prediction and better settings.
    static: NotRequired[bool]


class LintRequestLimits(TypedDict):
    """Limits on latencies; an omitted latency has none."""

    # latency of a whole request in milliseconds, or "inf" for none
    latency_ms: NotRequired[Union[float, Literal["inf"]]]
    # time per output token in milliseconds, or "inf" for none
    tpot_ms: NotRequired[Union[float, Literal["inf"]]]
    # time to first token in milliseconds, or "inf" for none
    ttft_ms: NotRequired[Union[float, Literal["inf"]]]


class LintResponse(TypedDict):
    """Response is the deployment that was read and the result of its check; times in milliseconds."""

    better: Optional[List[Improvement]]
    # capacity is null if the deployment cannot start; prediction also if it serves no request. prediction is the one of "plimsoll simulate".
    capacity: Union[Capacity, None]
    # deployment is whole: simulating it gives the figures.
    deployment: Deployment
    # model and device are empty if the files do not say them; then, and if the model is not known, only flags and devices were checked.
    device: NotRequired[str]
    devices: int
    # "" of files that start none and of whose objects there is something to say
    engine: str
    engine_version: NotRequired[str]
    # findings that are errors
    errors: int
    # the worst first
    findings: Optional[List[Finding]]
    # model and device are empty if the files do not say them; then, and if the model is not known, only flags and devices were checked.
    model: NotRequired[str]
    pools: Optional[List[LintPool]]
    # capacity is null if the deployment cannot start; prediction also if it serves no request. prediction is the one of "plimsoll simulate".
    prediction: Union[SimulateResponse, None]
    # complete
    request: LintLintRequest


class Load(TypedDict):
    """Load is the answer's deployment at a concurrency."""

    concurrency: int
    # judged are the latencies that limits apply to; the following are means and 95th percentiles.
    judged: Latencies
    mean: Latencies
    p95: Latencies
    request_rate: float
    tokens_per_second: Estimate


class Modelling(TypedDict):
    """Modelling is how a step is modelled."""

    dispatch_combine: NotRequired[bool]
    draft: NotRequired[Draft]
    embedding_tp: NotRequired[int]
    fusion: NotRequired[Literal["", "compiled", "eager"]]
    # images says that requests have images.
    images: NotRequired[bool]
    matmul_allreduce: NotRequired[bool]
    # left out = TensorCast's on Ascend devices
    policy: NotRequired[Literal["", "tensorcast", "physical"]]
    # pricing is the cost model of operators; left out = roofline with TensorCast's policy, the most accurate available elsewhere.
    pricing: NotRequired[Literal["", "roofline", "calibrated", "surfaces"]]
    sequence_parallel: NotRequired[bool]
    shared_expert_tp: NotRequired[bool]


class Moment(TypedDict):
    """Moment is the state of the cluster in the simulated run."""

    kv_use: float
    running: int
    second: float
    waiting: int


class Nearest(TypedDict):
    """Nearest is a measured deployment with a known correction."""

    # "TP 8 DP 1 of Qwen/Qwen3-32B (bf16) on h100_sxm under vllm 0.12.0"
    deployment: str
    # kernels and prompts are measured times over those that the fit without its memory predicts: of all kernels, and beside that of prompts.
    kernels: float
    # nearness is the share of its corrections that holds here, if it were the only one.
    nearness: float
    # kernels and prompts are measured times over those that the fit without its memory predicts: of all kernels, and beside that of prompts.
    prompts: float
    rows: int
    source: str


class Neighbours(TypedDict):
    """Neighbours are measured deployments like that of a prediction, with the errors of their predictions."""

    deployments: int
    # "NVIDIA, vllm"
    of: str
    throughput: Estimate
    tpot: Estimate
    ttft: Estimate


class Next(TypedDict):
    """Next is a command to run next."""

    command: str
    what: str


class NotRun(TypedDict):
    """NotRun is a system, engine and mode that cannot serve the model, with the reason."""

    engine: str
    mode: str
    reason: str
    system: str


class PlanRequest(TypedDict):
    """Request asks how to serve a model within limits: which system, engine, mode and layout carry the most on a number of devices, or carry a load on the fewest."""

    # api_price is the price of an api_price for the same model, to compare costs with.
    api_price: NotRequired[Union[APIPrice, None]]
    # arrival is the arrival process of a load at a replica: poisson (the default), gamma or constant; arrival_variation is the coefficient of variation of gamma arrivals at a replica: 1 is Poisson, higher is burstier.
    arrival: NotRequired[Literal["poisson", "gamma", "constant"]]
    # arrival is the arrival process of a load at a replica: poisson (the default), gamma or constant; arrival_variation is the coefficient of variation of gamma arrivals at a replica: 1 is Poisson, higher is burstier.
    arrival_variation: NotRequired[float]
    # an overlay file; left out = the shipped one
    calibration: NotRequired[str]
    # cold_start_s is the time to start a replica in seconds, for the schedule of daily; null = derived from the size of the weights.
    cold_start_s: NotRequired[Optional[float]]
    # confidence is the minimum probability of meeting the limits; 0 = 0.5.
    confidence: NotRequired[float]
    # config is the content of a model's config.json. The model is then only a name.
    config: NotRequired[Dict[str, object]]
    daily: NotRequired[Optional[List[float]]]
    device_file: NotRequired[str]
    # draft is the drafting method: "none" (the default), "mtp", "eagle3" or "ngram", followed by the number of draft tokens ("mtp:2"; default the best of 1 to 3), or "auto", which compares none with the methods of the model.
    draft: NotRequired[str]
    # energy_price is US dollars per kilowatt-hour, added to the price of the devices; null = 0.08, 0 ignores energy.
    energy_price: NotRequired[Optional[float]]
    # engine_preset names published engine settings; engines without this preset use their defaults.
    engine_preset: NotRequired[str]
    # engines to compare, with a release if it is not the newest ("vllm@0.24.0"); left out = all that run on a system.
    engines: NotRequired[Optional[List[str]]]
    formats: NotRequired[Formats]
    # goodput is the share of requests that must be within all limits at once; it replaces percentile.
    goodput: NotRequired[float]
    # One of these: the devices available, or the load to carry in requests per second (sessions per second if workloads are sessions), as one rate or as rates over equal parts of a day.
    gpus: NotRequired[int]
    # host_cache is host memory for KV blocks evicted from prefix caches.
    host_cache: NotRequired[HostCache]
    # limits default to those usual for the presets of the workloads, or for chat.
    limits: NotRequired[PlanRequestLimits]
    model: NotRequired[str]
    # modes to compare; left out = all.
    modes: NotRequired[Optional[List[Literal["agg", "disagg"]]]]
    # the same as draft mtp:N
    nextn: NotRequired[int]
    nextn_accept_rates: NotRequired[Optional[List[float]]]
    # no_changes skips the changes to the answer.
    no_changes: NotRequired[bool]
    # no_limits ignores latency and plans for throughput.
    no_limits: NotRequired[bool]
    # percentile at which latencies are held to the limits; 0 = their mean.
    percentile: NotRequired[float]
    perf_data: NotRequired[Tables]
    # prices are US dollars per device-hour, by system; other systems have the list price of their profile.
    prices: NotRequired[Dict[str, float]]
    rate: NotRequired[float]
    # routing is the policy that routes requests to replicas; left out = round-robin.
    routing: NotRequired[Literal["", "round-robin", "least-loaded", "session", "prefix", "llm-d", "dynamo", "sglang"]]
    # spare replicas are added to those that the load needs, so that this many may fail.
    spare: NotRequired[int]
    # systems to compare; "all" means every system that an engine supports.
    systems: NotRequired[Optional[List[str]]]
    # utilization is the maximum share of the capacity that the load may use; 0 = 1.
    utilization: NotRequired[float]
    # workloads that share the deployment.
    workloads: Optional[List[Workload]]


class PlanRequestLimits(TypedDict):
    """limits default to those usual for the presets of the workloads, or for chat."""

    # latency of a whole request in milliseconds, or "inf" for none
    latency_ms: NotRequired[Union[float, Literal["inf"]]]
    # time per output token in milliseconds, or "inf" for none
    tpot_ms: NotRequired[Union[float, Literal["inf"]]]
    # time to first token in milliseconds, or "inf" for none
    ttft_ms: NotRequired[Union[float, Literal["inf"]]]


class PlanResponse(TypedDict):
    """Response is the record of a plan: request, answer and the data behind it. The same program gives the same bytes for the same request through every interface. Reports are made from it alone."""

    answer: Answer
    caution: str
    changes: Optional[List[Change]]
    # command is the command line of this plan, request the request in JSON.
    command: str
    # contenders are the best deployments of each system, engine and mode (of each system, if there are more than eight), ranked by ranked_by; those that do not meet the limits come last.
    contenders: Optional[List[Contender]]
    # embedded data behind the figures
    data: Optional[List[Data]]
    day: NotRequired[Union[Day, None]]
    # missing without drafts
    drafting: NotRequired[Union[Drafting, None]]
    loads: Optional[List[Load]]
    # of some of its replicas
    minute: NotRequired[Union[Timeline, None]]
    model: str
    next: Optional[List[Next]]
    not_run: Optional[List[NotRun]]
    notes: Optional[List[str]]
    pools: Optional[List[EstimatePool]]
    # contenders are the best deployments of each system, engine and mode (of each system, if there are more than eight), ranked by ranked_by; those that do not meet the limits come last.
    ranked_by: str
    # command is the command line of this plan, request the request in JSON.
    request: PlanRequest
    schema: str
    timeline: Optional[List[Moment]]
    # of the program
    version: str
    why: NotRequired[Union[Why, None]]
    workloads: Optional[List[PlanWorkload]]


class PlanWorkload(TypedDict):
    """PlanWorkload is a workload with its resolved lengths."""

    mean_isl: float
    mean_osl: float
    name: str
    # of all requests
    share: float
    # of the lengths: given, a preset and its source, a file
    source: str


class Pool(TypedDict):
    """Pool is a group of identical replicas."""

    # mtp is the number of draft tokens per step; 0 is the engine's default. drafter is the method: "eagle3" (a published head), "ngram" (a look-up in the text) or "" (the model's own mtp modules). acceptance_rates are the acceptance rates of the draft tokens.
    acceptance_rates: NotRequired[Optional[List[float]]]
    # mtp is the number of draft tokens per step; 0 is the engine's default. drafter is the method: "eagle3" (a published head), "ngram" (a look-up in the text) or "" (the model's own mtp modules). acceptance_rates are the acceptance rates of the draft tokens.
    drafter: NotRequired[Literal["", "mtp", "eagle3", "ngram"]]
    # system and formats apply to this pool, if they differ from the deployment's.
    formats: NotRequired[Formats]
    layout: NotRequired[Layout]
    # mtp is the number of draft tokens per step; 0 is the engine's default. drafter is the method: "eagle3" (a published head), "ngram" (a look-up in the text) or "" (the model's own mtp modules). acceptance_rates are the acceptance rates of the draft tokens.
    mtp: NotRequired[int]
    # without one it is 1
    replicas: NotRequired[int]
    role: NotRequired[Literal["", "both", "prefill", "decode"]]
    # settings are engine settings of this pool, in addition to the deployment's.
    settings: NotRequired[Optional[List[str]]]
    # system and formats apply to this pool, if they differ from the deployment's.
    system: NotRequired[str]


class Portion(TypedDict):
    """Portion is a part of a figure."""

    name: str
    value: float


class Reason(TypedDict):
    """Reason explains one figure."""

    # phase is the phase of the step behind the figure, prefill or decode; its operators are in the plan's pools or in Steps. bounds are what the step waits for.
    bounds: NotRequired[Union[Bounds, None]]
    # in words
    error: str
    figure: str
    # parts add up to the figure, for throughput to the time of a request, for energy to the power of a GPU; parts of a probability are factors. A negative part reduces the figure.
    parts: Optional[List[Portion]]
    parts_unit: str
    # phase is the phase of the step behind the figure, prefill or decode; its operators are in the plan's pools or in Steps. bounds are what the step waits for.
    phase: NotRequired[str]
    sentence: str
    unit: str
    value: float


class ReplicaState(TypedDict):
    """ReplicaState is a replica, a value for each frame."""

    # alike is the number of replicas that do the same at the same time.
    alike: int
    # queued are requests that wait for the scheduler, prefill those whose prompts are computed, decode those that generate, and moving those whose KV cache is on the way to a decode replica.
    decode: Optional[List[int]]
    # kv_use is the share of the KV cache that requests hold.
    kv_use: Optional[List[float]]
    # queued are requests that wait for the scheduler, prefill those whose prompts are computed, decode those that generate, and moving those whose KV cache is on the way to a decode replica.
    moving: Optional[List[int]]
    # queued are requests that wait for the scheduler, prefill those whose prompts are computed, decode those that generate, and moving those whose KV cache is on the way to a decode replica.
    prefill: Optional[List[int]]
    # queued are requests that wait for the scheduler, prefill those whose prompts are computed, decode those that generate, and moving those whose KV cache is on the way to a decode replica.
    queued: Optional[List[int]]
    # prefill, decode or both
    role: str


class Safe(TypedDict):
    """Safe is the answer at 90 % confidence, if the answer itself is less certain: the same engine and mode, searched again."""

    command: str
    confidence: float
    gpus_used: Optional[int]
    # The rest is null if no deployment meets the limits at this confidence.
    in_words: NotRequired[str]
    meets_limits: bool
    request_rate: Optional[float]
    # sentence compares the safe choice with the answer.
    sentence: str
    usd_per_million_output_tokens: Optional[float]
    usd_per_month: Optional[float]


class Sampling(TypedDict):
    """Sampling is the relative standard errors of simulated times, which come from the number of requests that were simulated."""

    request_latency: float
    tpot: float
    ttft: float


class Session(TypedDict):
    """Session is a conversation with a model: each prompt is the conversation so far plus a new message. Its requests follow each other."""

    # first is the length of the first message, user that of every later one: a user's message or the results of tools. output is the length of an answer, which is part of all later prompts.
    first: int
    # length_ratio_low is the shortest length as a share of the longest; lengths are uniform in between; 0 = 1.
    length_ratio_low: NotRequired[float]
    # turns is the maximum number of requests in a session, min_turns the minimum (0 = turns); numbers are uniform in between.
    min_turns: NotRequired[int]
    # first is the length of the first message, user that of every later one: a user's message or the results of tools. output is the length of an answer, which is part of all later prompts.
    output: int
    # system is the length of the system prompt, shared by all sessions of a workload.
    system: NotRequired[int]
    # think_s is the mean time from an answer to the next request, in seconds, exponentially distributed.
    think_s: NotRequired[float]
    # turns is the maximum number of requests in a session, min_turns the minimum (0 = turns); numbers are uniform in between.
    turns: int
    # first is the length of the first message, user that of every later one: a user's message or the results of tools. output is the length of an answer, which is part of all later prompts.
    user: NotRequired[int]


class Sessions(TypedDict):
    """Sessions are a contender's figures for a load of sessions."""

    # capacity_sessions_per_second is the sessions per second that the deployment carries, null where no load was given.
    capacity_sessions_per_second: NotRequired[Union[Estimate, None]]
    # prefix_cached_share is the share of prompt tokens found in a cache, host_cached_share that found in the host cache.
    host_cached_share: float
    # sessions_per_second is sessions per second, mean_turns the mean requests per session. Requests outside sessions count as sessions of one request.
    mean_turns: float
    # prefix_cached_share is the share of prompt tokens found in a cache, host_cached_share that found in the host cache.
    prefix_cached_share: float
    # session_ms is the mean over sessions of the summed request latencies, without think time. session_percentile_ms is the same at the percentile of the request, null if limits apply to the mean; session_p95_ms at the 95th.
    session_ms: Estimate
    # session_ms is the mean over sessions of the summed request latencies, without think time. session_percentile_ms is the same at the percentile of the request, null if limits apply to the mean; session_p95_ms at the 95th.
    session_p95_ms: float
    # session_ms is the mean over sessions of the summed request latencies, without think time. session_percentile_ms is the same at the percentile of the request, null if limits apply to the mean; session_p95_ms at the 95th.
    session_percentile_ms: Optional[float]
    # sessions_per_second is sessions per second, mean_turns the mean requests per session. Requests outside sessions count as sessions of one request.
    sessions_per_second: Estimate
    # usd_per_session is the cost of a session in US dollars, null if no price is known.
    usd_per_session: Union[Estimate, None]


Shift = TypedDict(
    "Shift",
    {
    # 05:57:14
    "from": "str",
    "gpus": "int",
    "replicas": "int",
    "until": "str",
    },
)


class SimulateRequest(TypedDict):
    """Request is a simulation of a deployment under load."""

    # arrival and arrival_variation describe the arrivals of a rate.
    arrival: NotRequired[Literal["poisson", "gamma", "constant"]]
    # arrival and arrival_variation describe the arrivals of a rate.
    arrival_variation: NotRequired[float]
    # an overlay file; left out = the shipped one
    calibration: NotRequired[str]
    # Exactly one of these is set.
    concurrency: NotRequired[int]
    deployment: Deployment
    device_file: NotRequired[str]
    # goodput is the share of requests that must be within all limits at once; it replaces percentile.
    goodput: NotRequired[float]
    # input_distribution and output_distribution, if set, replace those.
    input_distribution: NotRequired[Union[Distribution, None]]
    # input_length and output_length are lengths in tokens; 0 = 1024 and 256. Lengths are uniform from length_ratio_low of them to all; 0 = 1.
    input_length: NotRequired[int]
    # input_length and output_length are lengths in tokens; 0 = 1024 and 256. Lengths are uniform from length_ratio_low of them to all; 0 = 1.
    length_ratio_low: NotRequired[float]
    # Limits on latencies; an omitted latency has none.
    limits: NotRequired[SimulateRequestLimits]
    # num_prompts is the number of a benchmark; 0 = 10 × concurrency, or 1000. In steady state it is the most to simulate; 0 = 50000. Of a trace it takes the first; 0 = all.
    num_prompts: NotRequired[int]
    # input_distribution and output_distribution, if set, replace those.
    output_distribution: NotRequired[Union[Distribution, None]]
    # input_length and output_length are lengths in tokens; 0 = 1024 and 256. Lengths are uniform from length_ratio_low of them to all; 0 = 1.
    output_length: NotRequired[int]
    # percentile at which latencies are held to the limits; 0 = their mean.
    percentile: NotRequired[float]
    perf_data: NotRequired[Tables]
    # prefix_length is the length of the prefix that all prompts share, cached from the start.
    prefix_length: NotRequired[int]
    # protocol is steady or benchmark; without one it is steady, or benchmark if num_prompts is given.
    protocol: NotRequired[Literal["", "steady", "benchmark"]]
    rate: NotRequired[float]
    # keep one record per request
    records: NotRequired[bool]
    # 0 = 1
    seed: NotRequired[int]
    # timeline asks for what replicas do over a minute of the run.
    timeline: NotRequired[bool]
    trace: NotRequired[str]
    # workloads, if set, replace all lengths: a mix of workloads.
    workloads: NotRequired[Optional[List[Workload]]]


class SimulateRequestLimits(TypedDict):
    """Limits on latencies; an omitted latency has none."""

    # latency of a whole request in milliseconds, or "inf" for none
    latency_ms: NotRequired[Union[float, Literal["inf"]]]
    # time per output token in milliseconds, or "inf" for none
    tpot_ms: NotRequired[Union[float, Literal["inf"]]]
    # time to first token in milliseconds, or "inf" for none
    ttft_ms: NotRequired[Union[float, Literal["inf"]]]


class SimulateResponse(TypedDict):
    """Response is a simulated run; times in milliseconds."""

    # assumed_settings are settings from a preset.
    assumed_settings: NotRequired[Optional[List[Assumption]]]
    # source of the intervals
    basis: str
    # command is the command line of this answer, request the request in JSON.
    command: NotRequired[str]
    device: str
    duration_s: float
    # energy is missing where the power of the device is unknown.
    energy: NotRequired[Union[Energy, None]]
    engine: str
    # evicted_blocks are KV blocks taken out of prefix caches for others. host_loading_s is the time to load blocks from the host cache, host_spared_s the time to compute them.
    evicted_blocks: NotRequired[int]
    finished: int
    good_share: float
    goodput_per_s: float
    # guide is the prediction of the formulas of Ascend's guide for the same deployment and load, on Ascend devices.
    guide: NotRequired[Union[Guide, None]]
    # prefix_cached_share is the prompt tokens found in the prefix cache, host_cached_share those of them found in the host cache.
    host_cached_share: NotRequired[float]
    # evicted_blocks are KV blocks taken out of prefix caches for others. host_loading_s is the time to load blocks from the host cache, host_spared_s the time to compute them.
    host_loading_s: NotRequired[float]
    # evicted_blocks are KV blocks taken out of prefix caches for others. host_loading_s is the time to load blocks from the host cache, host_spared_s the time to compute them.
    host_spared_s: NotRequired[float]
    in_flight: InFlight
    input_tokens_per_s: float
    # tpot_ms and itl_ms are null if requests generate one token.
    itl_ms: Union[Times, None]
    # judged is the times that limits apply to: means, or the percentile of the request.
    judged: Latencies
    kv_tokens: int
    kv_use_mean: float
    kv_use_peak: float
    latency_ms: Times
    layout: str
    # memory is how the engine divides that of one device; its tokens are those of a data-parallel rank.
    memory: Budget
    model: str
    notes: Optional[List[str]]
    # offered_requests_per_s is requests per second that came, requests_per_s those served.
    offered_requests_per_s: float
    # output_tokens_per_s has no interval if requests come at a rate or from a trace, which then determine the throughput.
    output_tokens_per_s: Estimate
    preemptions: int
    # Figures of the prefill replicas; those of all replicas if there are none.
    prefill_layout: NotRequired[str]
    prefill_utilization: float
    # prefix_cached_share is the prompt tokens found in the prefix cache, host_cached_share those of them found in the host cache.
    prefix_cached_share: float
    # protocol is steady or benchmark; steady is null unless the run went on until its figures were steady, and all figures are of its window.
    protocol: Literal["", "steady", "benchmark"]
    refused: int
    # command is the command line of this answer, request the request in JSON.
    request: SimulateRequest
    requests: int
    # offered_requests_per_s is requests per second that came, requests_per_s those served.
    requests_per_s: float
    # sessions are those that ended.
    sessions: NotRequired[Union[SimulateSessions, None]]
    # protocol is steady or benchmark; steady is null unless the run went on until its figures were steady, and all figures are of its window.
    steady: Union[SteadyRun, None]
    tables: NotRequired[Union[Use, None]]
    tier: str
    # timeline is missing unless the request asks for it.
    timeline: NotRequired[Union[Timeline, None]]
    # tpot_ms and itl_ms are null if requests generate one token.
    tpot_ms: Union[Times, None]
    ttft_ms: Times
    utilization: float


class SimulateSessions(TypedDict):
    """Sessions is the sessions of several requests that ended."""

    count: int
    # latency_ms is from the first request to the last answer; latency_without_think_ms is without the time between an answer and the next request.
    latency_ms: Times
    # latency_ms is from the first request to the last answer; latency_without_think_ms is without the time between an answer and the next request.
    latency_without_think_ms: Times
    mean_turns: float
    per_s: float


class Speed(TypedDict):
    """Speed is one point of a trade-off."""

    # The deployment of a plan's point in words, its gpus_used, times by the statistic that limits apply to, and the price of a million output tokens without energy; left out elsewhere.
    gpus_used: NotRequired[int]
    # The deployment of a plan's point in words, its gpus_used, times by the statistic that limits apply to, and the price of a million output tokens without energy; left out elsewhere.
    in_words: NotRequired[str]
    tokens_per_second_gpu: float
    tokens_per_second_user: float
    tpot_ms: NotRequired[float]
    ttft_ms: NotRequired[float]
    usd_per_million_output_tokens: NotRequired[float]


class SteadyRun(TypedDict):
    """SteadyRun is how a run to steady state went."""

    # ended is precise where the sampling error is small enough; otherwise overloaded, bounded (by the number of requests) or replayed (a trace, all of whose requests count).
    ended: str
    # sampling_error is the relative standard errors of the means, or of the percentile of the request.
    sampling_error: Sampling
    # warmup_requests is the requests that ended before the window, window_requests those in it.
    warmup_requests: int
    # warmup_requests is the requests that ended before the window, window_requests those in it.
    window_requests: int


class TableUse(TypedDict):
    """Use is what was taken from one table."""

    path: str
    # in the file
    rows: int
    # of kernels with many such rows
    rows_distrusted: int
    rows_kept: int
    # faster than the device can be
    rows_rejected: int
    # worst_rejected is the rejected row that is furthest off, WorstShare its time as a share of what the device needs at least; 1 where none is.
    worst_rejected: NotRequired[str]


class Tables(TypedDict):
    """Tables says which measured kernels price operators."""

    # left out = none
    dir: NotRequired[str]
    # "ENGINE" or "ENGINE@VERSION"; left out = the fastest kernel of any
    engine: NotRequired[str]


class Timeline(TypedDict):
    """Timeline is what replicas do over a minute of a run, or over the run if it is shorter, in at most 120 frames that are evenly spaced. In steady state it begins after the warm-up. Of many replicas it has the first eight, of two pools the first four of each."""

    every_s: float
    # in the run
    from_s: float
    replicas: Optional[List[ReplicaState]]


class Times(TypedDict):
    """Times is the distribution of a time. Low and High are the 80 % interval of the mean."""

    high: float
    low: float
    max: float
    mean: float
    p50: float
    p90: float
    p95: float
    p99: float


class Use(TypedDict):
    """Use is what was taken of measured kernels."""

    # devices_without are devices of which there are no tables. Only measured rows may be of such.
    devices_without: NotRequired[Optional[List[str]]]
    dir: NotRequired[str]
    files: NotRequired[Optional[List[TableUse]]]


class Why(TypedDict):
    """Why explains the figures of a contender."""

    figures: Optional[List[Reason]]
    # measured are the measured deployments that intervals derive from, from all of the kind to the most similar, and measured_how says how they were predicted; measured_models are the models measured with this engine on this system.
    measured: Optional[List[Neighbours]]
    # measured are the measured deployments that intervals derive from, from all of the kind to the most similar, and measured_how says how they were predicted; measured_models are the models measured with this engine on this system.
    measured_how: str
    # measured are the measured deployments that intervals derive from, from all of the kind to the most similar, and measured_how says how they were predicted; measured_models are the models measured with this engine on this system.
    measured_models: Optional[List[str]]
    # measured_nearest are the measured deployments whose corrections apply, nearest first.
    measured_nearest: Optional[List[Nearest]]
    # steps are the steps that figures derive from, with their operators; those of the first contender are in the plan's pools.
    steps: NotRequired[Optional[List[EstimateStep]]]


class Workload(TypedDict):
    """Workload describes requests of one kind."""

    # input_distribution and output_distribution, if set, replace the lengths.
    input_distribution: NotRequired[Union[Distribution, None]]
    # isl and osl are lengths in tokens, uniform from length_ratio_low of them to all; 0 = 1.
    isl: NotRequired[int]
    # isl and osl are lengths in tokens, uniform from length_ratio_low of them to all; 0 = 1.
    length_ratio_low: NotRequired[float]
    name: NotRequired[str]
    # isl and osl are lengths in tokens, uniform from length_ratio_low of them to all; 0 = 1.
    osl: NotRequired[int]
    # input_distribution and output_distribution, if set, replace the lengths.
    output_distribution: NotRequired[Union[Distribution, None]]
    # prefix is the tokens of a prompt found in the prefix cache.
    prefix: NotRequired[int]
    # preset names request lengths of a typical use; other fields override its values.
    preset: NotRequired[str]
    # session, if set, makes this a workload of sessions; share is then the share of sessions.
    session: NotRequired[Union[Session, None]]
    # share is the weight of the workload among all requests; 0 = 1.
    share: NotRequired[float]
    # trace is a trace file that gives the lengths and, with block hashes, shared prefixes; its arrival times are ignored.
    trace: NotRequired[str]
    # trace_data is the content of a trace file, instead of its name.
    trace_data: NotRequired[str]
