import type { Chart } from "./chart";
import { save } from "./common";
import { glyph } from "./glyph";

// What is shown as a file: tables as CSV, JSON and YAML, charts as PNG and CSV.

// csv writes rows. A cell that a spreadsheet would compute is text.
export function csv(rows: unknown[][]): string {
  const cell = (v: unknown) => {
    if (typeof v === "number" || typeof v === "boolean") return String(v);
    const s = String(v ?? "");
    return `"${(/^[=+@-]/.test(s) && !/^[+-]?[\d.]+$/.test(s) ? "'" + s : s).replaceAll('"', '""')}"`;
  };
  return rows.map((r) => r.map(cell).join(",")).join("\r\n") + "\r\n";
}

// yaml writes a value of JSON in blocks.
export function yaml(v: unknown, indent = ""): string {
  const plain = (x: unknown) => (typeof x === "string" ? (/^[A-Za-z][\w ./()=-]*$/.test(x) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(x) && x === x.trim() ? x : JSON.stringify(x)) : JSON.stringify(x));
  if (Array.isArray(v)) return v.length ? v.map((x) => `${indent}- ${nested(x) ? yaml(x, indent + "  ").trimStart() : plain(x) + "\n"}`).join("") : `${indent}[]\n`;
  if (!nested(v)) return indent + plain(v) + "\n";
  const fields = Object.entries(v as Record<string, unknown>);
  if (!fields.length) return `${indent}{}\n`;
  return fields.map(([k, x]) => `${indent}${plain(k)}:` + (nested(x) && Object.keys(x as object).length ? "\n" + yaml(x, indent + "  ") : ` ${Array.isArray(x) ? "[]" : nested(x) ? "{}" : plain(x)}\n`)).join("");
}

function nested(v: unknown): boolean { return typeof v === "object" && v !== null; }

export function saveText(name: string, text: string): void {
  const kind = name.endsWith(".csv") ? "text/csv" : name.endsWith(".json") ? "application/json" : "application/yaml";
  save(name, new Blob([text], { type: kind }));
}

// chartCSV is the series that are shown, a line for each point.
export function chartCSV(chart: Chart, shown: (i: number) => boolean): string {
  const rows: unknown[][] = [["series", chart.x.title, chart.y.title, "low", "high", "note"]];
  chart.series.forEach((s, i) => { if (shown(i)) s.xs.forEach((x, k) => rows.push([s.name, x, s.ys[k], s.low?.[k] ?? "", s.high?.[k] ?? "", s.notes?.[k] ?? ""])); });
  return csv(rows);
}

// chartPNG is the picture of a chart with its title and the key of what is shown.
export function chartPNG(chart: Chart, canvas: HTMLCanvasElement, shown: (i: number) => boolean, colour: (name: string) => string): void {
  const k = devicePixelRatio || 1, pad = 12 * k, line = 18 * k, out = document.createElement("canvas"), ctx = out.getContext("2d")!;
  const keys = chart.series.filter((_, i) => shown(i));
  out.width = canvas.width + 2 * pad;
  out.height = canvas.height + 2 * pad + line * (1 + keys.length);
  ctx.fillStyle = colour("--paper");
  ctx.fillRect(0, 0, out.width, out.height);
  const write = (text: string, x: number, y: number, bold = "") => { ctx.font = `${bold} ${13 * k}px ${colour("--sans")}`; ctx.fillStyle = colour("--ink"); ctx.fillText(text, x, y); };
  write(`${chart.title} (${chart.y.title})`, pad, pad + 12 * k, "600");
  keys.forEach((s, i) => {
    const y = pad + line * (i + 1) + 8 * k;
    ctx.strokeStyle = ctx.fillStyle = colour(`--c${s.colour}`);
    ctx.lineWidth = 2 * k;
    ctx.setLineDash(s.dash ? [6 * k, 4 * k] : []);
    ctx.beginPath();
    ctx.moveTo(pad, y);
    ctx.lineTo(pad + 26 * k, y);
    ctx.stroke();
    ctx.setLineDash([]);
    if (s.points) glyph(ctx, s.colour, pad + 13 * k, y, 3 * k);
    write(s.name, pad + 34 * k, y + 4 * k);
  });
  ctx.drawImage(canvas, pad, pad + line * (1 + keys.length));
  out.toBlob((b) => { if (b) save(`${chart.id}.png`, b); }, "image/png");
}
