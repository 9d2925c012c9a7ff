// The page without a server: what it asks of api/ is answered by the engine, as WebAssembly in a worker. The page itself is the
// same; this script stands before it and takes the place of fetch.

interface Asked { id: number; method: string; path: string; body: string; resolve: (r: Response) => void; reject: (e: Error) => void }

const away = window.fetch.bind(window);
const version = document.querySelector<HTMLMetaElement>("meta[name=plimsoll-version]")?.content ?? "";
const compiled = load();
const queue: Asked[] = [];
let worker: Worker | undefined, ready = false, running: Asked | undefined, next = 0, began = 0;

window.fetch = (input: RequestInfo | URL, init?: RequestInit): Promise<Response> =>
  typeof input === "string" && input.startsWith("api/") ? ask(input, init) : away(input, init);
window.addEventListener("plimsoll-cancel", () => { if (running) drop(running, new Error("cancelled")); });
// One engine and mode to begin with: the engine computes on one core, several times slower than the program.
if (!location.search && !location.hash) history.replaceState(null, "", "?model=Qwen/Qwen3-8B&system=h200_sxm&gpus=2&isl=512&osl=64&ttft=1000&tpot=20&engine=vllm&mode=agg");
start();

// load reads and compiles the engine. Some hosts unpack files by themselves.
async function load(): Promise<WebAssembly.Module> {
  const got = await away("engine.bin");
  if (!got.ok) throw new Error(`the engine is missing: ${got.status}`);
  const data = await got.arrayBuffer(), head = new Uint8Array(data, 0, 2);
  if (head[0] !== 0x1f || head[1] !== 0x8b) return WebAssembly.compile(data);
  const plain = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compileStreaming(new Response(plain, { headers: { "Content-Type": "application/wasm" } }));
}

function start(): void {
  ready = false;
  const mine = (worker = new Worker("worker.js"));
  mine.onmessage = (e: MessageEvent<{ ready?: boolean; progress?: [string, number, number, string]; status: number; type: string; data: Uint8Array<ArrayBuffer> }>) => {
    if (mine !== worker) return;
    if (e.data.ready) { ready = true; send(); return; }
    if (e.data.progress) { progress(...e.data.progress); return; }
    const was = running;
    running = undefined;
    show(null);
    was?.resolve(new Response(e.data.data, { status: e.data.status, headers: { "Content-Type": e.data.type } }));
    send();
  };
  compiled.then((module) => mine.postMessage({ module, version }), (e: unknown) => { for (const q of queue.splice(0)) q.reject(e as Error); });
}

function ask(path: string, init?: RequestInit): Promise<Response> {
  if (path.startsWith("api/jobs/")) return Promise.resolve(new Response("", { status: 404 })); // nothing else goes on here
  return new Promise((resolve, reject) => {
    const mine: Asked = { id: next++, method: init?.method ?? "GET", path: "/" + path, body: typeof init?.body === "string" ? init.body : "", resolve, reject };
    init?.signal?.addEventListener("abort", () => drop(mine, new DOMException("left", "AbortError")));
    queue.push(mine);
    send();
  });
}

// send gives the worker the next question; it takes one at a time.
function send(): void {
  if (!ready || running || !queue.length) return;
  running = queue.shift()!;
  began = performance.now();
  worker!.postMessage({ method: running.method, path: running.path, body: running.body });
}

// drop forgets a question. The worker takes no messages while it computes, so a new one takes its place.
function drop(q: Asked, why: Error): void {
  const at = queue.indexOf(q);
  if (at >= 0) queue.splice(at, 1);
  q.reject(why);
  if (q !== running) return;
  running = undefined;
  show(null);
  worker!.terminate();
  start();
}

function progress(task: string, done: number, of: number, what: string): void {
  if (performance.now() - began > 1500) show({ id: "", state: "running", progress: { task, done, of, what }, partial: false, left: [] });
}

function show(detail: unknown): void { window.dispatchEvent(new CustomEvent("plimsoll-status", { detail })); }
