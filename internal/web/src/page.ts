import { draw } from "./charts";
import { save, wire } from "./common";
import { Form } from "./form";
import { clear, show } from "./problem";
import { command, read, request, write } from "./state";

// How long the hand must rest before a question is asked, in milliseconds.
const rest = 60;

// How long a busy server is left alone, in milliseconds.
const busy = 1000;

const form = new Form(document.querySelector<HTMLFormElement>("#ask")!, () => soon());
const answer = document.querySelector<HTMLElement>("#answer")!;
const status = document.querySelector<HTMLElement>("#status")!;
const announce = document.querySelector<HTMLElement>("#announce")!;

let timer = 0;
let asked: AbortController | undefined;

wire();
form.state = read(location.search || location.hash.slice(1));
void form.load().then(() => ask());
window.addEventListener("popstate", () => { form.state = read(location.search); void ask(); });
document.querySelector("#ask")!.addEventListener("submit", (e) => { e.preventDefault(); void ask(); });
document.querySelector("#link")!.addEventListener("click", () => void link());
for (const b of document.querySelectorAll<HTMLElement>("[data-export]")) b.addEventListener("click", () => void exported(b.dataset.export!));

function soon(): void {
  clearTimeout(timer);
  timer = window.setTimeout(() => void ask(), rest);
}

function post(path: string, signal?: AbortSignal): Promise<Response> {
  return fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(request(form.state)), signal });
}

// ask puts the question and shows the answer. A later question makes it void.
async function ask(): Promise<void> {
  clearTimeout(timer);
  asked?.abort();
  const mine = (asked = new AbortController());
  history.replaceState(null, "", "?" + write(form.state));
  tell(command(form.state));
  document.body.classList.add("stale");
  const began = performance.now();
  try {
    const got = await post("api/report?format=html", mine.signal);
    if (got.status === 503 && mine === asked) timer = window.setTimeout(() => void ask(), busy);
    if (!got.ok) return say(mine, await show(got), true);
    const text = await got.text();
    if (mine !== asked) return;
    clear();
    put(text);
    say(mine, `answered in ${Math.round(performance.now() - began)} ms`, false);
  } catch (e) {
    if (!mine.signal.aborted) say(mine, `No answer: ${String(e)}`, true);
  }
}

function say(mine: AbortController, words: string, wrong: boolean): void {
  if (mine !== asked) return;
  status.textContent = words;
  status.classList.toggle("wrong", wrong);
  document.body.classList.toggle("stale", wrong);
  if (wrong) announce.textContent = words;
}

// put shows the answer of a report: what is open stays open, what has the focus keeps it.
function put(report: string): void {
  const fresh = new DOMParser().parseFromString(report, "text/html").querySelector("#answer");
  if (!fresh) return;
  const open = [...answer.querySelectorAll("details[open]")].map((d) => d.id);
  const focus = answer.contains(document.activeElement) ? document.activeElement?.closest("[id]")?.id : undefined;
  answer.className = "";
  answer.replaceChildren(...fresh.childNodes);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  draw(document);
  if (focus) answer.querySelector<HTMLElement>(`#${CSS.escape(focus)} :is(button, summary, [tabindex])`)?.focus();
  const record = JSON.parse(answer.querySelector("#record")?.textContent ?? "{}") as { command?: string; answer?: { sentence?: string } };
  if (record.command) tell(record.command);
  announce.textContent = record.answer?.sentence ?? "";
}

function tell(text: string): void {
  document.querySelector("#command")!.textContent = text;
  document.querySelector<HTMLElement>("#copy-command")!.dataset.copy = text;
}

async function link(): Promise<void> {
  const button = document.querySelector<HTMLElement>("#link")!;
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy a link"; }, 1500);
  } catch { status.textContent = location.href; }
}

const exports: Record<string, string> = {
  "plan.json": "api/plan", "report.html": "api/report?format=html", "report.md": "api/report?format=md", "deployment.zip": "api/files",
};

async function exported(name: string): Promise<void> {
  status.textContent = `making ${name}`;
  try {
    const got = await post(exports[name]!);
    if (!got.ok) { status.textContent = await show(got); status.classList.add("wrong"); return; }
    save(name, await got.blob());
    status.textContent = `${name} saved`;
    status.classList.remove("wrong");
  } catch (e) {
    status.textContent = `No answer: ${String(e)}`;
    status.classList.add("wrong");
  }
}
