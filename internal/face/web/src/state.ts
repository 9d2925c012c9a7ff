import { applies, ask, at, put, told, type Field, type Value } from "./fields";
import { isPreset, read as readKind, write as writeKind, type Preset, type Workload } from "./kinds";

// The request of the page. It is kept in the address, so that a link contains it.

export interface State {
  model: string; have: string; bursts: number; preset: string; workloads: string[]; isl: number; osl: number; prefix: number;
  percentile: string; no_limits: string; prices: string; api_in: string; api_out: string;
  more: string; // fields of a request that the page has no control for, as JSON
  fields: Record<string, Value>; // those with a control of their own, by its id
}

const start = {
  model: "Qwen/Qwen3-32B", have: "gpus", bursts: 0, preset: "", workloads: [] as string[], isl: 3000, osl: 512, prefix: 0,
  percentile: "", no_limits: "", prices: "", api_in: "", api_out: "", more: "",
};

export function first(all: Field[]): State {
  return { ...structuredClone(start), fields: Object.fromEntries(all.map((f) => [f.id, f.start])) };
}

// What lists are called in the address: as the flags.
const lists: Record<string, string> = { systems: "system", engines: "engine", modes: "mode", workloads: "workload" };
const always = ["model", "isl", "osl", "ttft", "tpot"];

// What is longer, such as a trace in an opened plan, is sent and not in the address.
const tooLong = 4000;

// parts are the keys and values of a state, in the order of the address.
const parts = (s: State): [string, Value][] => [...Object.keys(start).map((k): [string, Value] => [k, s[k as keyof typeof start]]), ...Object.entries(s.fields)];

export function read(query: string, all: Field[]): State {
  const q = new URLSearchParams(query), out = first(all);
  for (const [key, was] of parts(out)) {
    const given = q.get(key), several = q.getAll(lists[key] ?? "");
    const now = key in lists ? (several.length ? several : was) : given === null ? was : typeof was === "number" ? Number(given) : given;
    if (key in out.fields) out.fields[key] = now;
    else (out as unknown as Record<string, Value>)[key] = now;
  }
  if (!q.has("have")) out.have = q.has("daily") ? "daily" : q.has("rate") ? "rate" : "gpus";
  return out;
}

export function write(s: State, all: Field[]): string {
  const q = new URLSearchParams(), begin = new Map(parts(first(all)));
  const waits = (key: string) => ["gpus", "rate", "daily"].includes(key) && s.have !== key;
  for (const [key, now] of parts(s)) {
    if (key in lists) for (const v of now as string[]) { if (v.length < tooLong) q.append(lists[key]!, v); }
    else if (key === "have" || waits(key)) continue;
    else if ((s.preset || s.workloads.length) && (key === "isl" || key === "osl" || key === "prefix")) continue;
    else if (key === "preset" && s.workloads.length) continue;
    else if (key === "more" && s.more.length > tooLong) continue;
    else if (key === s.have || always.includes(key) || now !== begin.get(key)) q.set(key, String(now));
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
    const [system = "", usd] = word.includes("=") ? word.split("=") : ["", word];
    out[system] = Number(usd);
  }
  return Object.keys(out).length ? out : undefined;
}

// What is too long for an address: the config.json of a model, a trace.
export interface Own { config?: unknown; trace?: string }

// request is that of a plan.
export function request(s: State, all: Field[], own: Own = {}): unknown {
  const some = (v: unknown): unknown => v || undefined, more = moreOf(s), load = s.have !== "gpus";
  const out: Record<string, unknown> = {
    ...more, model: s.model.trim(), config: own.config ?? more.config,
    workloads: s.workloads.length ? s.workloads.map((w) => readKind(w)) : [own.trace ? { trace_data: own.trace } : s.preset ? { preset: s.preset } : { isl: s.isl, osl: s.osl, prefix: some(s.prefix) }],
    arrival: load ? (s.bursts ? "gamma" : more.arrival) : undefined, arrival_variation: load ? s.bursts || more.arrival_variation : undefined,
    no_limits: s.no_limits ? true : undefined, percentile: some(percentile(s)), goodput: some(goodput(s)), prices: pricesOf(s),
    api_price: s.api_in || s.api_out ? { usd_per_million_input_tokens: Number(s.api_in), usd_per_million_output_tokens: Number(s.api_out) } : undefined,
  };
  for (const f of all) if (applies(f, s.have, !!s.no_limits)) put(out, f.path, ask(f, s.fields[f.id]!));
  return out;
}

