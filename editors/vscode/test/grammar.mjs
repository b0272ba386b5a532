// What the grammar calls the words of some lines.

import assert from "node:assert";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(import.meta.url);
const oniguruma = require("vscode-oniguruma");
const { Registry, INITIAL, parseRawGrammar } = require("vscode-textmate");

const wasm = readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.length));
const path = new URL("../syntaxes/visa.tmLanguage.json", import.meta.url);
const registry = new Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async () => parseRawGrammar(readFileSync(path, "utf8"), path.pathname),
});
const grammar = await registry.loadGrammar("source.visa");

/** The words of a line that have a scope of their own, with it. */
function scopes(text) {
  let state = INITIAL;
  const found = [];
  for (const line of text.split("\n")) {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    for (const token of tokens) {
      const scope = token.scopes.at(-1);
      const word = line.slice(token.startIndex, token.endIndex).trim();
      if (scope !== "source.visa" && word && !scope.startsWith("punctuation")) {
        found.push([word, scope.replace(/\.visa$/, "")]);
      }
    }
  }
  return found;
}

assert.deepStrictEqual(scopes("    (!P1.any) add.sat (M1_NM, 16) V32(0,0)<1> %r0(0,1)<1;1,0> 0x2a:ud // $1"), [
  ["!", "keyword.operator"],
  ["P1", "variable.parameter"],
  ["any", "keyword.operator"],
  ["add.sat", "keyword.mnemonic"],
  ["M1_NM", "constant.language.mask"],
  ["16", "constant.numeric"],
  ["V32", "variable.other"],
  ["0", "constant.numeric"],
  ["0", "constant.numeric"],
  ["1", "constant.numeric"],
  ["%r0", "variable.language"],
  ["0", "constant.numeric"],
  ["1", "constant.numeric"],
  ["1", "constant.numeric"],
  ["1", "constant.numeric"],
  ["0", "constant.numeric"],
  ["0x2a", "constant.numeric"],
  ["ud", "storage.type"],
  ["// $1", "comment.line.double-slash"],
]);
assert.deepStrictEqual(scopes(".decl V1 v_type=G type=ud num_elts=8"), [
  [".decl", "keyword.control.directive"],
  ["V1", "variable.other"],
  ["v_type", "variable.other.property"],
  ["G", "variable.other"],
  ["type", "variable.other.property"],
  ["ud", "storage.type"],
  ["num_elts", "variable.other.property"],
  ["8", "constant.numeric"],
]);
assert.deepStrictEqual(scopes("L1.x_3:\n/* a\nb */ ret (M1, 1)\n//@ dialect x").slice(0, 3), [
  ["L1.x_3", "entity.name.label"],
  ["/*", "comment.block"],
  ["a", "comment.block"],
].map(([word, scope]) => [word, scope]));
assert.ok(scopes('.kernel "a \\" b"').some(([word, scope]) => word === "\\\"" && scope === "constant.character.escape"));
console.log("the grammar calls words what they are");
