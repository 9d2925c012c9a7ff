import { draw } from "./charts";
import { save, wire } from "./common";
import { details, kept, show as showDetail } from "./detail";
import { Form } from "./form";
import { answer as long, patient, words } from "./job";
import { play } from "./player";
import { Pins } from "./pins";
import { clear, show } from "./problem";
import { read, request, stateOf, write } from "./state";
import { tables } from "./tables";
import { language, load as loadWords, said, say as word, translate } from "./words";

// Idle time before a request is sent, in milliseconds.
const rest = 60;

// Idle time before the full answer is requested: while a slider moves, changes of the answer are left out.
const still = 500;

// Time before a busy server is tried again, in milliseconds.
const busy = 1000;

const form = new Form(document.querySelector<HTMLFormElement>("#ask")!, () => soon());
const answer = document.querySelector<HTMLElement>("#answer")!;
const status = document.querySelector<HTMLElement>("#status")!;
const announce = document.querySelector<HTMLElement>("#announce")!;

// A change after a settled answer is an entry of its own in the history; while a slider moves, it is replaced.
let settled = true;
let timer = 0;
let asked: AbortController | undefined;
let question = ""; // in the address, of what was asked last

wire();
details(explanation);
form.state = read(location.search || location.hash.slice(1), form.fields);
void Promise.all([form.load(), loadWords()]).then(() => { pins.show(); return ask(false, true); });
window.addEventListener("popstate", () => { if (location.search === question) return; form.state = read(location.search, form.fields); settled = true; void ask(false, true); });
answer.addEventListener("click", (e) => {
  const of = (e.target as Element).closest<HTMLElement>("[data-files]")?.dataset.files;
  if (of !== undefined) return void filesOf(of, e.target as HTMLElement);
  const wanted = (e.target as Element).closest<HTMLElement>("[data-request]")?.dataset.request;
  if (wanted === undefined) return;
  form.state = stateOf(JSON.parse(wanted), form.fields, form.presets);
  settled = true;
  void ask(false);
  answer.focus();
  scrollTo(0, 0);
});
document.querySelector("#ask")!.addEventListener("submit", (e) => { e.preventDefault(); void ask(false); });
const pins = new Pins(document.querySelector<HTMLElement>("#pins")!, (pinned) => {
  form.state = stateOf(pinned, form.fields, form.presets);
  settled = true;
  void ask(false);
  answer.focus();
});
document.querySelector("#pin")!.addEventListener("click", () => {
  const best = (JSON.parse(answer.querySelector("#record")?.textContent ?? "{}") as { contenders?: { name: string; gpus_used: number }[] }).contenders?.[0];
  pins.add(best ? `${best.gpus_used} × ${best.name}` : form.state.model, request(form.state, form.fields, form.own));
});
const opened = document.querySelector<HTMLInputElement>("#opened")!;
document.querySelector("#open")!.addEventListener("click", () => opened.click());
opened.addEventListener("change", () => void openPlan());
document.querySelector("#edit")!.addEventListener("click", (e) => {
  const open = document.querySelector("#ask")!.classList.toggle("asked");
  (e.currentTarget as HTMLElement).setAttribute("aria-expanded", String(open));
});
document.querySelector("#link")!.addEventListener("click", () => void link());
for (const b of document.querySelectorAll<HTMLElement>("[data-export]")) b.addEventListener("click", () => void exported(b.dataset.export!));

function soon(): void { later(false, rest); }

function later(whole: boolean, wait: number): void {
  clearTimeout(timer);
  timer = window.setTimeout(() => void ask(whole), wait);
}

const body = (whole: boolean) => JSON.stringify(whole ? request(form.state, form.fields, form.own) : { ...(request(form.state, form.fields, form.own) as object), no_changes: true });

function post(path: string): Promise<Response> {
  return fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: body(true) });
}

// ask sends the request and shows the answer, with or without its changes. A later request cancels it.
async function ask(whole: boolean, again = false): Promise<void> {
  clearTimeout(timer);
  asked?.abort();
  const mine = (asked = new AbortController());
  const lang = new URLSearchParams(location.search).get("lang");
  const address = "?" + write(form.state, form.fields) + (lang ? `&lang=${encodeURIComponent(lang)}` : "");
  if (settled && !again && address !== location.search) history.pushState(null, "", address);
  else history.replaceState(null, "", address + kept());
  question = location.search;
  settled = whole;
  if (!whole) document.body.classList.add("stale");
  const began = performance.now();
  try {
    const { got, end } = await long(body(whole), mine.signal, (report, s) => {
      if (whole) return; // the answer stands, its changes come
      put(report, false);
      status.textContent = word("so far: {0}", words(s));
    });
    if (got.status === 503 && mine === asked) later(whole, busy);
    if (!got.ok) return say(mine, await show(got), true);
    const text = await got.text();
    if (mine !== asked) return;
    clear();
    put(text, whole);
    if (end && end.state !== "done") return say(mine, `${said(end.detail ?? end.state)}: ${words(end)}`, true);
    if (whole) return say(mine, "", false, false);
    say(mine, word("answered in {0} ms", Math.round(performance.now() - began)), false);
    later(true, still);
  } catch (e) {
    if (!mine.signal.aborted) say(mine, word("No answer: {0}", String(e)), true);
  }
}

