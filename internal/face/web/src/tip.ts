import type uPlot from "./uplot/uPlot.esm.js";
import type { Chart } from "./chart";
import { label, number } from "./number";
import { said, say } from "./words";

// Tip says what is under the cursor of a chart.
export class Tip {
  private box = document.createElement("div");
  private voice = document.createElement("div");
  // The name of the view that the nearest point opens.
  opens?: string;

  constructor(private host: HTMLElement, private chart: Chart) {
    this.box.className = "tip";
    this.box.hidden = true;
    this.voice.className = "hidden";
    this.voice.setAttribute("aria-live", "polite");
    host.append(this.box, this.voice);
  }

  show(u: uPlot): void {
    const { left, idxs, idx } = u.cursor;
    if (left == null || left < 0 || !idxs || idx == null) return this.hide();
    const at = u.posToVal(left, "x");
    const rows = this.chart.series.flatMap((s, i) => {
      const k = idxs[i + 1], x = k == null ? null : u.data[0][k], y = k == null ? null : u.data[i + 1]?.[k];
      if (x == null || y == null || !near(u, x, at) || !u.series[i + 1]!.show) return [];
      const j = s.xs.indexOf(x), low = s.low?.[j], high = s.high?.[j];
      const range = low == null || high == null ? "" : ` (${label(this.chart.y, low)} to ${label(this.chart.y, high)})`;
      return [{ x, text: label(this.chart.y, y) + range, name: s.name, note: s.notes?.[j], opens: s.opens, away: Math.hypot(u.valToPos(x, "x") - left, u.valToPos(y, "y") - (u.cursor.top ?? 0)) }];
    });
    if (!rows.length) return this.hide();
    const same = rows.every((r) => r.x === rows[0]!.x);
    const head = document.createElement("i");
    head.textContent = `${say(this.chart.x.title)}: ${label(this.chart.x, same ? rows[0]!.x : at)}`;
    this.box.replaceChildren(head, ...rows.map((r) => {
      const row = document.createElement("div"), value = document.createElement("b");
      value.textContent = r.text;
      row.append(value, ` ${said(r.name)}${same ? "" : ` at ${number(r.x)}`}`);
      return row;
    }));
    const nearest = rows.reduce((a, b) => (b.away < a.away ? b : a)); // the point that is meant says what it is
    this.opens = nearest.opens;
    if (nearest.note) {
      const note = document.createElement("i");
      note.className = "note";
      note.textContent = `${nearest.name}: ${nearest.note}`;
      this.box.append(note);
    }
    if (nearest.opens) {
      const more = document.createElement("i");
      more.className = "note";
      more.textContent = say("Click or Enter: details");
      this.box.append(more);
    }
    this.box.hidden = false;
    this.place(u, left);
  }

  say(): void { this.voice.textContent = this.box.innerText; }
  hide(): void { this.box.hidden = true; this.opens = undefined; }
  remove(): void { this.box.remove(); this.voice.remove(); }

  private place(u: uPlot, left: number): void {
    const x = u.over.offsetLeft + left, w = this.box.offsetWidth;
    const fits = x + 14 + w < this.host.clientWidth;
    this.box.style.left = `${fits ? x + 14 : Math.max(0, x - 14 - w)}px`;
    this.box.style.top = `${u.over.offsetTop + 6}px`;
  }
}

// A series without a point near the cursor is left out.
function near(u: uPlot, x: number, at: number): boolean {
  return Math.abs(u.valToPos(x, "x") - u.valToPos(at, "x")) < Math.max(30, u.over.clientWidth / 12);
}
