// The fields of a request that have a control of their own: each is one line of index.html, which says where the field stands in the request
// (data-field="formats.kv"), and what applies: data-have, for which of GPUs, a load or a day's load; data-usual, the default that answers
// state. A slider is a number, a list of boxes several words; data-kind says what a text is, if not a word.

export type Value = string | number | string[];
type Kind = "number" | "numbers" | "word" | "words";

export interface Field { id: string; path: string[]; kind: Kind; have: string[]; start: Value; usual?: string; limit: boolean }

export function fields(root: ParentNode): Field[] {
  return [...root.querySelectorAll<HTMLElement>("[data-field]")].map((e) => {
    const d = e.dataset, kind = (d.slide ? "number" : e.matches(".list, .checks") ? "words" : (d.kind ?? "word")) as Kind;
    const path = d.field!.split("."), none = d.slide ? 0 : kind === "words" ? [] : "";
    const start = d.start === undefined ? none : kind === "words" ? d.start.split(" ") : d.slide ? Number(d.start) : d.start;
    const have = e.closest<HTMLElement>("[data-have]")?.dataset.have?.split(" ") ?? [];
    return { id: d.slide ?? e.id, path, kind, have, start, usual: d.usual, limit: path[0] === "limits" };
  });
}

// applies says whether a field is part of a question.
export const applies = (f: Field, have: string, unlimited: boolean): boolean => (!f.have.length || f.have.includes(have)) && !(f.limit && unlimited);

// ask is the value of a field in a request, undefined if nothing is chosen.
export function ask(f: Field, v: Value): unknown {
  if (f.kind === "numbers") return numbers(String(v));
  if (f.kind === "number") return v === "" || v === 0 ? undefined : Number(v);
  return v.length ? v : undefined;
}

const numbers = (text: string): number[] => text.split(/[\s,;]+/).filter(Boolean).map(Number);

// told is the value that a control has for that of a request.
export function told(f: Field, v: unknown): Value {
  const none: Value = f.kind === "words" ? [] : f.kind === "number" && typeof f.start === "number" ? 0 : "";
  if (v === undefined || v === null || String(v) === f.usual) return f.have.length && typeof f.start === "number" && f.start ? f.start : none;
  if (f.kind === "numbers") return (v as number[]).join(" ");
  return f.kind === "words" ? (v as string[]) : typeof none === "number" ? Number(v) : String(v);
}

// at is what stands at a place of a request.
export function at(r: unknown, path: string[]): unknown {
  return path.reduce<unknown>((o, key) => (o as Record<string, unknown> | undefined)?.[key], r);
}

// put puts a value at a place, without changing what others hold.
export function put(r: Record<string, unknown>, [key = "", ...rest]: string[], v: unknown): void {
  if (!rest.length) { if (v === undefined) delete r[key]; else r[key] = v; return; }
  const inside = { ...(r[key] as Record<string, unknown> | undefined) };
  put(inside, rest, v);
  if (Object.keys(inside).length) r[key] = inside; else delete r[key];
}
