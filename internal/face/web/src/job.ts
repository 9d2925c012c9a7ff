import { kept } from "./detail";
import { say } from "./words";

// Long questions. What takes longer than a moment goes on as a job of the server: it survives a reload, shows its progress and
// the answer so far, and stops when the question changes or the button is pressed.

export interface Status {
  id: string; state: string; progress: { task: string; done: number; of: number; what: string } | null;
  partial: boolean; left: string[]; detail?: string;
}

// Time before a question becomes a job, and between two looks at its answer so far, in milliseconds.
const moment = 1500, between = 2000;

// Time before a busy server is asked again, in milliseconds, and how often.
const pause = 2000, patience = 300;

const place = document.querySelector<HTMLElement>("#job");
let leave: (() => void) | undefined;
let reloaded = location.hash.startsWith("#job="); // while the question was a job
place?.querySelector("button")?.addEventListener("click", () => leave?.());

// An engine without a server has no jobs; it says how it gets on by this event.
window.addEventListener("plimsoll-status", (e) => display((e as CustomEvent<Status | null>).detail, () => window.dispatchEvent(new Event("plimsoll-cancel"))));

// answer is the report of a question, or the refusal. So gets the report as far as it is known.
export async function answer(body: string, signal: AbortSignal, so: (report: string, status: Status) => void): Promise<{ got: Response; end?: Status }> {
  const plain = new AbortController();
  signal.addEventListener("abort", () => plain.abort());
  const first = post("api/report?format=html", body, plain.signal);
  const early = await Promise.race([first, new Promise<undefined>((done) => setTimeout(done, reloaded ? 0 : moment))]);
  reloaded = false;
  if (early) return { got: early };
  for (let tries = 0; ; tries++) {
    const started = await post("api/jobs/plan", body, signal);
    if (started.status === 404) return { got: await first }; // no jobs here
    if (!started.ok) return { got: started };
    const { id } = (await started.json()) as Status;
    first.catch(() => undefined); // the job has its question
    plain.abort();
    history.replaceState(null, "", location.search + "#job=" + id);
    const end = (path: string, method: string) => () => void fetch(path, { method, keepalive: true }).catch(() => undefined);
    const drop = end(`api/jobs/${id}`, "DELETE"), cancel = end(`api/jobs/${id}/cancel`, "POST"); // which keeps the answer so far
    signal.addEventListener("abort", drop);
    try {
      const last = await follow(id, signal, cancel, so);
      if (last.detail?.includes("ask again")) throw new Error(last.detail); // that server ends, another one may be there
      const got = await fetch(`api/jobs/${id}/${last.state === "done" || last.partial ? "report?format=html" : "result"}`, { signal });
      if (got.status !== 404) return { got, end: last };
    } catch (e) {
      if (signal.aborted || tries > 30) throw e;
      await new Promise((done) => setTimeout(done, moment)); // the server may come back, or another one in its place
    } finally {
      signal.removeEventListener("abort", drop);
      if (!signal.aborted) { display(null); history.replaceState(null, "", location.pathname + location.search + kept()); }
    }
  }
}

// words say how far an answer got that was not finished.
export function words(s: Status): string {
  const p = s.progress, some = s.left.slice(0, 3).join(", ") + (s.left.length > 3 ? say(" and {0} more", s.left.length - 3) : "");
  return [p?.of ? say("{0} of {1} {2}", p.done, p.of, say(p.what)) : "", s.left.length ? say("left: {0}", some) : ""].filter(Boolean).join("; ");
}

// patient asks again while the server is busy: what takes long goes on there as a job, which the same question joins.
export async function patient(path: string, body: string): Promise<Response> {
  for (let tries = 0; ; tries++) {
    const got = await post(path, body);
    if (got.status !== 503 || tries >= patience) return got;
    await new Promise((done) => setTimeout(done, pause));
  }
}

function post(path: string, body: string, signal?: AbortSignal): Promise<Response> {
  return fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body, signal });
}

// follow shows a job until it ends.
function follow(id: string, signal: AbortSignal, cancel: () => void, so: (report: string, status: Status) => void): Promise<Status> {
  return new Promise((resolve, reject) => {
    const events = new EventSource(`api/jobs/${id}/events`);
    let last = 0, shown = -1;
    const end = () => { events.close(); display(null); };
    signal.addEventListener("abort", () => { end(); reject(new Error("left")); });
    events.addEventListener("error", () => { if (events.readyState === EventSource.CLOSED) { end(); reject(new Error("the server is gone")); } });
    events.addEventListener("status", (e) => {
      const s = JSON.parse((e as MessageEvent<string>).data) as Status;
      if (!["waiting", "running"].includes(s.state)) { end(); resolve(s); return; }
      display(s, cancel);
      const done = s.progress?.done ?? 0;
      if (!s.partial || done === shown || performance.now() - last < between) return;
      last = performance.now();
      shown = done;
      void fetch(`api/jobs/${id}/report?format=html`, { signal }).then((r) => (r.ok ? r.text() : "")).then((text) => {
        if (text && !signal.aborted && events.readyState !== EventSource.CLOSED) so(text, s);
      }).catch(() => undefined);
    });
  });
}

// display shows progress with a button to cancel.
function display(s: Status | null, cancel?: () => void): void {
  if (!place) return;
  place.hidden = !s;
  leave = cancel;
  if (!s) return;
  const bar = place.querySelector("progress")!, p = s.progress;
  if (p?.of) { bar.max = p.of; bar.value = p.done; } else bar.removeAttribute("value");
  place.querySelector("span")!.textContent = s.state === "waiting" ? say("waiting for other jobs") : p ? (p.of ? `${say(p.task)}: ${say("{0} of {1} {2}", p.done, p.of, say(p.what))}` : say(p.task)) : say("starting");
}
