// The request of the page. It is kept in the address, so that a link contains it.

export interface State {
  model: string; systems: string[]; have: string;
  gpus: number; rate: number; daily: string; spare: number; utilization: number; cold_start: number;
  preset: string; isl: number; osl: number; prefix: number; ttft: number; tpot: number; latency: number;
  percentile: string; confidence: string; engines: string[]; modes: string[];
  checkpoint: string; kv: string; nextn: number;
  prices: string; energy: string; api_in: string; api_out: string;
}

export const start: State = {
  model: "Qwen/Qwen3-32B", systems: ["h200_sxm"], have: "gpus", gpus: 32, rate: 10, daily: "", spare: 0, utilization: 0, cold_start: 0, preset: "",
  isl: 3000, osl: 512, prefix: 0, ttft: 1000, tpot: 10, latency: 0, percentile: "", confidence: "",
  engines: [], modes: [], checkpoint: "", kv: "", nextn: 0,
  prices: "", energy: "", api_in: "", api_out: "",
};

// What lists are called in the address: as the flags.
const lists = { systems: "system", engines: "engine", modes: "mode" } as const;
type List = keyof typeof lists;
const always = ["model", "isl", "osl", "ttft", "tpot"];

export function read(query: string): State {
  const q = new URLSearchParams(query);
  const out: State = structuredClone(start);
  const into = out as unknown as Record<string, unknown>;
  for (const [key, was] of Object.entries(start)) {
    const given = q.get(key);
    if (key in lists) {
      const all = q.getAll(lists[key as List]);
      if (all.length) into[key] = all;
    } else if (given !== null) {
      into[key] = typeof was === "number" ? Number(given) : given;
    }
  }
  if (!q.has("have")) out.have = q.has("daily") ? "daily" : q.has("rate") ? "rate" : "gpus";
  return out;
}

export function write(s: State): string {
  const q = new URLSearchParams();
  for (const [key, was] of Object.entries(start)) {
    const now = (s as unknown as Record<string, unknown>)[key];
    if (key in lists) for (const v of now as string[]) q.append(lists[key as List], v);
    else if (key === "have" || ((key === "gpus" || key === "rate" || key === "daily") && s.have !== key)) continue;
    else if (s.preset && (key === "isl" || key === "osl" || key === "prefix")) continue;
    else if (key === s.have || always.includes(key) || now !== was) q.set(key, String(now));
  }
  return q.toString();
}

// What limits apply to is the mean, a percentile, or with a g a share of requests that are within all limits.
const goodput = (s: State): number => (s.percentile.startsWith("g") ? Number(s.percentile.slice(1)) : 0);
const percentile = (s: State): number => (goodput(s) ? 0 : Number(s.percentile));

// pricesOf reads "2.5" for all systems, and "h200_sxm=2.5 b200_sxm=4".
function pricesOf(s: State): Record<string, number> | undefined {
  const out: Record<string, number> = {};
  for (const word of s.prices.split(/[\s,;]+/).filter(Boolean)) {
    const [system, usd] = word.includes("=") ? word.split("=") : ["", word];
    for (const name of system ? [system] : s.systems) out[name] = Number(usd);
  }
  return Object.keys(out).length ? out : undefined;
}

// What is too long for an address: the config.json of a model, a trace.
export interface Own { config?: unknown; trace?: string }

// request is an ops.PlanRequest.
export function request(s: State, own: Own = {}): unknown {
  const some = (v: unknown): unknown => (Array.isArray(v) ? (v.length ? v : undefined) : v || undefined);
  return {
    model: s.model.trim(), config: own.config, systems: s.systems,
    gpus: s.have === "gpus" ? s.gpus : undefined,
    rate: s.have === "rate" ? s.rate : undefined,
    daily: s.have === "daily" ? s.daily.split(/[\s,;]+/).filter(Boolean).map(Number) : undefined,
    workloads: [own.trace ? { trace_data: own.trace } : s.preset ? { preset: s.preset } : { isl: s.isl, osl: s.osl, prefix: some(s.prefix) }],
    spare: s.have === "gpus" ? undefined : some(s.spare), utilization: s.have === "gpus" ? undefined : some(s.utilization),
    cold_start_s: s.have === "daily" ? some(s.cold_start) : undefined,
    limits: { ttft_ms: some(s.ttft), tpot_ms: some(s.tpot), latency_ms: some(s.latency) },
    percentile: some(percentile(s)), goodput: some(goodput(s)), confidence: some(Number(s.confidence)),
    engines: some(s.engines), modes: some(s.modes),
    formats: s.checkpoint || s.kv ? { checkpoint: some(s.checkpoint), kv: some(s.kv) } : undefined,
    nextn: some(s.nextn),
    prices: pricesOf(s), energy_price: s.energy === "" ? undefined : Number(s.energy),
    api_price: s.api_in || s.api_out ? { usd_per_million_input_tokens: Number(s.api_in), usd_per_million_output_tokens: Number(s.api_out) } : undefined,
  };
}

