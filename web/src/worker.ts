// Hosts the libraries, so that no request blocks the page. Requests are answered in their order.
import init, { Explorer } from "./wasm/visakit_wasm.js";
import wasm from "./wasm/visakit_wasm_bg.wasm?url";

export type Request =
  | { id: number; open: { slot: number; name: string; bytes: Uint8Array } }
  | { id: number; data: { slot: number } }
  | { id: number; call: string };

let explorer: Explorer | undefined;
const ready = init({ module_or_path: new URL(wasm, self.location.href) }).then(() => {
  explorer = new Explorer();
});

self.onmessage = async (event: MessageEvent<Request>) => {
  const { id } = event.data;
  try {
    await ready;
    const request = event.data;
    if (!explorer) throw new Error("the libraries could not be loaded");
    if ("open" in request) {
      const { slot, name, bytes } = request.open;
      self.postMessage({ id, answer: explorer.open(slot, name, bytes) });
    } else if ("data" in request) {
      const bytes = explorer.data(request.data.slot);
      self.postMessage({ id, bytes }, { transfer: [bytes.buffer as ArrayBuffer] });
    } else {
      self.postMessage({ id, answer: explorer.call(request.call) });
    }
  } catch (error) {
    // After a panic the module is in no state that could be trusted.
    self.postMessage({ id, answer: JSON.stringify({ error: `internal error: ${error}` }) });
  }
};
