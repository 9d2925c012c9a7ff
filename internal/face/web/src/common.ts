import { redraw } from "./charts";
import { say } from "./words";

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
    if (button.dataset.save !== undefined) {
      const record = document.getElementById("record")?.textContent ?? "null";
      save(button.dataset.save, new Blob([JSON.stringify(JSON.parse(record), null, 2) + "\n"], { type: "application/json" }));
    }
  });
  tips();
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
  button.textContent = say("Copied");
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
    if (button) { button.textContent = say(`Colours: ${now}`); button.setAttribute("aria-label", say(`Colours: ${now}`)); }
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
