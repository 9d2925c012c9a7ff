// The view of a contender, a dialog: an address that ends with its name opens it, and Back closes it. A name behind "--" is that of a figure, whose
// reasons are opened too.

import { say } from "./words";

let wanted = location.hash;
let here = false; // the view was opened on this page, so that Back leads out of it
let opener: HTMLElement | null = null; // has the focus again when the view is closed

// load fetches the reasons of a contender that has none; a page without a server has no such function.
type Load = (alone: unknown) => Promise<Document>;
let load: Load | undefined;

export function details(fetchReasons?: Load): void {
  load = fetchReasons;
  window.addEventListener("popstate", () => { wanted = location.hash; show(); });
  document.addEventListener("click", (e) => {
    const at = e.target as Element;
    if (at instanceof HTMLDialogElement && at.open) return leave(); // beside it
    const link = at.closest<HTMLElement>("a[href^='#contender-']");
    if (link && !e.ctrlKey && !e.metaKey && !e.shiftKey) {
      e.preventDefault(); // the page would scroll to where the view is in it
      if (!link.closest("dialog")) opener = link;
      return go(link.getAttribute("href")!);
    }
    const row = at.closest("tr[data-row]");
    if (row && !at.closest("a, button, input") && !getSelection()?.toString()) row.querySelector<HTMLElement>("a.name")?.click();
  });
  document.addEventListener("submit", (e) => { if ((e.target as Element).closest("dialog.detail")) { e.preventDefault(); leave(); } });
  document.addEventListener("cancel", (e) => { if ((e.target as Element).matches("dialog.detail")) { e.preventDefault(); leave(); } }, true);
  show();
}

// open opens a view by its name.
export function open(id: string): void {
  opener = document.activeElement as HTMLElement | null;
  go("#" + id);
}

// go is an entry of the history: Back closes the view, whatever was opened in it.
function go(hash: string): void {
  const inside = document.querySelector("dialog.detail[open]") !== null;
  history[inside ? "replaceState" : "pushState"](null, "", hash);
  here ||= !inside;
  wanted = hash;
  show();
}

// kept is the end of the address that a view has.
export function kept(): string { return wanted.startsWith("#contender-") ? wanted : ""; }

function leave(): void {
  if (here) { here = false; return history.back(); }
  wanted = "";
  history.replaceState(null, "", location.pathname + location.search);
  show();
}

// show opens the view that the address names, and closes others. A page calls it again when its answer is another one.
export function show(): void {
  const name = decodeURIComponent(kept().slice(1)), [contender = ""] = name.split("--");
  const view = contender ? document.getElementById(contender) : null;
  for (const d of document.querySelectorAll<HTMLDialogElement>("dialog.detail[open]")) if (d !== view) close(d, view === null);
  document.documentElement.classList.toggle("viewing", view !== null);
  if (!(view instanceof HTMLDialogElement)) return;
  if (!view.open) view.showModal();
  if (name === contender) { view.scrollTop = 0; return; }
  void reasons(view).then(() => {
    const at = document.getElementById(name) ?? view.querySelector(".reasons");
    if (at instanceof HTMLDetailsElement) at.open = true;
    at?.scrollIntoView({ block: "start" });
    if (at instanceof HTMLElement) { at.tabIndex = -1; at.focus(); } // not its button, which the key that led here would press
  });
}

function close(view: HTMLDialogElement, last: boolean): void {
  view.close();
  if (last) (opener?.isConnected ? opener : document.querySelector<HTMLElement>(`a[href="#${CSS.escape(view.id)}"]`))?.focus();
}

// reasons puts those of a plan of the contender alone into its view.
async function reasons(view: HTMLElement): Promise<void> {
  const place = view.querySelector<HTMLElement>(".reasons"), words = place?.querySelector(".loading");
  if (!place || !words || !load) return;
  words.setAttribute("role", "status");
  words.textContent = say("computing …");
  try {
    const found = (await load(JSON.parse(place.dataset.alone ?? "{}"))).querySelectorAll(".reasons .because");
    if (!found.length) throw new Error(say("no explanation"));
    const own = found[0]!.closest("dialog")!.id;
    words.replaceWith(...[...found].map((r) => { r.id = r.id.replace(own, view.id); return document.adoptNode(r); }));
  } catch (e) { words.textContent = say("No explanation: {0}", String(e)); }
}
