import type { Axis } from "./chart";

// Three significant digits, thousands apart, as number in numbers.go.
export function number(v: number): string {
  if (!isFinite(v) || v === 0) return String(v);
  const size = Math.floor(Math.log10(Math.abs(v)));
  if (size >= 15 || size < -7) return v.toExponential(2);
  if (size > 2) {
    const unit = 10 ** (size - 2);
    return grouped((Math.round(v / unit) * unit).toFixed(0));
  }
  const text = v.toFixed(2 - size);
  return grouped(size < 2 ? text.replace(/\.?0+$/, "") : text);
}

function grouped(text: string): string {
  const [whole = "", rest] = text.split(".");
  const spaced = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return rest === undefined ? spaced : spaced + "." + rest;
}

export function label(axis: Axis, v: number): string {
  return axis.share ? `${number(Math.round(100 * v))}\u00a0%` : number(v);
}
