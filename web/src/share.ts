// The state in the address: deflated JSON in the fragment, which browsers do not send to anybody.

export interface State {
  name: string;
  text?: string;
  /** An object that is shown only, in base64. */
  bytes?: string;
  metadata?: string;
  second?: { name: string; bytes: string };
  routine?: number;
  view?: string;
  at?: number;
}

export function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text);
}

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}

async function through(bytes: Uint8Array, stream: GenericTransformStream, most: number): Promise<Uint8Array> {
  const writer = stream.writable.getWriter();
  const written = writer.write(bytes).then(() => writer.close());
  // Reading reports the error; this only keeps it from being reported twice.
  written.catch(() => undefined);
  const reader = (stream.readable as ReadableStream<Uint8Array>).getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) throw new Error("the address unpacks to more than any state has");
    chunks.push(value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

export async function pack(state: State): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const packed = await through(bytes, new CompressionStream("deflate-raw"), 1 << 28);
  return base64(packed).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

export async function unpack(text: string): Promise<State> {
  const packed = fromBase64(text.replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = await through(packed, new DecompressionStream("deflate-raw"), 1 << 25);
  return JSON.parse(new TextDecoder().decode(bytes)) as State;
}
