// The worker of the page without a server: it runs the engine.

interface Engine { importObject: WebAssembly.Imports; run(instance: WebAssembly.Instance): Promise<void> }
interface Scope {
  importScripts(name: string): void; postMessage(message: unknown, transfer?: Transferable[]): void; Go: new () => Engine; onmessage: (e: MessageEvent) => void;
  plimsollVersion: string; plimsollReady: () => void; plimsollProgress: (...of: unknown[]) => void;
  plimsollAsk: (method: string, path: string, body: string, done: (status: number, type: string, data: Uint8Array) => void) => void;
}

const scope = self as unknown as Scope;
scope.importScripts("wasm_exec.js");
scope.plimsollReady = () => scope.postMessage({ ready: true });
scope.plimsollProgress = (...progress) => scope.postMessage({ progress });
scope.onmessage = (e: MessageEvent<{ module?: WebAssembly.Module; version: string; method: string; path: string; body: string }>) => {
  const m = e.data;
  if (m.module) {
    const go = new scope.Go();
    scope.plimsollVersion = m.version;
    void WebAssembly.instantiate(m.module, go.importObject).then((instance) => go.run(instance));
    return;
  }
  scope.plimsollAsk(m.method, m.path, m.body, (status, type, data) => scope.postMessage({ status, type, data }, [data.buffer]));
};
