import { redraw } from "./charts";

// What both pages do: colours, copying, saving, printing, and words for parts of bars.

export function save(name: string, contents: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(contents);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function wire(): void {
  document.documentElement.classList.add("js");
  theme();
  document.addEventListener("click", (e) => {
    const button = (e.target as Element).closest<HTMLElement>("button");
    if (!button) return;
    if (button.dataset.copy !== undefined) void copy(button, button.dataset.copy);
    if (button.dataset.print !== undefined) window.print();
    if (button.dataset.csv !== undefined) save("contenders.csv", new Blob([csv()], { type: "text/csv" }));
    if (button.dataset.save !== undefined) {
      const record = document.getElementById("record")?.textContent ?? "null";
      save(button.dataset.save, new Blob([JSON.stringify(JSON.parse(record), null, 2) + "\n"], { type: "application/json" }));
    }
  });
  tips();
}

interface Range { value: number; low: number; high: number }
interface Row {
  name: string; in_words: string; meets_limits: boolean; gpus_used: number; concurrency: number; within_limits?: number | null;
  tokens_per_second_gpu: Range; request_rate: Range; ttft_ms: Range; tpot_ms?: Range | null;
  cost?: { usd_per_million_output_tokens: Range; usd_per_month: number; price_class?: string; not_compared?: string } | null;
}

// csv is the contenders of the record, a row each.
function csv(): string {
  const record = JSON.parse(document.getElementById("record")?.textContent ?? "{}") as { contenders?: Row[] };
  const head = ["name", "deployment", "meets_limits", "within_limits", "gpus", "concurrency", "tokens_per_second_gpu", "low", "high", "requests_per_second", "ttft_ms", "tpot_ms", "usd_per_million_output_tokens", "usd_per_month", "price_class", "price_not_compared"];
  const rows = (record.contenders ?? []).map((c) => [c.name, c.in_words, c.meets_limits, c.within_limits ?? "", c.gpus_used, c.concurrency, c.tokens_per_second_gpu.value, c.tokens_per_second_gpu.low, c.tokens_per_second_gpu.high,
    c.request_rate.value, c.ttft_ms.value, c.tpot_ms?.value ?? "", c.cost?.usd_per_million_output_tokens.value ?? "", c.cost?.usd_per_month ?? "", c.cost?.price_class ?? "", c.cost?.not_compared ?? ""]);
  // A cell that a spreadsheet would compute is text.
  const cell = (v: unknown) => { const s = String(v); return typeof v === "string" ? `"${(/^[=+@-]/.test(s) ? "'" + s : s).replaceAll('"', '""')}"` : s; };
  return [head, ...rows].map((r) => r.map(cell).join(",")).join("\r\n") + "\r\n";
}

async function copy(button: HTMLElement, text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages opened from a file may not use the clipboard's interface.
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "hidden";
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  const before = button.dataset.before ?? button.innerHTML;
  button.dataset.before = before;
  button.textContent = "Copied";
  setTimeout(() => { button.innerHTML = before; }, 1500);
}

type Theme = "system" | "light" | "dark";

function theme(): void {
  const button = document.querySelector<HTMLElement>("[data-theme-next]");
  const order: Theme[] = ["system", "light", "dark"];
  let now: Theme = "system";
  try { now = (localStorage.getItem("plimsoll-colours") as Theme | null) ?? "system"; } catch { /* storage may be forbidden */ }
  const set = (t: Theme) => {
    now = order.includes(t) ? t : "system";
    if (now === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = now;
    if (button) { button.textContent = `Colours: ${now}`; button.setAttribute("aria-label", `Colours: ${now}`); }
    try { localStorage.setItem("plimsoll-colours", now); } catch { /* as above */ }
    redraw();
  };
  set(now);
  button?.addEventListener("click", () => set(order[(order.indexOf(now) + 1) % order.length]!));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
}

// tips shows the words of a bar's part beside the mouse.
function tips(): void {
  const box = document.createElement("div");
  box.className = "tip";
  box.hidden = true;
  document.body.append(box);
  document.addEventListener("mousemove", (e) => {
    const words = (e.target as Element | null)?.closest?.("[data-tip]")?.getAttribute("data-tip");
    box.hidden = !words;
    if (!words) return;
    box.textContent = words;
    box.style.left = `${Math.min(e.pageX + 12, document.documentElement.clientWidth - box.offsetWidth - 4)}px`;
    box.style.top = `${e.pageY + 16}px`;
  });
}
