import { fields, type Field, type Value } from "./fields";
import type { Preset } from "./kinds";
import { Mix } from "./mix";
import { Slide } from "./slide";
import type { Own, State } from "./state";
import { said, say } from "./words";

interface Named { id?: string; name?: string; title?: string; vendor?: string; price?: { usd_per_hour?: number } }

// The fields of the request.
export class Form {
  readonly fields: Field[];
  private slides: Slide[];
  private mix: Mix;
  presets: Preset[] = [];

  constructor(private root: HTMLFormElement, private changed: () => void) {
    this.fields = fields(root);
    this.slides = [...root.querySelectorAll<HTMLElement>("[data-slide]")].map((e) => new Slide(e, () => {
      if (lengths.includes(e.dataset.slide!)) this.field("preset").value = "";
      changed();
    }));
    this.field("preset").addEventListener("input", () => { this.follow(); this.arrange(); changed(); });
    this.mix = new Mix(root.querySelector<HTMLElement>("#mix")!, () => {
      const { preset, isl, osl } = this.state;
      return preset ? { preset } : { isl, osl };
    }, () => { this.arrange(); changed(); });
    root.querySelector("#forget-more")!.addEventListener("click", () => { this.field("more").value = ""; this.arrange(); changed(); });
    for (const e of root.querySelectorAll("select:not(#preset), input[data-field], #model, #prices, #api_in, #api_out, #no_limits, #have input, #modes input")) e.addEventListener("input", () => { this.arrange(); changed(); });
    this.field("model").addEventListener("input", () => void this.suggest());
    this.field("config").addEventListener("input", () => this.configured());
    this.field("trace").addEventListener("change", () => void this.traced());
    this.field("filter").addEventListener("input", () => this.filter());
  }

  // What the address has no room for.
  readonly own: Own = {};

  private configured(): void {
    const text = this.field("config").value.trim(), wrong = this.root.querySelector("#config-wrong")!;
    delete this.own.config;
    wrong.textContent = "";
    if (text)
      try { this.own.config = JSON.parse(text) as unknown; } catch (e) { wrong.textContent = say("not JSON: {0}", String(e)); return; }
    this.changed();
  }

  private async traced(): Promise<void> {
    const file = this.field("trace").files?.[0], wrong = this.root.querySelector("#trace-wrong")!;
    delete this.own.trace;
    wrong.textContent = "";
    if (file && file.size > 1_000_000) { wrong.textContent = say("{0} has {1} bytes, at most 1,000,000 are sent", file.name, file.size); return; }
    if (file) this.own.trace = await file.text();
    this.changed();
  }

  // suggest offers models like the one that is typed, the likest first.
  private async suggest(): Promise<void> {
    const typed = this.field("model").value.trim(), box = this.root.querySelector<HTMLElement>("#suggest")!;
    const like = typed.length < 3 ? [] : await listed<Named>("models", `models?limit=6&q=${encodeURIComponent(typed)}`);
    if (typed !== this.field("model").value.trim()) return;
    const ids = like.map((m) => m.id ?? "").filter((id) => id && id !== typed);
    box.hidden = !ids.length || like.some((m) => m.id === typed);
    box.replaceChildren(...ids.map((id) => {
      const b = document.createElement("button");
      b.type = "button";
      b.textContent = id;
      b.addEventListener("click", () => { this.field("model").value = id; box.hidden = true; this.field("model").focus(); this.changed(); });
      return b;
    }));
  }

  get state(): State {
    const text = (id: string) => this.field(id).value;
    return {
      model: text("model"), have: this.checked("have")[0] ?? "gpus", bursts: this.slide("bursts")!.value, preset: text("preset"), workloads: this.mix.words,
      isl: this.slide("isl")!.value, osl: this.slide("osl")!.value, prefix: this.slide("prefix")!.value, percentile: text("percentile"), no_limits: this.field("no_limits").checked ? "yes" : "",
      prices: text("prices"), api_in: text("api_in"), api_out: text("api_out"), more: text("more"),
      fields: Object.fromEntries(this.fields.map((f) => [f.id, f.kind === "words" ? this.checked(f.id) : this.slide(f.id)?.value ?? text(f.id)])),
    };
  }

  set state(s: State) {
    for (const id of ["model", "prices", "api_in", "api_out", "more"] as const) this.field(id).value = s[id];
    this.choose("percentile", s.percentile);
    this.field("no_limits").checked = !!s.no_limits;
    this.mix.words = s.workloads;
    for (const name of ["bursts", "isl", "osl", "prefix"] as const) this.slide(name)!.value = s[name];
    for (const f of this.fields) this.set(f, s.fields[f.id] ?? f.start);
    this.offer(s.preset);
    this.follow();
    this.check("have", [s.have]);
    this.arrange();
  }

  // set puts the value of a field into its control.
  private set(f: Field, v: Value): void {
    const slide = this.slide(f.id);
    if (f.kind === "words") this.check(f.id, v as string[]);
    else if (slide) slide.value = Number(v);
    else if (this.field(f.id) instanceof HTMLSelectElement) this.choose(f.id, String(v));
    else this.field(f.id).value = String(v);
  }

  private slide(name: string): Slide | undefined { return this.slides.find((s) => s.name === name); }

