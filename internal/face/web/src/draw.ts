import uPlot from "./uplot/uPlot.esm.js";
import type { Chart, Limit, Mark, Series } from "./chart";
import { glyph } from "./glyph";

export type Palette = (name: string) => string;

// What uPlot does not draw itself: bands, shapes, limits and the chosen points with their intervals.
export class Overlay {
  constructor(private chart: Chart, private palette: Palette) {}

  under(u: uPlot): void {
    this.inside(u, (ctx) => {
      this.chart.series.forEach((s, i) => { if (u.series[i + 1]!.show) this.band(u, ctx, s); });
      for (const l of this.chart.limits ?? []) this.limit(u, ctx, l);
    });
  }

  over(u: uPlot): void {
    this.inside(u, (ctx) => {
      const shown = this.chart.series.filter((_, i) => u.series[i + 1]!.show);
      for (const s of shown) {
        if (!s.points) continue;
        this.pen(ctx, s.colour);
        s.xs.forEach((x, i) => glyph(ctx, s.colour, px(u, x), py(u, s.ys[i]!), 3 * ratio()));
      }
      for (const m of this.chart.marks ?? []) if (shown.some((s) => s.colour === m.colour)) this.mark(u, ctx, m);
      for (const l of this.chart.limits ?? []) this.name(u, ctx, l);
    });
  }

  private inside(u: uPlot, draw: (ctx: CanvasRenderingContext2D) => void): void {
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    u.ctx.clip();
    draw(u.ctx);
    u.ctx.restore();
  }

  private pen(ctx: CanvasRenderingContext2D, colour: number): void {
    ctx.strokeStyle = ctx.fillStyle = this.palette(`--c${colour}`);
    ctx.lineWidth = 2 * ratio();
    ctx.setLineDash([]);
  }

  private band(u: uPlot, ctx: CanvasRenderingContext2D, s: Series): void {
    if (!s.low?.length || !s.high?.length) return;
    this.pen(ctx, s.colour);
    ctx.globalAlpha = 0.16;
    ctx.beginPath();
    s.xs.forEach((x, i) => ctx.lineTo(px(u, x), py(u, s.high![i]!)));
    for (let i = s.xs.length - 1; i >= 0; i--) ctx.lineTo(px(u, s.xs[i]!), py(u, s.low[i]!));
    ctx.fill();
    ctx.globalAlpha = 1;
  }

  private limit(u: uPlot, ctx: CanvasRenderingContext2D, l: Limit): void {
    ctx.strokeStyle = this.palette("--ink");
    ctx.lineWidth = 1.2 * ratio();
    ctx.setLineDash([3 * ratio(), 3 * ratio()]);
    ctx.beginPath();
    const { left, top, width, height } = u.bbox;
    if (l.vertical) { ctx.moveTo(px(u, l.at), top); ctx.lineTo(px(u, l.at), top + height); }
    else { ctx.moveTo(left, py(u, l.at)); ctx.lineTo(left + width, py(u, l.at)); }
    ctx.stroke();
    ctx.setLineDash([]);
  }

  private name(u: uPlot, ctx: CanvasRenderingContext2D, l: Limit): void {
    const k = ratio();
    ctx.font = `${12 * k}px ${this.palette("--sans")}`;
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    const size = ctx.measureText(l.name).width;
    let x = u.bbox.left + 6 * k, y = py(u, l.at) - 5 * k;
    if (l.vertical) {
      x = px(u, l.at) + 5 * k;
      y = u.bbox.top + 12 * k;
      if (x + size > u.bbox.left + u.bbox.width) x -= size + 10 * k;
    }
    ctx.strokeStyle = this.palette("--paper");
    ctx.lineWidth = 4 * k;
    ctx.lineJoin = "round";
    ctx.strokeText(l.name, x, y);
    ctx.fillStyle = this.palette("--ink");
    ctx.fillText(l.name, x, y);
  }

  private mark(u: uPlot, ctx: CanvasRenderingContext2D, m: Mark): void {
    const x = px(u, m.x), y = py(u, m.y), k = ratio();
    this.pen(ctx, m.colour);
    ctx.globalAlpha = 0.65;
    ctx.beginPath();
    ctx.moveTo(px(u, m.x_low), y); ctx.lineTo(px(u, m.x_high), y);
    ctx.moveTo(x, py(u, m.y_low)); ctx.lineTo(x, py(u, m.y_high));
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.fillStyle = this.palette("--paper");
    ctx.beginPath();
    ctx.arc(x, y, 7 * k, 0, 2 * Math.PI);
    ctx.fill(); ctx.stroke();
    this.pen(ctx, m.colour);
    glyph(ctx, m.colour, x, y, 3.4 * k);
  }
}

function ratio(): number { return uPlot.pxRatio; }
function px(u: uPlot, v: number): number { return u.valToPos(v, "x", true); }
function py(u: uPlot, v: number): number { return u.valToPos(v, "y", true); }