interface More { config?: unknown; arrival?: string; arrival_variation?: number }

function moreOf(s: State): More {
  try { return s.more ? (JSON.parse(s.more) as More) : {}; } catch { return {}; }
}

interface Asked {
  model?: string; rate?: number; daily?: number[]; arrival?: string; arrival_variation?: number; workloads?: Workload[]; no_limits?: boolean; percentile?: number; goodput?: number;
  host_cache?: { gib?: number; gb_per_s?: number }; prices?: Record<string, number>; api_price?: { usd_per_million_input_tokens: number; usd_per_million_output_tokens: number };
}

// stateOf is the state of a request, as an answer or a plan.json has it. All of the request is kept.
export function stateOf(asked: unknown, all: Field[], presets: Preset[]): State {
  const r = asked as Asked, kinds = r.workloads ?? [], w = kinds[0] ?? {}, api = r.api_price;
  const of = presets.find((p) => p.name === w.preset);
  const { name = "", share = 1, preset, isl, osl, prefix, length_ratio_low: low = 1, ...rest } = w;
  const single = kinds.length === 1 && share === 1 && (preset ? name === "" || name === preset : name === "");
  const whole = single && !!preset && isPreset(w, of), fixed = single && !preset && !!isl && !!osl && low === 1 && !Object.keys(rest).length;
  return {
    ...structuredClone(start), model: r.model ?? "", have: r.daily ? "daily" : r.rate ? "rate" : "gpus",
    bursts: r.arrival === "gamma" ? (r.arrival_variation ?? 0) : 0,
    preset: whole ? preset : "", isl: isl ?? start.isl, osl: osl ?? start.osl, prefix: prefix ?? 0,
    workloads: whole || fixed || !kinds.length ? [] : kinds.map((x, i) => writeKind({ ...x, name: x.name || `w${i + 1}` }, presets)),
    no_limits: r.no_limits ? "yes" : "", percentile: r.goodput ? `g${r.goodput}` : r.percentile ? String(r.percentile) : "",
    prices: Object.entries(r.prices ?? {}).map(([system, usd]) => (system ? `${system}=${usd}` : String(usd))).join(" "),
    api_in: api ? String(api.usd_per_million_input_tokens) : "", api_out: api ? String(api.usd_per_million_output_tokens) : "",
    more: others(r, all), fields: Object.fromEntries(all.map((f) => [f.id, told(f, at(r, f.path))])),
  };
}

// What state has beside the fields with a control of their own; no_changes is of the page's requests, and no part of the question.
const own = ["model", "workloads", "no_limits", "percentile", "goodput", "prices", "api_price", "no_changes"];

// others are the fields of a request without a control, "" if there are none.
function others(r: Asked, all: Field[]): string {
  const out = structuredClone(r) as Record<string, unknown>;
  for (const f of all) put(out, f.path, undefined);
  for (const key of own) delete out[key];
  if (r.arrival === "gamma") { delete out.arrival; delete out.arrival_variation; }
  if (r.host_cache?.gb_per_s === hostBandwidth) put(out, ["host_cache", "gb_per_s"], undefined);
  if (out.limits && !Object.keys(out.limits as object).length) delete out.limits;
  return Object.keys(out).length ? JSON.stringify(out) : "";
}

// hostBandwidth is the default of --host-bandwidth, which answers state.
const hostBandwidth = 50;
