import { patient } from "./job";
import { number } from "./number";
import { said, say } from "./words";

// Answers that were pinned, side by side. The first is what the others are compared with; what differs, and why, says the
// operation diff.

interface Pin { name: string; request: unknown }

interface Diff {
  fields: { field: string; a: string; b: string; ratio: number | null; failure?: string }[];
  best: [string, string]; figures: { name: string; a: number; b: number; within_error: boolean }[];
}

// The most pins, and the most bytes of their requests.
const most = 6, room = 200_000;

const key = "plimsoll-pins";

export class Pins {
  private pins: Pin[] = kept();
  private diffs = new Map<string, Diff | string>();

  constructor(private root: HTMLElement, private open: (request: unknown) => void) {
    window.addEventListener("storage", (e) => { if (e.key === key) { this.pins = kept(); this.show(); } }); // another tab
  }

  // add pins an answer.
  add(name: string, request: unknown): void {
    const same = JSON.stringify(request);
    if (this.pins.some((p) => JSON.stringify(p.request) === same)) return;
    this.pins = [...this.pins, { name, request }].slice(-most);
    this.keep();
  }

  private keep(): void {
    const text = JSON.stringify(this.pins);
    try { if (text.length < room) localStorage.setItem(key, text); } catch { /* storage may be forbidden: they last as long as the page */ }
    this.show();
  }

  show(): void {
    this.root.hidden = !this.pins.length;
    for (const p of this.pins.slice(1)) void this.compare(p);
    this.draw();
  }

  // compare asks what differs between the first answer and another.
  private async compare(p: Pin): Promise<void> {
    const body = JSON.stringify({ a: this.pins[0]!.request, b: p.request });
    if (this.diffs.has(body)) return;
    this.diffs.set(body, say("comparing …"));
    try {
      this.diffs.set(body, await ask(body));
    } catch (e) { this.diffs.set(body, String(e)); }
    this.draw();
  }

  private draw(): void {
    const hint = this.root.querySelector<HTMLElement>(".hint")!, place = this.root.querySelector(".scroll")!;
    hint.hidden = this.pins.length !== 1;
    const focus = document.activeElement?.id;
    place.replaceChildren(this.table());
    if (focus) document.getElementById(focus)?.focus();
  }

  private table(): HTMLElement {
    const table = make("table"), head = make("thead"), body = make("tbody"), caption = make("caption", say("Pinned answers side by side"));
    caption.className = "hidden";
    head.append(row(cell("td", ""), ...this.pins.map((p, i) => this.header(p, i))));
    const diffs = this.pins.slice(1).map((p) => this.diffs.get(JSON.stringify({ a: this.pins[0]!.request, b: p.request })) ?? "");
    const known = diffs.filter((d): d is Diff => typeof d !== "string"), first = known[0];
    const words = (d: Diff | string, say: (d: Diff) => Node) => { const td = make("td"); td.append(typeof d === "string" ? d : say(d)); return td; };
    if (first) {
      body.append(row(cell("th", say("Deployment")), cell("td", said(first.best[0])), ...diffs.map((d) => words(d, (x) => new Text(said(x.best[1]))))));
      for (const name of [...new Set(known.flatMap((d) => d.figures.map((f) => f.name)))]) {
        const a = known.flatMap((d) => d.figures).find((f) => f.name === name)!;
        body.append(row(cell("th", say(name)), cell("td", number(a.a), "n"), ...diffs.map((d) => { const td = words(d, (x) => figure(x, name)); td.className = "n"; return td; })));
      }
      body.append(row(cell("th", say("Differences, and the effect of each alone on tokens/s per GPU or, for a load, on GPUs")), cell("td", "–"), ...diffs.map((d) => words(d, fields))));
    } else if (diffs.length) body.append(row(cell("th", say("Figures")), cell("td", ""), ...diffs.map((d) => words(d, () => new Text("")))));
    table.append(caption, head, body);
    return table;
  }

  private header(p: Pin, i: number): HTMLElement {
    const th = cell("th", ""), open = make("button", say("Open")), gone = make("button", say("Remove")), letter = String.fromCharCode(65 + i);
    th.setAttribute("scope", "col");
    open.id = `pin-open-${i}`;
    for (const b of [open, gone]) { b.setAttribute("type", "button"); b.append(hidden(` ${letter}`)); }
    open.addEventListener("click", () => this.open(p.request));
    gone.addEventListener("click", () => { this.pins.splice(i, 1); this.keep(); document.querySelector<HTMLElement>("#pin")?.focus(); });
    const buttons = make("div");
    buttons.append(open, " ", gone);
    th.append(make("b", letter), ` ${p.name}`, buttons);
    return th;
  }
}

// figure is a value with its difference from the first answer.
function figure(d: Diff, name: string): Node {
  const f = d.figures.find((x) => x.name === name), out = make("span", f ? number(f.b) : "–");
  if (f && f.a && f.a !== f.b) {
    const change = 100 * (f.b / f.a - 1), sub = make("span", ` ${change > 0 ? "+" : "−"}${number(Math.abs(change))} %${f.within_error ? `, ${say("within error")}` : ""}`);
    sub.className = "sub";
    out.append(sub);
  }
  return out;
}

// fields lists what differs in the question.
function fields(d: Diff): Node {
  const list = make("ul");
  list.className = "differs";
  for (const f of d.fields) {
    const effect = f.failure ?? (f.ratio ? `× ${number(f.ratio)}` : "");
    list.append(make("li", `${f.field}: ${short(f.a)} → ${short(f.b)}${effect ? ` (${effect})` : ""}`));
  }
  return d.fields.length ? list : new Text(say("nothing"));
}

function short(json: string): string { return !json ? "–" : json.length > 90 ? json.slice(0, 90) + "…" : json; }

// ask gets the differences.
async function ask(body: string): Promise<Diff> {
  const got = await patient("api/diff", body);
  if (got.ok) return (await got.json()) as Diff;
  throw new Error(((await got.json().catch(() => ({}))) as { detail?: string }).detail ?? String(got.status));
}

function kept(): Pin[] {
  try {
    const all = JSON.parse(localStorage.getItem(key) ?? "[]") as unknown;
    return Array.isArray(all) ? (all as Pin[]).filter((p) => p?.name && p.request) : [];
  } catch { return []; }
}

function make(tag: string, text = ""): HTMLElement { const e = document.createElement(tag); e.textContent = text; return e; }

function hidden(text: string): HTMLElement { const e = make("span", text); e.className = "hidden"; return e; }

function cell(tag: "td" | "th", text: string, kind = ""): HTMLElement {
  const e = make(tag, text);
  if (tag === "th") e.setAttribute("scope", "row");
  if (kind) e.className = kind;
  return e;
}

function row(...cells: HTMLElement[]): HTMLElement { const tr = make("tr"); tr.append(...cells); return tr; }
