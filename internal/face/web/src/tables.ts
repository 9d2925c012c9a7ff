import { csv, saveText, yaml } from "./saving";
import { say } from "./words";

// Tables that are sorted by a click at a heading, filtered and folded, and saved as they are shown. What was chosen stays when the answer changes.

interface Choice { column?: number; down?: boolean; filter: string; folded: boolean }
const chosen = new Map<string, Choice>();

// Rows that a folded table keeps.
const few = 5;

// tables adds the tools of all tables below root that want them.
export function tables(root: ParentNode): void {
  for (const t of root.querySelectorAll<HTMLTableElement>("table[data-tools]")) if (!t.dataset.ready) tool(t);
}

function tool(table: HTMLTableElement): void {
  table.dataset.ready = "yes";
  const name = table.dataset.tools!, choice = chosen.get(name) ?? { filter: "", folded: false }, body = table.tBodies[0]!;
  chosen.set(name, choice);
  const rows = [...body.rows], heads = headings(table), words = table.caption?.textContent ?? name;
  const bar = document.createElement("div"), search = document.createElement("input"), count = document.createElement("span"), fold = button("");
  bar.className = "table-tools script";
  search.type = "search";
  search.placeholder = say("Filter");
  search.setAttribute("aria-label", say("Filter: {0}", words));
  search.value = choice.filter;
  count.setAttribute("role", "status");
  const update = () => arrange(body, rows, heads, choice, count, fold);
  search.addEventListener("input", () => { choice.filter = search.value; update(); });
  fold.addEventListener("click", () => { choice.folded = !choice.folded; update(); });
  bar.append(search, fold, ...["csv", "json", "yaml"].map((kind) => {
    const b = button(kind.toUpperCase(), say("Save {0}: {1}", `${name}.${kind}`, words));
    b.addEventListener("click", () => saveText(`${name}.${kind}`, written(table, heads, kind)));
    return b;
  }), count);
  heads.forEach((th, i) => sortable(th, () => {
    choice.down = choice.column === i ? (choice.down ? undefined : true) : false;
    choice.column = choice.down === undefined ? undefined : i;
    update();
  }));
  (table.closest(".scroll") ?? table).before(bar);
  update();
}

function button(text: string, label?: string): HTMLButtonElement {
  const b = document.createElement("button");
  b.type = "button";
  b.textContent = text;
  if (label) b.setAttribute("aria-label", label);
  return b;
}

// sortable makes the words of a heading a button.
function sortable(th: HTMLElement | undefined, sort: () => void): void {
  if (!th || !th.textContent?.trim() || th.querySelector(".hidden")) return;
  const b = button("");
  b.className = "sort";
  b.append(...th.childNodes);
  th.append(b);
  b.addEventListener("click", sort);
}

// headings are the cells over each column, in the last row of the head that has one.
function headings(table: HTMLTableElement): (HTMLTableCellElement | undefined)[] {
  const grid: (HTMLTableCellElement | undefined)[][] = [];
  [...(table.tHead?.rows ?? [])].forEach((row, r) => {
    let column = 0;
    for (const cell of row.cells) {
      while (grid[r]?.[column]) column++;
      for (let dr = 0; dr < cell.rowSpan; dr++) for (let dc = 0; dc < cell.colSpan; dc++) (grid[r + dr] ??= [])[column + dc] = cell;
      column += cell.colSpan;
    }
  });
  return grid.at(-1) ?? [];
}

// cellOf is the cell of a row in a column.
function cellOf(row: HTMLTableRowElement, column: number): HTMLTableCellElement | undefined {
  let at = 0;
  for (const cell of row.cells) { at += cell.colSpan; if (column < at) return cell; }
  return undefined;
}

// textOf is the words of a cell; those below it and those for screen readers are left out.
function textOf(cell: Element | undefined): string {
  if (!cell) return "";
  const copy = cell.cloneNode(true) as Element;
  for (const e of copy.querySelectorAll("button:not(.sort), svg, .hidden")) e.remove();
  for (const e of copy.querySelectorAll(".sub, .flag")) e.before(" ");
  return (copy.textContent ?? "").replace(/\s+/g, " ").trim();
}

// valueOf is the number that a cell begins with, or its words.
function valueOf(row: HTMLTableRowElement, column: number): number | string {
  const cell = cellOf(row, column);
  if (cell?.dataset.v) return Number(cell.dataset.v);
  const text = textOf(cell), n = parseFloat(text.replace(/^[<>$]+/, "").replace(/^\u2212/, "-").replaceAll(",", ""));
  if (!cell?.classList.contains("n")) return text.toLowerCase();
  return isNaN(n) ? Infinity : n; // a dash is last
}