function say(mine: AbortController, words: string, wrong: boolean, tell = true): void {
  if (mine !== asked) return;
  if (tell) status.textContent = words;
  status.classList.toggle("wrong", wrong);
  document.body.classList.toggle("stale", wrong);
  if (wrong) announce.textContent = words;
}

// put shows the answer of a report; open details stay open and the focus stays.
// Until new changes arrive, those of the last answer are shown in grey.
function put(report: string, whole: boolean): void {
  const fresh = new DOMParser().parseFromString(report, "text/html").querySelector("#answer");
  if (!fresh) return;
  translate(fresh);
  const old = answer.querySelector<HTMLElement>("section[aria-labelledby=changes]");
  if (old && !whole) {
    old.classList.add("old");
    fresh.querySelector("section[aria-labelledby=steps]")?.before(document.adoptNode(old));
  }
  const open = [...answer.querySelectorAll("details[open]")].map((d) => d.id);
  const focus = answer.contains(document.activeElement) ? document.activeElement?.closest("[id]")?.id : undefined;
  answer.className = "";
  answer.replaceChildren(...fresh.childNodes);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  tables(answer);
  showDetail();
  draw(document);
  play(document);
  if (focus) answer.querySelector<HTMLElement>(`#${CSS.escape(focus)} :is(button, summary, [tabindex])`)?.focus();
  const record = JSON.parse(answer.querySelector("#record")?.textContent ?? "{}") as { command?: string; answer?: { sentence?: string } };
  if (record.command !== undefined) tell(whole ? record.command : record.command.replace(/ --no-changes$/, "")); // that the page adds to be quick
  announce.textContent = language === "en" ? record.answer?.sentence ?? "" : answer.querySelector("#sentence")?.textContent ?? "";
}

// openPlan asks the question of a saved plan again.
async function openPlan(): Promise<void> {
  const file = opened.files?.[0];
  opened.value = "";
  if (!file) return;
  try {
    const plan = JSON.parse(await file.text()) as { schema?: string; request?: unknown };
    if (!plan.schema?.startsWith("plimsoll/plan/") || !plan.request) throw new Error(word("not a plan.json"));
    form.state = stateOf(plan.request, form.fields, form.presets);
    settled = true;
    void ask(false);
  } catch (e) {
    status.textContent = `${file.name}: ${String(e)}`;
    status.classList.add("wrong");
  }
}

// explanation is the report of one contender of the answer alone.
async function explanation(alone: unknown): Promise<Document> {
  const record = JSON.parse(answer.querySelector("#record")?.textContent ?? "{}") as { request?: object };
  const got = await patient("api/report?format=html", JSON.stringify({ ...record.request, ...(alone as object) }));
  if (!got.ok) throw new Error(await show(got));
  const out = new DOMParser().parseFromString(await got.text(), "text/html");
  translate(out.body);
  return out;
}

// filesOf saves the files of one contender; a view that is open says how it goes itself.
async function filesOf(contender: string, button: HTMLElement): Promise<void> {
  const places = [status, button.closest("dialog")?.querySelector(".files-status")];
  const tell = (text: string, wrong = false) => { for (const p of places) { if (p) p.textContent = text; p?.classList.toggle("wrong", wrong); } };
  tell(word("writing the files of {0}", contender));
  try {
    const got = await fetch("api/files", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ plan: request(form.state, form.fields, form.own), contender }) });
    if (!got.ok) return tell(await show(got), true);
    save(`${contender.replaceAll(" ", "-")}.zip`, await got.blob());
    tell(word("files of {0} saved", contender));
  } catch (e) { tell(word("No answer: {0}", String(e)), true); }
}

function tell(text: string): void {
  document.querySelector("#command")!.textContent = text;
  document.querySelector<HTMLElement>("#copy-command")!.dataset.copy = text;
}

async function link(): Promise<void> {
  const button = document.querySelector<HTMLElement>("#link")!;
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = word("Copied");
    setTimeout(() => { button.textContent = word("Copy a link"); }, 1500);
  } catch { status.textContent = location.href; }
}

const exports: Record<string, string> = {
  "plan.json": "api/plan", "report.html": "api/report?format=html", "report.md": "api/report?format=md", "deployment.zip": "api/files",
};

async function exported(name: string): Promise<void> {
  status.textContent = word("making {0}", name);
  try {
    const got = await post(exports[name]!);
    if (!got.ok) { status.textContent = await show(got); status.classList.add("wrong"); return; }
    save(name, await got.blob());
    status.textContent = word("{0} saved", name);
    status.classList.remove("wrong");
  } catch (e) {
    status.textContent = word("No answer: {0}", String(e));
    status.classList.add("wrong");
  }
}
