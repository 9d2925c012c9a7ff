import { isPreset, read as readKind, write as writeKind, type Preset, type Workload } from "./kinds";

// The request of the page. It is kept in the address, so that a link contains it.

export interface State {
  model: string; systems: string[]; have: string;
  gpus: number; rate: number; daily: string; bursts: number; spare: number; utilization: number; cold_start: number;
  preset: string; workloads: string[]; isl: number; osl: number; prefix: number; ttft: number; tpot: number; latency: number;
  percentile: string; confidence: string; no_limits: string; engines: string[]; modes: string[];
  checkpoint: string; kv: string; nextn: number; draft: string; routing: string; host: number;
  prices: string; energy: string; api_in: string; api_out: string;
  more: string; // fields of a request that the page has no control for, as JSON
}

export const start: State = {
  model: "Qwen/Qwen3-32B", systems: ["h200_sxm"], have: "gpus", gpus: 32, rate: 10, daily: "", bursts: 0, spare: 0, utilization: 0, cold_start: 0, preset: "", workloads: [],
  isl: 3000, osl: 512, prefix: 0, ttft: 1000, tpot: 10, latency: 0, percentile: "", confidence: "", no_limits: "",
  engines: [], modes: [], checkpoint: "", kv: "", nextn: 0, draft: "", routing: "", host: 0,
  prices: "", energy: "", api_in: "", api_out: "", more: "",
};

// What lists are called in the address: as the flags.
const lists = { systems: "system", engines: "engine", modes: "mode", workloads: "workload" } as const;
type List = keyof typeof lists;
const always = ["model", "isl", "osl", "ttft", "tpot"];


// What is longer, such as a trace in an opened plan, is sent and not in the address.
const tooLong = 4000;

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
    if (key in lists) for (const v of now as string[]) { if (v.length < tooLong) q.append(lists[key as List], v); }
    else if (key === "have" || ((key === "gpus" || key === "rate" || key === "daily") && s.have !== key)) continue;
    else if ((s.preset || s.workloads.length) && (key === "isl" || key === "osl" || key === "prefix")) continue;
    else if (key === "preset" && s.workloads.length) continue;
    else if (key === "more" && s.more.length > tooLong) continue;
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
  const more = moreOf(s);
  return {
    ...more, model: s.model.trim(), config: own.config ?? more.config, systems: s.systems,
    gpus: s.have === "gpus" ? s.gpus : undefined,
    rate: s.have === "rate" ? s.rate : undefined,
    daily: s.have === "daily" ? s.daily.split(/[\s,;]+/).filter(Boolean).map(Number) : undefined,
    workloads: s.workloads.length ? s.workloads.map((w) => readKind(w)) : [own.trace ? { trace_data: own.trace } : s.preset ? { preset: s.preset } : { isl: s.isl, osl: s.osl, prefix: some(s.prefix) }],
    arrival: s.have === "gpus" ? undefined : s.bursts ? "gamma" : more.arrival, arrival_variation: s.have === "gpus" ? undefined : s.bursts || more.arrival_variation,
    spare: s.have === "gpus" ? undefined : some(s.spare), utilization: s.have === "gpus" ? undefined : some(s.utilization),
    cold_start_s: s.have === "daily" ? some(s.cold_start) : undefined,
    limits: s.no_limits ? undefined : { ttft_ms: some(s.ttft), tpot_ms: some(s.tpot), latency_ms: some(s.latency) }, no_limits: s.no_limits ? true : undefined,
    percentile: some(percentile(s)), goodput: some(goodput(s)), confidence: some(Number(s.confidence)),
    engines: some(s.engines), modes: some(s.modes),
    formats: s.checkpoint || s.kv || more.formats ? { ...more.formats, checkpoint: some(s.checkpoint), kv: some(s.kv) } : undefined,
    nextn: some(s.nextn), draft: some(s.draft), routing: some(s.routing), host_cache: s.host ? { gb_per_s: hostBandwidth, ...more.host_cache, gib: s.host } : undefined,
    prices: pricesOf(s), energy_price: s.energy === "" ? undefined : Number(s.energy),
    api_price: s.api_in || s.api_out ? { usd_per_million_input_tokens: Number(s.api_in), usd_per_million_output_tokens: Number(s.api_out) } : undefined,
  };
}

// hostBandwidth is the default of --host-bandwidth.
const hostBandwidth = 50;

interface More { config?: unknown; arrival?: string; arrival_variation?: number; formats?: object; host_cache?: object }

function moreOf(s: State): More {
  try { return s.more ? (JSON.parse(s.more) as More) : {}; } catch { return {}; }
}

interface Asked {
  model?: string; systems?: string[]; gpus?: number; rate?: number; daily?: number[]; arrival?: string; arrival_variation?: number; spare?: number; utilization?: number; cold_start_s?: number;
  workloads?: Workload[]; no_limits?: boolean; limits?: { ttft_ms?: number; tpot_ms?: number; latency_ms?: number }; percentile?: number; goodput?: number; confidence?: number;
  engines?: string[]; modes?: string[]; formats?: { checkpoint?: string; kv?: string }; nextn?: number; draft?: string; routing?: string; host_cache?: { gib?: number; gb_per_s?: number };
  prices?: Record<string, number>; energy_price?: number; api_price?: { usd_per_million_input_tokens: number; usd_per_million_output_tokens: number };
}