function arrange(body: HTMLElement, rows: HTMLTableRowElement[], heads: (HTMLTableCellElement | undefined)[], choice: Choice, count: HTMLElement, fold: HTMLElement): void {
  const order = [...rows], { column } = choice;
  if (column !== undefined)
    order.sort((a, b) => {
      const x = valueOf(a, column), y = valueOf(b, column), up = x < y ? -1 : x > y ? 1 : 0;
      return choice.down && x !== Infinity && y !== Infinity ? -up : up;
    });
  for (const [i, th] of heads.entries()) {
    if (!th?.querySelector(".sort")) continue;
    if (i === column) th.setAttribute("aria-sort", choice.down ? "descending" : "ascending");
    else if (!heads.some((h, k) => h === th && k === column)) th.removeAttribute("aria-sort");
  }
  const wanted = choice.filter.split(/\s+/).filter(Boolean).map((w) => new RegExp("(?<![\\p{L}\\d])" + w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "iu")); // beginnings of words
  const found = order.filter((r) => wanted.every((w) => w.test(r.textContent ?? "")));
  const shown = new Set(choice.folded ? found.slice(0, few) : found);
  for (const r of rows) r.hidden = !shown.has(r);
  body.append(...order);
  count.textContent = shown.size === rows.length ? "" : say("{0} of {1}", shown.size, rows.length);
  fold.hidden = found.length <= few;
  fold.textContent = choice.folded ? say("Show all {0}", found.length) : say("Show the first {0}", few);
  fold.setAttribute("aria-expanded", String(!choice.folded));
}

// written is the shown rows as a file: those of the record with all their digits where the table is of it, the words of the cells elsewhere.
function written(table: HTMLTableElement, heads: (HTMLTableCellElement | undefined)[], kind: string): string {
  const rows = [...table.tBodies[0]!.rows].filter((r) => !r.hidden);
  const record = JSON.parse(document.getElementById("record")?.textContent ?? "{}") as Record<string, unknown[]>;
  const own = rows.every((r) => r.dataset.row !== undefined) ? rows.map((r) => record[table.dataset.tools!]?.[Number(r.dataset.row)]) : undefined;
  if (kind === "csv" && own && table.dataset.tools === "contenders") return contenders(own as Contender[]);
  const names = heads.map((h, i) => textOf(h) || `column ${i + 1}`), used = names.map((_, i) => i).filter((i) => textOf(heads[i]));
  if (kind === "csv") return csv([used.map((i) => names[i]), ...rows.map((r) => used.map((i) => textOf(cellOf(r, i))))]);
  const all = own ?? rows.map((r) => Object.fromEntries(used.map((i) => [names[i], textOf(cellOf(r, i))])));
  return kind === "json" ? JSON.stringify(all, null, 2) + "\n" : yaml(all);
}

interface Range { value: number; low: number; high: number }
interface Contender {
  name: string; in_words: string; meets_limits: boolean; gpus_used: number; concurrency: number;
  tokens_per_second_gpu: Range; request_rate: Range; judged: { chance_within_limits?: number | null }; mean: { ttft_ms: Range | null; tpot_ms: Range | null };
  cost?: { usd_per_million_output_tokens: Range; usd_per_month: number; price_class?: string; not_compared?: string } | null;
}

// contenders are those of the record, a row each.
function contenders(all: Contender[]): string {
  const head = ["name", "deployment", "meets_limits", "chance_within_limits", "gpus", "concurrency", "tokens_per_second_gpu", "low", "high", "requests_per_second", "ttft_ms", "tpot_ms", "usd_per_million_output_tokens", "usd_per_month", "price_class", "price_not_compared"];
  return csv([head, ...all.map((c) => [c.name, c.in_words, c.meets_limits, c.judged.chance_within_limits ?? "", c.gpus_used, c.concurrency, c.tokens_per_second_gpu.value, c.tokens_per_second_gpu.low, c.tokens_per_second_gpu.high,
    c.request_rate.value, c.mean.ttft_ms?.value ?? "", c.mean.tpot_ms?.value ?? "", c.cost?.usd_per_million_output_tokens.value ?? "", c.cost?.usd_per_month ?? "", c.cost?.price_class ?? "", c.cost?.not_compared ?? ""])]);
}
