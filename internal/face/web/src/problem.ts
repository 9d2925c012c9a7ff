import { said, say } from "./words";

// Errors of the API, shown beside the fields they concern.

interface Problem { title?: string; detail?: string; fields?: string[] }

// Names of fields of a request without a control of their own, and of flags in messages, with the ids of the page.
const places: Record<string, string> = {
  model: "model", isl: "isl", osl: "osl", prefix: "prefix", limits: "ttft", arrival: "bursts", arrival_variation: "bursts", percentile: "percentile", goodput: "percentile",
  formats: "checkpoint", workloads: "workloads", session: "workloads", share: "workloads", preset: "preset", no_limits: "ttft", config: "config", trace: "trace", trace_data: "trace",
  prices: "prices", price: "prices", api_price: "api_in", host_cache: "host", engine: "engines", system: "systems", device: "systems", request_latency: "latency",
};

// placeOf is the id of the control of a field.
function placeOf(name: string): string | undefined {
  const control = [...document.querySelectorAll<HTMLElement>("[data-field]")].find((e) => e.dataset.field!.split(".").at(-1) === name || (e.dataset.slide ?? e.id) === name);
  return control?.dataset.slide ?? control?.id ?? places[name];
}

export function clear(): void {
  for (const w of document.querySelectorAll(".wrong")) w.textContent = "";
  for (const f of document.querySelectorAll("[aria-invalid]")) f.removeAttribute("aria-invalid");
}

// show puts messages beside fields, and returns the message for the request as a whole.
export async function show(answer: Response): Promise<string> {
  let p: Problem = {};
  try { p = (await answer.json()) as Problem; } catch { /* not from the API */ }
  clear();
  for (const [field, message] of messages(p)) {
    const last = field.split(/[.[\]/]+/).filter((s) => s && !/^\d+$/.test(s)).reverse();
    const id = last.map(placeOf).find(Boolean);
    const place = id && document.getElementById(`${id}-wrong`);
    if (!place) continue;
    place.textContent = [place.textContent, said(message)].filter(Boolean).join("; ");
    document.getElementById(id)?.setAttribute("aria-invalid", "true");
  }
  return lines(p.detail || p.title || "") || say("The server answered {0}.", answer.status);
}

// lines are the lines of a message, each in the language of the page.
const lines = (text: string) => text.split("\n").map(said).join("\n");

// messages are the lines of the detail by the fields they name; all of it if none does.
function messages(p: Problem): [string, string][] {
  const detail = p.detail ?? p.title ?? "not accepted";
  return (p.fields ?? []).map((field) => {
    const own = detail.split("\n").filter((line) => line.includes(field));
    return [field, own.length ? own.join("; ") : detail];
  });
}
