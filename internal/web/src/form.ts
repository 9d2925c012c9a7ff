import { Slide } from "./slide";
import type { State } from "./state";

interface Named { id?: string; name?: string; title?: string; vendor?: string; price_usd_per_hour?: number | null }

// The fields of the question.
export class Form {
  private slides: Slide[];

  constructor(private root: HTMLFormElement, private changed: () => void) {
    this.slides = [...root.querySelectorAll<HTMLElement>("[data-slide]")].map((e) => new Slide(e, changed));
    for (const e of root.querySelectorAll("select, #model, #daily, #have input, #modes input")) e.addEventListener("input", () => { this.arrange(); changed(); });
    this.field("filter").addEventListener("input", () => this.filter());
  }

  get state(): State {
    const text = (id: string) => this.field(id).value;
    const value = (name: string) => this.slides.find((s) => s.name === name)!.value;
    return {
      model: text("model"), systems: this.checked("systems"), have: this.checked("have")[0] ?? "gpus",
      gpus: value("gpus"), rate: value("rate"), daily: text("daily"), isl: value("isl"), osl: value("osl"), prefix: value("prefix"),
      ttft: value("ttft"), tpot: value("tpot"), percentile: text("percentile"), confidence: text("confidence"),
      engines: this.checked("engines"), modes: this.checked("modes"), checkpoint: text("checkpoint"), kv: text("kv"), nextn: value("nextn"),
    };
  }

  set state(s: State) {
    for (const id of ["model", "daily", "percentile", "confidence", "checkpoint", "kv"] as const) this.field(id).value = s[id];
    for (const slide of this.slides) slide.value = (s as unknown as Record<string, number>)[slide.name] ?? 0;
    this.check("systems", s.systems);
    this.check("engines", s.engines);
    this.check("modes", s.modes);
    this.check("have", [s.have]);
    this.arrange();
  }

  // load fills the lists with what the server knows.
  async load(): Promise<void> {
    const [models, devices, engines] = await Promise.all(["models", "devices", "engines"].map(listed));
    this.root.querySelector("#models")!.replaceChildren(...models!.map((m) => new Option(m.id ?? m.name ?? "")));
    this.fill("systems", [{ name: "all", title: "all that an engine is known for" }, ...devices!]);
    this.fill("engines", engines!);
    this.filter();
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
    const price = of.price_usd_per_hour ? `$${of.price_usd_per_hour.toFixed(2)}/h` : group === "systems" ? of.title : undefined;
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

  // arrange shows the fields of what is given.
  private arrange(): void {
    const have = this.checked("have")[0];
    for (const e of this.root.querySelectorAll<HTMLElement>("[data-have]")) e.hidden = e.dataset.have !== have;
  }
}

async function listed(what: string): Promise<Named[]> {
  try {
    const got = await fetch(`api/${what}`);
    if (!got.ok) return [];
    const body = (await got.json()) as unknown;
    const list = Array.isArray(body) ? body : (body as Record<string, unknown>)[what];
    return Array.isArray(list) ? list.map((x) => (typeof x === "string" ? { name: x } : (x as Named))) : [];
  } catch { return []; }
}
