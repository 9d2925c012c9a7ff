import { isPreset, read, write, type Preset, type Session, type Workload } from "./kinds";
import { say, translate } from "./words";

// The fields of a session with their words and least values.
const session: [keyof Session, string, number][] = [
  ["system", "System prompt, tokens", 0], ["turns", "Requests of a session", 1], ["first", "First message, tokens", 1], ["user", "Later messages, tokens", 0],
  ["output", "Answer, tokens", 1], ["think_s", "Think time between requests, s", 0],
];

// A session to begin with, until the preset of agents is known.
const someSession: Session = { system: 2000, turns: 8, first: 500, user: 200, output: 300, think_s: 10 };

// Mix edits the kinds of requests that share the deployment; without any the fields for one kind apply.
export class Mix {
  private kinds: Workload[] = [];
  presets: Preset[] = [];

  constructor(private root: HTMLElement, private first: () => Workload, private changed: () => void) {
    root.querySelector("#add-kind")!.addEventListener("click", () => this.add({ isl: 1024, osl: 256 }));
    root.querySelector("#add-session")!.addEventListener("click", () => this.add({ session: { ...(this.presets.find((p) => p.session)?.session ?? someSession) } }));
  }

  get words(): string[] { return this.kinds.map((k) => write(k, this.presets)); }

  set words(all: string[]) {
    this.kinds = all.map((w) => read(w));
    this.show();
  }

  // sessions says whether a kind comes in sessions.
  get sessions(): boolean { return this.kinds.some((k) => k.session || this.presets.find((p) => p.name === k.preset)?.session); }

  // add adds a kind. What the fields for one kind say becomes the first, unless it is sessions that are wanted instead.
  private add(k: Workload): void {
    if (!this.kinds.length && !k.session) this.kinds.push({ name: this.free("first"), ...this.first() });
    this.kinds.push({ name: this.free(k.session ? "sessions" : "other"), ...k });
    this.edited();
    this.root.querySelector<HTMLElement>(`#kind-${this.kinds.length - 1} input`)?.focus();
  }

  private free(name: string): string {
    for (let n = 1; ; n++) { const x = n > 1 ? name + n : name; if (!this.kinds.some((k) => k.name === x)) return x; }
  }

  private edited(): void { this.show(); this.changed(); }

  private show(): void {
    this.root.querySelector("#kinds")!.replaceChildren(...this.kinds.map((k, i) => this.row(k, i)));
    translate(this.root);
  }

  private row(k: Workload, i: number): HTMLElement {
    const box = document.createElement("fieldset"), legend = document.createElement("legend"), gone = document.createElement("button");
    box.id = `kind-${i}`;
    box.className = "kind";
    legend.textContent = say("Kind {0}", i + 1);
    gone.type = "button";
    gone.textContent = say("Remove");
    gone.setAttribute("aria-label", say("Remove {0}", k.name ?? ""));
    gone.addEventListener("click", () => { this.kinds.splice(i, 1); this.edited(); this.root.querySelector<HTMLElement>("#add-kind")!.focus(); });
    const name = field(`kind-${i}-name`, say("Name"), "text", k.name ?? "", (v) => { k.name = v.trim().replaceAll("=", "-") || `w${i + 1}`; this.changed(); });
    const share = field(`kind-${i}-share`, say("Share"), "number", k.share ?? 1, (v) => { k.share = Number(v); this.changed(); });
    box.append(legend, pair(name, share), this.of(k, i));
    if (k.session && !k.preset) {
      const all = session.map(([key, words, least]) => field(`kind-${i}-${key}`, say(words), "number", k.session![key] ?? 0, (v) => { k.session![key] = Math.max(least, Number(v)); if (key === "turns") delete k.session!.min_turns; this.changed(); }));
      for (let at = 0; at < all.length; at += 2) box.append(pair(all[at]!, all[at + 1]!));
    } else if (!k.preset && !this.beyond(k))
      box.append(pair(
        field(`kind-${i}-isl`, say("Input, tokens"), "number", k.isl ?? 0, (v) => { k.isl = Number(v); this.changed(); }),
        field(`kind-${i}-osl`, say("Output, tokens"), "number", k.osl ?? 0, (v) => { k.osl = Number(v); this.changed(); })));
    else if (this.beyond(k)) {
      const hint = document.createElement("div");
      hint.className = "hint";
      hint.textContent = say("as in the opened plan");
      box.append(hint);
    }
    box.append(gone);
    return box;
  }

  // of chooses what the requests of a kind are.
  private of(k: Workload, i: number): HTMLElement {
    const place = document.createElement("div"), label = document.createElement("label"), select = document.createElement("select");
    label.className = "label";
    label.htmlFor = select.id = `kind-${i}-of`;
    label.textContent = say("Requests");
    if (this.beyond(k)) select.append(new Option(say("as in the opened plan"), "{}"));
    select.append(new Option(say("custom lengths"), ""), new Option(say("sessions"), "session:"), ...this.presets.map((p) => new Option(p.name)));
    if (k.preset && !this.presets.some((p) => p.name === k.preset)) select.append(new Option(k.preset));
    select.value = this.beyond(k) ? "{}" : k.preset ?? (k.session ? "session:" : "");
    select.addEventListener("input", () => {
      const kept: Workload = { name: k.name, share: k.share }, was = this.presets.find((p) => p.name === k.preset);
      this.kinds[i] = select.value === "" ? { ...kept, isl: was?.mean_isl ?? 1024, osl: was?.mean_osl ?? 256 }
        : select.value === "session:" ? { ...kept, session: { ...(k.session ?? was?.session ?? someSession) } } : { ...kept, preset: select.value };
      this.edited();
      this.root.querySelector<HTMLElement>(`#kind-${i}-of`)!.focus();
    });
    place.append(label, select);
    return place;
  }

  // beyond says that a kind has what the fields do not show; it is sent as it came.
  private beyond(k: Workload): boolean {
    const { name: _n, share: _s, preset, isl: _i, osl: _o, session: _t, length_ratio_low: low, prefix, ...rest } = k;
    return Object.keys(rest).length > 0 || (preset ? !isPreset(k, this.presets.find((p) => p.name === preset)) : !!prefix || (low ?? 1) !== 1);
  }
}

function field(id: string, words: string, type: string, value: string | number, set: (v: string) => void): HTMLElement {
  const place = document.createElement("div"), label = document.createElement("label"), input = document.createElement("input");
  label.className = "label";
  label.htmlFor = input.id = id;
  label.textContent = words;
  input.type = type;
  if (type === "number") { input.min = "0"; input.step = "any"; }
  input.value = String(value);
  input.addEventListener("input", () => set(input.value));
  place.append(label, input);
  return place;
}

function pair(...parts: HTMLElement[]): HTMLElement {
  const row = document.createElement("div");
  row.className = "row";
  row.append(...parts);
  return row;
}
