import uPlot from "./uplot/uPlot.esm.js";
import type { Chart, Series } from "./chart";
import { open } from "./detail";
import { Overlay, type Palette } from "./draw";
import { label } from "./number";
import { chartCSV, chartPNG, saveText } from "./saving";
import { Tip } from "./tip";
import { said, say } from "./words";

// Drawn charts, to be drawn again in other colours and taken away, and those that wait to be drawn.
let drawn: uPlot[] = [];
let waiting: (() => void)[] = [];
let idle = 0;

// draw replaces the pictures below root by interactive charts: those in view at once, the others when idle, so that an
// answer appears early.
export function draw(root: ParentNode): void {
  for (const u of drawn) u.destroy();
  drawn = [];
  waiting = [];
  const data = root.querySelector("#charts")?.textContent;
  if (!data) return;
  for (const chart of Object.values(JSON.parse(data) as Record<string, Chart>)) {
    const box = root.querySelector<HTMLElement>(`#${CSS.escape(chart.id)} .canvas`);
    if (!box || !chart.series.some((s) => s.xs.length)) continue;
    const { top, bottom } = box.getBoundingClientRect();
    if (bottom > 0 && top < innerHeight) drawn.push(plot(chart, box));
    else waiting.push(() => drawn.push(plot(chart, box)));
  }
  clearTimeout(idle);
  idle = window.setTimeout(drawNext, 30);
}

function drawNext(): void {
  waiting.shift()?.();
  if (waiting.length) idle = window.setTimeout(drawNext, 0);
}

// redraw takes over other colours.
export function redraw(): void {
  if (drawn.length || waiting.length) draw(document);
}

function plot(chart: Chart, box: HTMLElement): uPlot {
  const styles = getComputedStyle(document.documentElement);
  const probe = document.createElement("i");
  box.append(probe);
  const palette: Palette = (name) => {
    if (name === "--sans") return styles.getPropertyValue(name);
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const overlay = new Overlay(chart, palette);
  const tip = new Tip(box, chart);
  const u = new uPlot(options(chart, box, palette, overlay, tip), aligned(chart), box);
  box.classList.add("drawn");
  const resize = new ResizeObserver(() => {
    if (box.clientWidth && Math.abs(box.clientWidth - u.width) > 1) u.setSize(size(chart, box));
  });
  resize.observe(box);
  u.hooks.destroy = [() => { resize.disconnect(); tip.remove(); probe.remove(); box.classList.remove("drawn"); }];
  keyboard(u, chart, tip);
  legend(u, box);
  follow(u, chart, tip);
  saved(u, chart, box, palette);
  return u;
}

// follow opens what the point under the mouse belongs to. The end of a drag is no click.
function follow(u: uPlot, chart: Chart, tip: Tip): void {
  if (!chart.series.some((s) => s.opens)) return;
  let x = 0, y = 0;
  u.over.classList.add("opens");
  u.over.addEventListener("mousedown", (e) => { x = e.clientX; y = e.clientY; });
  u.over.addEventListener("click", (e) => { if (tip.opens && Math.hypot(e.clientX - x, e.clientY - y) < 4) open(tip.opens); });
}

// saved adds buttons that save what the chart shows.
function saved(u: uPlot, chart: Chart, box: HTMLElement, palette: Palette): void {
  const caption = box.closest("figure")?.querySelector("figcaption");
  if (!caption || caption.querySelector(".chart-tools")) return;
  const shown = (i: number) => u.series[i + 1]?.show !== false, place = document.createElement("span");
  place.className = "chart-tools script";
  for (const [name, run] of [["PNG", () => chartPNG(chart, u.ctx.canvas, shown, palette)], ["CSV", () => saveText(`${chart.id}.csv`, chartCSV(chart, shown))]] as const) {
    const b = document.createElement("button");
    b.type = "button";
    b.textContent = name;
    b.setAttribute("aria-label", say("Save as {0}: {1}", name, said(chart.title)));
    b.addEventListener("click", run);
    place.append(b);
  }
  caption.querySelector(".key")?.before(place);
}

// legend makes the entries of the key buttons that hide and show their series.
function legend(u: uPlot, box: HTMLElement): void {
  box.closest("figure")?.querySelectorAll<HTMLElement>(".key li").forEach((li, i) => {
    const button = li.querySelector("button") ?? document.createElement("button");
    if (!button.isConnected) {
      button.type = "button";
      button.append(...li.childNodes);
      li.append(button);
    }
    button.setAttribute("aria-pressed", "true");
    button.onclick = () => {
      const show = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(show));
      u.setSeries(i + 1, { show });
      u.redraw();
    };
  });
}

// aligned puts all series on common places; where one has no point there is a gap that the line spans.
function aligned(chart: Chart): uPlot.AlignedData {
  const tables = chart.series.map((s) => {
    const order = s.xs.map((_, i) => i).sort((a, b) => s.xs[a]! - s.xs[b]!);
    return [order.map((i) => s.xs[i]!), order.map((i) => s.ys[i]!)] as uPlot.AlignedData;
  });
  return uPlot.join(tables);
}

function size(chart: Chart, box: HTMLElement): { width: number; height: number } {
  const width = Math.max(240, box.clientWidth);
  return { width, height: chart.id === "frontier" ? Math.min(400, Math.max(260, width * 0.5)) : Math.min(280, Math.max(210, width * 0.55)) };
}