  // load fills the lists from the server.
  async load(): Promise<void> {
    const [models, devices, engines] = await Promise.all([listed<Named>("models", "models?limit=5000"), listed<Named>("devices"), asked("engines")]);
    this.presets = this.mix.presets = list<Preset>(engines, "presets");
    this.mix.words = this.mix.words; // with the presets
    this.offer(this.field("preset").value);
    this.follow();
    this.root.querySelector("#models")!.replaceChildren(...models.map((m) => new Option(m.id ?? m.name ?? "")));
    this.fill("systems", [{ name: "all", title: say("all with a supported engine") }, ...devices]);
    this.fill("engines", list<Named>(engines, "engines").map((e) => ({ ...e, title: e.title && said(e.title) })));
    this.filter();
  }

  // offer lists the presets, with the one that is chosen.
  private offer(chosen: string): void {
    const select = this.root.querySelector<HTMLSelectElement>("#preset")!;
    const names = [...new Set([...this.presets.map((p) => p.name), chosen])].filter(Boolean);
    select.replaceChildren(new Option(say("custom lengths"), ""), ...names.map((n) => new Option(n)));
    select.value = chosen;
  }

  // choose takes a choice; one that is not offered is added.
  private choose(id: string, value: string): void {
    const select = this.root.querySelector<HTMLSelectElement>(`#${id}`)!;
    if (![...select.options].some((o) => o.value === value)) select.append(new Option(value));
    select.value = value;
  }

  // follow shows the mean lengths of the preset that is chosen.
  private follow(): void {
    const p = this.presets.find((x) => x.name === this.field("preset").value);
    if (!p) return;
    const values: Record<string, number> = { isl: Math.round(p.mean_isl), osl: Math.round(p.mean_osl), prefix: Math.round(p.prefix ?? 0) };
    for (const s of this.slides) if (s.name in values) s.value = values[s.name]!;
  }

  private field(id: string): HTMLInputElement { return this.root.querySelector<HTMLInputElement>(`#${id}`)!; }

  private boxes(id: string): HTMLInputElement[] { return [...this.root.querySelectorAll<HTMLInputElement>(`#${id} input`)]; }

  private checked(id: string): string[] { return this.boxes(id).filter((b) => b.checked).map((b) => b.value); }

  // check ticks values; those without a box get one.
  private check(id: string, values: string[]): void {
    const place = this.root.querySelector(`#${id}`)!;
    for (const v of values) if (!this.boxes(id).some((b) => b.value === v)) place.append(this.box(id, { name: v }));
    for (const b of this.boxes(id)) b.checked = values.includes(b.value);
  }

  private fill(id: string, all: Named[]): void {
    const was = this.checked(id);
    const names = all.map((n) => n.name ?? n.id ?? "").filter(Boolean);
    const first = was.filter((v) => names.includes(v)), find = (v: string) => all.find((n) => (n.name ?? n.id) === v)!;
    const order = [...was, ...names.filter((v) => !first.includes(v))];
    this.root.querySelector(`#${id}`)!.replaceChildren(...order.map((v) => this.box(id, names.includes(v) ? find(v) : { name: v })));
    this.check(id, was);
  }

  private box(group: string, of: Named): HTMLElement {
    const label = document.createElement("label"), input = document.createElement("input"), name = of.name ?? of.id ?? "";
    input.type = "checkbox";
    input.name = group;
    input.value = name;
    input.addEventListener("input", () => this.changed());
    label.append(input, " ", group === "engines" && of.title ? of.title : name);
    const usd = of.price?.usd_per_hour;
    const price = usd ? `$${usd.toFixed(2)}/h` : group === "systems" ? of.title : undefined;
    if (price) {
      const aside = document.createElement("span");
      aside.className = "price";
      aside.textContent = price;
      label.append(aside);
    }
    label.dataset.words = `${name} ${of.vendor ?? ""} ${of.title ?? ""}`.toLowerCase();
    return label;
  }

  private filter(): void {
    const words = this.field("filter").value.toLowerCase().trim();
    for (const l of this.root.querySelectorAll<HTMLElement>("#systems label"))
      l.hidden = !!words && !l.dataset.words?.includes(words) && !l.querySelector("input")!.checked;
  }

  // arrange shows the fields that apply.
  private arrange(): void {
    const have = this.checked("have")[0];
    for (const e of this.root.querySelectorAll<HTMLElement>("[data-have]")) e.hidden = !e.dataset.have!.split(" ").includes(have!);
    const several = this.mix.words.length > 0, talks = this.mix.sessions || (!several && !!this.presets.find((p) => p.name === this.field("preset").value)?.session);
    this.root.querySelector<HTMLElement>("#one")!.hidden = several;
    this.root.querySelector<HTMLElement>("#talks")!.hidden = !talks || have === "gpus";
    for (const slide of this.slides) if (["ttft", "tpot", "latency"].includes(slide.name)) slide.root.hidden = this.field("no_limits").checked;
    const more = this.field("more").value, place = this.root.querySelector<HTMLElement>("#others")!;
    place.hidden = !more;
    if (more) place.querySelector("code")!.textContent = more.length > 300 ? more.slice(0, 300) + "…" : more;
  }
}

const lengths = ["isl", "osl", "prefix"];

async function asked(path: string): Promise<Record<string, unknown>> {
  try {
    const got = await fetch(`api/${path}`);
    return got.ok ? ((await got.json()) as Record<string, unknown>) : {};
  } catch { return {}; } // the page works without lists
}

function list<T>(body: Record<string, unknown>, name: string): T[] {
  const all = body[name];
  return Array.isArray(all) ? (all as T[]) : [];
}

async function listed<T>(name: string, path = name): Promise<T[]> { return list<T>(await asked(path), name); }
