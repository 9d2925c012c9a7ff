// Kinds of requests that share a deployment. A kind is written as the command line writes it: NAME=ISL:OSL[:SHARE],
// NAME=PRESET[:SHARE] or NAME=session:KEY=VALUE,…[:SHARE]; what that cannot say is the JSON of a request.

export interface Session { system?: number; turns: number; min_turns?: number; first: number; user?: number; output: number; length_ratio_low?: number; think_s?: number }

export interface Workload {
  name?: string; share?: number; preset?: string; isl?: number; osl?: number; prefix?: number; length_ratio_low?: number; session?: Session;
  trace_data?: string; [other: string]: unknown;
}

export interface Preset { name: string; mean_isl: number; mean_osl: number; prefix?: number; session?: Session }

// The keys of a session on the command line.
const keys: Record<string, keyof Session> = { system: "system", turns: "turns", first: "first", user: "user", output: "output", low: "length_ratio_low", think: "think_s" };

// read is the workload that a word means.
export function read(word: string): Workload {
  if (word.startsWith("{"))
    try { return JSON.parse(word) as Workload; } catch { return {}; }
  const at = word.indexOf("="), name = at < 0 ? "" : word.slice(0, at), parts = word.slice(at + 1).split(":");
  const shared = (share: string | undefined, rest: Workload): Workload => ({ name, ...(share ? { share: Number(share) } : {}), ...rest });
  if (parts[0] === "session") {
    const session: Session = { turns: 1, first: 1, output: 1 };
    for (const pair of (parts[1] ?? "").split(",")) {
      const [key = "", value = ""] = pair.split("="), [least, most] = value.split("-");
      if (key === "turns" && most) { session.min_turns = Number(least); session.turns = Number(most); }
      else if (keys[key]) session[keys[key]] = Number(value);
    }
    return shared(parts[2], { session });
  }
  if (/^\d/.test(parts[0] ?? "")) return shared(parts[2], { isl: Number(parts[0]), osl: Number(parts[1] ?? 0) });
  return shared(parts[1], { preset: parts[0] });
}

// write is the word of a workload.
export function write(w: Workload, presets: Preset[]): string {
  const share = w.share && w.share !== 1 ? `:${w.share}` : "", of = presets.find((p) => p.name === w.preset);
  const { name, share: _, preset, isl, osl, prefix, length_ratio_low: low, session, ...rest } = w;
  const plain = name !== undefined && /^[^={]+$/.test(name) && !Object.keys(rest).length;
  if (plain && preset && isPreset(w, of)) return `${name}=${preset}${share}`;
  if (plain && !preset && session && !isl && !osl && !prefix) return `${name}=session:${sessionWord(session)}${share}`;
  if (plain && !preset && !session && isl && osl && !prefix && (low ?? 1) === 1) return `${name}=${isl}:${osl}${share}`;
  return JSON.stringify(w);
}

// isPreset says whether a workload is that of its preset: the record of a plan has its values filled in.
export function isPreset(w: Workload, of?: Preset): boolean {
  if (w.session) return !!of?.session && sessionWord(w.session) === sessionWord(of.session);
  const bare = w.isl === undefined && w.osl === undefined && !w.prefix && w.length_ratio_low === undefined;
  return bare || (!!of && (w.length_ratio_low ?? 1) !== 1 && (!w.prefix || w.prefix === of.prefix));
}

function sessionWord(s: Session): string {
  const turns = s.min_turns ? `${s.min_turns}-${s.turns}` : s.turns;
  return `system=${s.system ?? 0},turns=${turns},first=${s.first},user=${s.user ?? 0},output=${s.output}` + (s.length_ratio_low ? `,low=${s.length_ratio_low}` : "") + (s.think_s ? `,think=${s.think_s}` : "");
}
