// A slider and a number for one value. Sliders go over round values, since what they set spans orders of magnitude.

export class Slide {
  readonly name: string;
  readonly root: HTMLElement;
  private range = document.createElement("input");
  private exact = document.createElement("input");
  private values: number[];

  constructor(root: HTMLElement, changed: () => void) {
    this.root = root;
    this.name = root.dataset.slide!;
    const words = root.textContent ?? "";
    this.values = valuesOf(root.dataset);
    const label = document.createElement("label"), wrong = document.createElement("div");
    label.className = "label";
    label.textContent = words;
    label.htmlFor = this.exact.id = this.name;
    wrong.className = "wrong";
    wrong.id = `${this.name}-wrong`;
    this.exact.type = "number";
    this.exact.min = "0";
    this.exact.step = "any";
    this.exact.setAttribute("aria-describedby", wrong.id);
    this.range.type = "range";
    this.range.min = "0";
    this.range.max = String(this.values.length - 1);
    this.range.setAttribute("aria-label", words);
    root.replaceChildren(label, this.range, this.exact, wrong);
    this.range.addEventListener("input", () => {
      this.exact.value = String(this.values[Number(this.range.value)]);
      this.say();
      changed();
    });
    this.exact.addEventListener("input", () => { this.slide(); changed(); });
  }

  get value(): number { return Number(this.exact.value); }
  set value(v: number) { this.exact.value = String(v); this.slide(); }

  private slide(): void {
    const v = this.value;
    let best = 0;
    this.values.forEach((x, i) => { if (Math.abs(x - v) < Math.abs(this.values[best]! - v)) best = i; });
    this.range.value = String(best);
    this.say();
  }

  private say(): void { this.range.setAttribute("aria-valuetext", this.exact.value); }
}

function valuesOf(d: DOMStringMap): number[] {
  const none = d.none === undefined ? [] : [Number(d.none)];
  if (d.values) return [...none, ...d.values.split(" ").map(Number)];
  const low = Number(d.from), high = Number(d.to), out: number[] = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++)
    for (const digit of [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8]) {
      const v = Number((digit * 10 ** power).toPrecision(3));
      if (v >= low && v <= high && (v === Math.round(v) || low < 1)) out.push(v);
    }
  return [...none, ...out];
}