function options(chart: Chart, box: HTMLElement, palette: Palette, overlay: Overlay, tip: Tip): uPlot.Options {
  const font = `12px ${palette("--sans")}`;
  const axis = (a: Chart["x"], side: number): uPlot.Axis => ({
    side: side as uPlot.Axis.Side, font, labelFont: font, stroke: palette("--soft"), size: side === 3 ? 52 : 30, gap: 4,
    label: side === 3 ? undefined : say(a.title), labelSize: 18,
    grid: { stroke: palette("--faint"), width: 1 }, ticks: { show: false },
    values: (_u, splits) => splits.map((v) => (v == null ? "" : label(a, v))),
    ...(a.log ? { splits: () => logTicks(a), filter: (_u: uPlot, s: number[]) => s } : {}),
  });
  return {
    ...size(chart, box),
    padding: [10, 14, 0, 0],
    legend: { show: false },
    cursor: {
      drag: { x: true, y: false }, points: { size: 8 },
      dataIdx: (u, series, at, x) => nearest(u, series, at, x),
    },
    scales: {
      x: { time: false, distr: chart.x.log ? 3 : 1, range: (_u, lo, hi) => zoomed(chart.x, lo, hi, chart) },
      y: { distr: chart.y.log ? 3 : 1, range: () => [chart.y.min, chart.y.max] },
    },
    axes: [axis(chart.x, 2), axis(chart.y, 3)],
    series: [{}, ...chart.series.map((s) => line(s, palette))],
    hooks: {
      drawAxes: [(u) => overlay.under(u)],
      draw: [(u) => overlay.over(u)],
      setCursor: [(u) => tip.show(u)],
    },
  };
}

// zoomed is the range after a drag, and the whole of it otherwise.
function zoomed(axis: Chart["x"], low: number | null, high: number | null, chart: Chart): [number, number] {
  const all = chart.series.flatMap((s) => s.xs), near = 1e-3; // logarithms there and back are not exact
  if (low == null || high == null || (low <= Math.min(...all) * (1 + near) && high >= Math.max(...all) * (1 - near))) return [axis.min, axis.max];
  return [low, high];
}

function logTicks(axis: Chart["x"]): number[] {
  const out: number[] = [];
  const wide = Math.log10(axis.max / axis.min) > 4;
  for (let power = Math.floor(Math.log10(axis.min)); power <= Math.log10(axis.max); power++)
    for (const digit of wide ? [1] : [1, 2, 5]) {
      const v = digit * 10 ** power;
      if (v >= axis.min && v <= axis.max) out.push(v);
    }
  return out;
}

function line(s: Series, palette: Palette): uPlot.Series {
  return {
    label: s.name, stroke: palette(`--c${s.colour}`), width: 1.8, dash: s.dash ? [6, 4] : undefined, spanGaps: true,
    points: { show: false }, paths: s.step ? uPlot.paths.stepped!({ align: 1 }) : undefined,
  };
}

// nearest is the point of a series next to the cursor, since not every place has one.
function nearest(u: uPlot, series: number, at: number, x: number): number {
  const ys = u.data[series];
  if (!series || !ys || ys[at] != null) return at;
  const xs = u.data[0];
  let best = at, distance = Infinity;
  for (let i = 0; i < xs.length; i++) {
    const d = Math.abs(xs[i]! - x);
    if (ys[i] != null && d < distance) { best = i; distance = d; }
  }
  return best;
}

// keyboard moves the cursor by arrows, zooms by + and −, and shows all again by Escape.
function keyboard(u: uPlot, chart: Chart, tip: Tip): void {
  const root = u.root;
  root.tabIndex = 0;
  root.setAttribute("role", "application");
  root.setAttribute("aria-roledescription", "chart");
  root.setAttribute("aria-label", `${said(chart.about)} ${say("Arrow keys read values, plus and minus zoom, Escape resets.")}${chart.series.some((s) => s.opens) ? " " + say("Enter opens the details.") : ""}`);
  let at = -1;
  root.addEventListener("blur", () => { at = -1; tip.hide(); });
  root.addEventListener("keydown", (e) => {
    const xs = u.data[0], last = xs.length - 1;
    if (e.key === "ArrowRight" || e.key === "ArrowLeft") {
      at = at < 0 ? (e.key === "ArrowRight" ? 0 : last) : Math.min(last, Math.max(0, at + (e.key === "ArrowRight" ? 1 : -1)));
    } else if (e.key === "Enter" && tip.opens) { open(tip.opens); e.preventDefault(); return; }
    else if (e.key === "Escape") u.setScale("x", { min: chart.x.min, max: chart.x.max });
    else if (e.key === "+" || e.key === "=" || e.key === "-") zoom(u, chart, e.key === "-" ? 2 : 0.5, xs[Math.max(at, 0)]!);
    else return;
    e.preventDefault();
    if (at >= 0) {
      const y = u.data.slice(1).find((ys, i) => ys[at] != null && u.series[i + 1]!.show)?.[at];
      u.setCursor({ left: u.valToPos(xs[at]!, "x"), top: y == null ? u.over.clientHeight / 3 : u.valToPos(y, "y") });
      tip.say();
    }
  });
}

function zoom(u: uPlot, chart: Chart, factor: number, around: number): void {
  const { min = chart.x.min, max = chart.x.max } = u.scales.x as { min?: number; max?: number };
  const to = chart.x.log ? Math.log : (v: number) => v, back = chart.x.log ? Math.exp : (v: number) => v;
  const a = to(around), low = a - (a - to(min)) * factor, high = a + (to(max) - a) * factor;
  u.setScale("x", { min: Math.max(chart.x.min, back(low)), max: Math.min(chart.x.max, back(high)) });
}