interface Workload { preset?: string; isl?: number; osl?: number; prefix?: number }

interface Asked {
  model?: string; systems?: string[]; gpus?: number; rate?: number; daily?: number[]; spare?: number; utilization?: number; cold_start_s?: number;
  workloads?: Workload[]; limits?: { ttft_ms?: number; tpot_ms?: number; latency_ms?: number }; percentile?: number; goodput?: number; confidence?: number;
  engines?: string[]; modes?: string[]; formats?: { checkpoint?: string; kv?: string }; nextn?: number;
  prices?: Record<string, number>; energy_price?: number; api_price?: { usd_per_million_input_tokens: number; usd_per_million_output_tokens: number };
}

// stateOf is the state of a request, as an answer or a plan.json has it.
export function stateOf(asked: unknown): State {
  const r = asked as Asked, w = r.workloads?.[0] ?? {}, l = r.limits ?? {};
  return {
    ...structuredClone(start), model: r.model ?? "", systems: r.systems ?? [], have: r.daily ? "daily" : r.rate ? "rate" : "gpus",
    gpus: r.gpus ?? start.gpus, rate: r.rate ?? start.rate, daily: r.daily?.join(" ") ?? "", spare: r.spare ?? 0, utilization: r.utilization ?? 0, cold_start: r.cold_start_s ?? 0,
    preset: w.preset ?? "", isl: w.isl ?? start.isl, osl: w.osl ?? start.osl, prefix: w.prefix ?? 0,
    ttft: l.ttft_ms ?? 0, tpot: l.tpot_ms ?? 0, latency: l.latency_ms ?? 0,
    percentile: r.goodput ? `g${r.goodput}` : r.percentile ? String(r.percentile) : "", confidence: !r.confidence || r.confidence === 0.5 ? "" : String(r.confidence),
    engines: r.engines ?? [], modes: r.modes ?? [], checkpoint: r.formats?.checkpoint ?? "", kv: r.formats?.kv ?? "", nextn: r.nextn ?? 0,
    prices: Object.entries(r.prices ?? {}).map(([system, usd]) => `${system}=${usd}`).join(" "), energy: r.energy_price === undefined || r.energy_price === 0.08 ? "" : String(r.energy_price),
    api_in: r.api_price ? String(r.api_price.usd_per_million_input_tokens) : "", api_out: r.api_price ? String(r.api_price.usd_per_million_output_tokens) : "",
  };
}

// command is the command line of the request. That of the answer replaces it.
export function command(s: State): string {
  const word = (v: string) => (/^[\w./:@+-]+$/.test(v) ? v : `'${v.replaceAll("'", `'\\''`)}'`);
  const out = ["plimsoll plan", word(s.model.trim())];
  const flag = (name: string, ...values: (string | number)[]) => {
    const given = values.map(String).filter((v) => v && v !== "0");
    if (given.length) out.push(`--${name}`, ...given.map(word));
  };
  flag("system", ...s.systems);
  if (s.have === "daily") flag("daily", ...s.daily.split(/[\s,;]+/));
  else flag(s.have, s.have === "rate" ? s.rate : s.gpus);
  if (s.preset) flag("preset", s.preset);
  else { flag("isl", s.isl); flag("osl", s.osl); flag("prefix", s.prefix); }
  flag("ttft", s.ttft);
  flag("tpot", s.tpot);
  if (s.have !== "gpus") { flag("spare", s.spare); flag("utilization", s.utilization); }
  if (s.have === "daily") flag("cold-start", s.cold_start);
  flag("request-latency", s.latency);
  if (percentile(s)) flag("percentile", `p${s.percentile}`);
  flag("goodput", goodput(s));
  flag("confidence", s.confidence);
  flag("engine", ...s.engines);
  if (s.modes.length === 1) flag("serving-mode", s.modes[0]!);
  flag("weights", s.checkpoint);
  flag("kv-cache", s.kv);
  flag("nextn", s.nextn);
  flag("price", ...s.prices.split(/[\s,;]+/));
  if (s.energy !== "") out.push("--energy-price", s.energy);
  if (s.api_in || s.api_out) out.push("--api-price", s.api_in || "0", s.api_out || "0");
  return out.join(" ");
}
