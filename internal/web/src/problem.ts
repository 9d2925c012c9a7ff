// What an API refuses, beside the fields it is about.

interface Problem { title?: string; detail?: string; fields?: unknown; errors?: unknown }

// Names of fields of a request, and the ids of those of the page.
const places: Record<string, string> = {
  model: "model", systems: "systems", system: "systems", gpus: "gpus", rate: "rate", daily: "daily",
  isl: "isl", osl: "osl", prefix: "prefix", ttft_ms: "ttft", ttft: "ttft", tpot_ms: "tpot", tpot: "tpot", limits: "ttft",
  percentile: "percentile", confidence: "confidence", engines: "engines", engine: "engines", modes: "modes",
  checkpoint: "checkpoint", kv: "kv", formats: "checkpoint", nextn: "nextn", workloads: "isl",
};

export function clear(): void {
  for (const w of document.querySelectorAll(".wrong")) w.textContent = "";
  for (const f of document.querySelectorAll("[aria-invalid]")) f.removeAttribute("aria-invalid");
}

// show puts messages beside fields, and returns what to say of the whole.
export async function show(answer: Response): Promise<string> {
  let p: Problem = {};
  try { p = (await answer.json()) as Problem; } catch { /* not from the API */ }
  clear();
  for (const [field, message] of messages(p.fields ?? p.errors)) {
    const last = field.split(/[.[\]/]+/).filter((s) => s && !/^\d+$/.test(s)).reverse();
    const id = last.map((s) => places[s]).find(Boolean);
    const place = id && document.getElementById(`${id}-wrong`);
    if (!place) continue;
    place.textContent = [place.textContent, message].filter(Boolean).join("; ");
    document.getElementById(id)?.setAttribute("aria-invalid", "true");
  }
  return p.detail || p.title || `The server answered ${answer.status}.`;
}

function messages(fields: unknown): [string, string][] {
  if (Array.isArray(fields))
    return fields.map((f) => {
      if (typeof f === "string") return [f, "not accepted"];
      const o = f as Record<string, unknown>;
      return [String(o.field ?? o.name ?? o.location ?? ""), String(o.message ?? o.detail ?? o.problem ?? "not accepted")];
    });
  if (fields && typeof fields === "object") return Object.entries(fields).map(([k, v]) => [k, Array.isArray(v) ? v.join("; ") : String(v)]);
  return [];
}
