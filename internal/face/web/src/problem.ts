import { said, say } from "./words";

// Errors of the API, shown beside the fields they concern.

interface Problem { title?: string; detail?: string; fields?: string[] }

// Names of fields of a request, and the ids of those of the page.
const places: Record<string, string> = {
  model: "model", systems: "systems", system: "systems", gpus: "gpus", rate: "rate", daily: "daily",
  isl: "isl", osl: "osl", prefix: "prefix", ttft_ms: "ttft", ttft: "ttft", tpot_ms: "tpot", tpot: "tpot", limits: "ttft",
  latency_ms: "latency", request_latency: "latency", arrival: "bursts", arrival_variation: "bursts", spare: "spare", utilization: "utilization", cold_start_s: "cold_start", cold_start: "cold_start",
  percentile: "percentile", goodput: "percentile", confidence: "confidence", engines: "engines", engine: "engines", modes: "modes",
  checkpoint: "checkpoint", kv: "kv", formats: "checkpoint", nextn: "nextn", workloads: "workloads", session: "workloads", share: "workloads", preset: "preset", draft: "draft", routing: "routing", host_cache: "host", no_limits: "ttft",
  config: "config", trace: "trace", trace_data: "trace", device: "systems",
  prices: "prices", price: "prices", energy_price: "energy", api_price: "api_in",
};

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
    const id = last.map((s) => places[s]).find(Boolean);
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
