// Hosts the libraries, so that no request blocks the page. Requests are answered in their order.
import init, { Explorer } from "./wasm/visakit_wasm.js";
import wasm from "./wasm/visakit_wasm_bg.wasm?url";

export type Request =
  | { id: number; open: { slot: number; name: string; bytes: Uint8Array } }
  | { id: number; offer: { name: string; bytes: Uint8Array }[] }
  | { id: number; data: { slot: number } }
  | { id: number; text: { slot: number; routine: number } }
  | { id: number; links: { slot: number; routine: number } }
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
    } else if ("offer" in request) {
      for (const { name, bytes } of request.offer) explorer.offer(name, bytes);
      self.postMessage({ id, plain: null });
    } else if ("data" in request) {
      const plain = explorer.data(request.data.slot);
      self.postMessage({ id, plain }, { transfer: [plain.buffer as ArrayBuffer] });
    } else if ("text" in request) {
      self.postMessage({ id, plain: explorer.text(request.text.slot, request.text.routine) });
    } else if ("links" in request) {
      const plain = explorer.links(request.links.slot, request.links.routine);
      self.postMessage({ id, plain }, { transfer: [plain.buffer as ArrayBuffer] });
    } else {
      self.postMessage({ id, answer: explorer.call(request.call) });
    }
  } catch (error) {
    // After a panic the module is in no state that could be trusted.
    self.postMessage({ id, answer: JSON.stringify({ error: `internal error: ${error}` }) });
  }
};