// stateOf is the state of a request, as an answer or a plan.json has it. All of the request is kept.
export function stateOf(asked: unknown, presets: Preset[]): State {
  const r = asked as Asked, all = r.workloads ?? [], w = all[0] ?? {}, l = r.limits ?? {};
  const of = presets.find((p) => p.name === w.preset);
  const { name = "", share = 1, preset, isl, osl, prefix, length_ratio_low: low = 1, ...rest } = w;
  const single = all.length === 1 && share === 1 && (preset ? name === "" || name === preset : name === "");
  const whole = single && !!preset && isPreset(w, of), fixed = single && !preset && !!isl && !!osl && low === 1 && !Object.keys(rest).length;
  return {
    ...structuredClone(start), model: r.model ?? "", systems: r.systems ?? [], have: r.daily ? "daily" : r.rate ? "rate" : "gpus",
    gpus: r.gpus ?? start.gpus, rate: r.rate ?? start.rate, daily: r.daily?.join(" ") ?? "", bursts: r.arrival === "gamma" ? (r.arrival_variation ?? 0) : 0, spare: r.spare ?? 0, utilization: r.utilization ?? 0, cold_start: r.cold_start_s ?? 0,
    preset: whole ? preset : "", isl: isl ?? start.isl, osl: osl ?? start.osl, prefix: prefix ?? 0,
    workloads: whole || fixed || !all.length ? [] : all.map((x, i) => writeKind({ ...x, name: x.name || `w${i + 1}` }, presets)),
    ttft: l.ttft_ms ?? 0, tpot: l.tpot_ms ?? 0, latency: l.latency_ms ?? 0, no_limits: r.no_limits ? "yes" : "",
    percentile: r.goodput ? `g${r.goodput}` : r.percentile ? String(r.percentile) : "", confidence: !r.confidence || r.confidence === 0.5 ? "" : String(r.confidence),
    engines: r.engines ?? [], modes: r.modes ?? [], checkpoint: r.formats?.checkpoint ?? "", kv: r.formats?.kv ?? "", nextn: r.nextn ?? 0,
    draft: r.draft ?? "", routing: r.routing ?? "", host: r.host_cache?.gib ?? 0,
    prices: Object.entries(r.prices ?? {}).map(([system, usd]) => `${system}=${usd}`).join(" "), energy: r.energy_price === undefined || r.energy_price === 0.08 ? "" : String(r.energy_price),
    api_in: r.api_price ? String(r.api_price.usd_per_million_input_tokens) : "", api_out: r.api_price ? String(r.api_price.usd_per_million_output_tokens) : "",
    more: others(r),
  };
}

const controlled = [
  "model", "systems", "gpus", "rate", "daily", "spare", "utilization", "cold_start_s", "workloads", "limits", "no_limits", "percentile", "goodput", "confidence", "engines", "modes",
  "nextn", "draft", "routing", "prices", "energy_price", "api_price", "no_changes",
];

// others are the fields of a request without a control, "" if there are none.
function others(r: Asked): string {
  const out: Record<string, unknown> = Object.fromEntries(Object.entries(r).filter(([k]) => !controlled.includes(k) && !(r.arrival === "gamma" && k.startsWith("arrival")) && k !== "formats" && k !== "host_cache"));
  const { checkpoint: _c, kv: _k, ...formats } = r.formats ?? {}, bandwidth = r.host_cache?.gb_per_s;
  if (Object.keys(formats).length) out.formats = formats;
  if (bandwidth && bandwidth !== hostBandwidth) out.host_cache = { gb_per_s: bandwidth };
  return Object.keys(out).length ? JSON.stringify(out) : "";
}

// command is the command line of the request. That of the answer replaces it.
export function command(s: State): string {
  const word = (v: string) => (/^[\w./:@+=,-]+$/.test(v) ? v : `'${v.replaceAll("'", `'\\''`)}'`);
  const out = ["plimsoll plan", word(s.model.trim())];
  const flag = (name: string, ...values: (string | number)[]) => {
    const given = values.map(String).filter((v) => v && v !== "0");
    if (given.length) out.push(`--${name}`, ...given.map(word));
  };
  flag("system", ...s.systems);
  if (s.have === "daily") flag("daily", ...s.daily.split(/[\s,;]+/));
  else flag(s.have, s.have === "rate" ? s.rate : s.gpus);
  if (s.workloads.length) flag("workload", ...s.workloads);
  else if (s.preset) flag("preset", s.preset);
  else { flag("isl", s.isl); flag("osl", s.osl); flag("prefix", s.prefix); }
  if (s.no_limits) out.push("--no-limits");
  else { flag("ttft", s.ttft); flag("tpot", s.tpot); flag("request-latency", s.latency); }
  if (s.have !== "gpus") {
    if (s.bursts) { flag("arrival", "gamma"); flag("arrival-variation", s.bursts); }
    flag("spare", s.spare);
    flag("utilization", s.utilization);
  }
  if (s.have === "daily") flag("cold-start", s.cold_start);
  if (percentile(s)) flag("percentile", `p${s.percentile}`);
  flag("goodput", goodput(s));
  flag("confidence", s.confidence);
  flag("engine", ...s.engines);
  if (s.modes.length === 1) flag("serving-mode", s.modes[0]!);
  flag("weights", s.checkpoint);
  flag("kv-cache", s.kv);
  flag("draft", s.draft);
  flag("nextn", s.nextn);
  flag("routing", s.routing);
  flag("host-cache", s.host);
  flag("price", ...s.prices.split(/[\s,;]+/));
  if (s.energy !== "") out.push("--energy-price", s.energy);
  if (s.api_in || s.api_out) out.push("--api-price", s.api_in || "0", s.api_out || "0");
  return out.join(" ");
}
