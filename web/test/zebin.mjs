// A container of compiled programs, as far as the explorer looks at it.

/** An ELF file with these sections: type and content by name. */
export function zebin(sections) {
  const names = Buffer.from(["", ...Object.keys(sections), ".shstrtab", ""].join("\0"));
  const list = [...Object.entries(sections), [".shstrtab", [3, names]]];
  const header = Buffer.alloc(64);
  header.write("\x7fELF\x02\x01\x01", "latin1");
  const heads = [Buffer.alloc(64)];
  let at = 64;
  for (const [name, [type, bytes]] of list) {
    const head = Buffer.alloc(64);
    head.writeUInt32LE(names.indexOf(`${name}\0`), 0);
    head.writeUInt32LE(type, 4);
    head.writeBigUInt64LE(BigInt(at), 24);
    head.writeBigUInt64LE(BigInt(bytes.length), 32);
    heads.push(head);
    at += bytes.length;
  }
  header.writeUInt16LE(0xff12, 16);
  header.writeUInt16LE(205, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(at), 40);
  for (const [place, value] of [[52, 64], [58, 64], [60, heads.length], [62, heads.length - 1]]) header.writeUInt16LE(value, place);
  return Buffer.concat([header, ...list.map(([, [, bytes]]) => bytes), ...heads]);
}
