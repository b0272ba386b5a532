// The explorer in a real browser: opens, edits, assembles with a fault, runs, steps, compares, shares; asks axe whether
// everybody can use it, and watches that no other host is asked. Needs web/dist (`cargo xtask web`) and Chromium.
//
//   node web/test/run.mjs [--shots FOLDER] [--explore VISAKIT]
import { createServer } from "node:http";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { spawn } from "node:child_process";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import assert from "node:assert/strict";
import { files } from "./files.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "../dist");
const fixtures = join(here, "../../fixtures");
const option = (name) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const notRun = (why) => {
  console.log(`NOT RUN: the explorer in a browser, as ${why}`);
  process.exit(process.env.VISAKIT_NEEDS_BROWSER ? 1 : 0);
};

const chromium = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((p) => p && existsSync(p));
if (!chromium) notRun("there is no Chromium (apt-get install chromium, or CHROMIUM=path)");
if (!existsSync(join(dist, "index.html"))) notRun("web/dist is not there (cargo xtask web)");
let playwright;
try {
  playwright = await import("playwright-core");
} catch {
  notRun("playwright-core is not installed (npm ci --prefix web)");
}

const kinds = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };
const server = createServer(async (request, response) => {
  const path = normalize(new URL(request.url, "http://x").pathname).replace(/^\/sub\/?/, "") || "index.html";
  try {
    const bytes = await readFile(join(dist, path));
    response.writeHead(200, { "content-type": kinds[extname(path)] ?? "application/octet-stream" }).end(bytes);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
// In a folder below the root, as static hosts have it.
const address = `http://127.0.0.1:${server.address().port}/sub/`;

const browser = await playwright.chromium.launch({ executablePath: chromium, args: ["--no-sandbox"] });
const shots = option("--shots");
if (shots) await mkdir(shots, { recursive: true });
const foreign = [];
const complaints = [];
const axe = await readFile(join(here, "../node_modules/axe-core/axe.min.js"), "utf8");

async function page(options = {}, start = address) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, ...options });
  await context.grantPermissions(["clipboard-write", "clipboard-read"]).catch(() => {});
  const page = await context.newPage();
  page.setDefaultTimeout(Number(process.env.VISAKIT_BROWSER_PATIENCE ?? 60_000));
  const own = new URL(start).origin;
  page.on("request", (r) => {
    if (!r.url().startsWith(own) && !/^(data|blob):/.test(r.url())) foreign.push(r.url());
  });
  page.on("console", (m) => m.type() === "error" && complaints.push(m.text()));
  page.on("pageerror", (e) => complaints.push(String(e)));
  await page.goto(start);
  await page.waitForSelector("body[data-ready]");
  return page;
}

async function accessible(page, what) {
  // Not as a script element, which the policy of the page refuses.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const grave = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
  assert.deepEqual(grave.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target} ${n.any[0]?.message ?? ""}`).join(" | ")}`), [], what);
}
const shot = async (page, name) => shots && page.screenshot({ path: join(shots, `${name}.png`) });
const open = (page, ...paths) => page.setInputFiles("#file", paths.map((p) => join(fixtures, p)));
const message = (page, pattern) => page.waitForFunction((p) => new RegExp(p).test(document.querySelector("#message").textContent), pattern.source);
const content = (page) => page.locator(".cm-content");
/** A line of the text, scrolled to: only lines in sight are elements. */
async function line(page, text) {
  const found = page.locator(".cm-line", { hasText: text }).first();
  for (let top = 0; top < 40_000; top += 300) {
    if (await found.count()) return found;
    await page.evaluate((top) => (document.querySelector("#text").shadowRoot.querySelector(".cm-scroller").scrollTop = top), top);
    await page.waitForTimeout(60);
  }
  throw new Error(`no line with ${text}`);
}
/** Chooses a line at its beginning, so that nothing scrolls sideways. */
const tap = async (page, text) => (await line(page, text)).click({ position: { x: 50, y: 6 } });
/** Where the views are looked at. */
const screens = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  "small-light": { colorScheme: "light", viewport: { width: 390, height: 844 }, hasTouch: true },
  "small-dark": { colorScheme: "dark", viewport: { width: 390, height: 844 }, hasTouch: true },
};
async function example(page, title) {
  await page.click("#gallery");
  const button = page.locator("dialog .gallery button", { hasText: title });
  const lesson = await button.locator("span").textContent();
  await button.click();
  await page.waitForFunction((l) => document.querySelector("#message").textContent === l, lesson);
}

const tests = {
  async "opens an object, and panes follow each other"() {
    const p = await page();
    await open(p, "objects/vecadd_f32_skl_v41.isa");
    await message(p, /Opened vecadd_f32_skl_v41.isa: version 4.1, 2458 bytes/);
    assert.equal(await p.locator("#bytes .byte").first().textContent(), "43");
    await p.waitForSelector(".byte.c-text, .byte.c-number");
    // Bytes to tree and path.
    await p.locator("#byte-0").click();
    await p.waitForSelector(".item.current:has-text('magic')");
    assert.match(await p.locator("#path").textContent(), /magic/);
    // Text to bytes, tree and graph.
    await tap(p, "mul (M1_NM, 1)");
    await p.waitForSelector(".byte.selected");
    await p.waitForSelector(".item.current:has-text('opcode')");
    await p.waitForSelector(".flow text.selected");
    await shot(p, "object");
    // Graph to text.
    await p.locator(".flow text", { hasText: "ret (M1" }).first().click();
    await p.waitForSelector(".cm-linked:has-text('ret')");
    // Tree to bytes, by keys.
    await p.locator("#tree .rows").focus();
    await p.keyboard.press("Home");
    await p.waitForSelector(".item.current:has-text('header')");
    await p.keyboard.press("ArrowRight");
    await p.waitForSelector(".item.current:has-text('magic')");
    await accessible(p, "object");
    await p.context().close();
  },
  async "assembles while typing, marks faults, and undoes"() {
    const p = await page();
    await open(p, "programs/loops.visaasm");
    await message(p, /Opened loops/);
    await tap(p, "add (M1, 16) STEPS");
    await p.keyboard.press("Home");
    await p.keyboard.type("x");
    await message(p, /1 fault/);
    await p.waitForSelector(".cm-lintRange-error");
    await p.keyboard.press("Backspace");
    await message(p, /Assembles/);
    const before = await p.evaluate(() => document.querySelector("#message").textContent);
    await p.keyboard.press("End");
    await p.keyboard.press("Enter");
    await p.keyboard.type("add (M1, 16) STEPS(0,0)<1> STEPS(0,0)<1;1,0> 0x1:ud");
    await p.keyboard.press("Escape");
    await p.waitForFunction((b) => /Assembles/.test(document.querySelector("#message").textContent) && document.querySelector("#message").textContent !== b, before);
    await p.keyboard.press("Control+z");
    await p.waitForFunction(() => /Assembles/.test(document.querySelector("#message").textContent));
    await p.click("#tab-findings");
    await shot(p, "text");
    await example(p, "Faults where they are");
    await p.waitForSelector(".finding.error");
    assert.ok((await p.locator(".finding.error").count()) >= 3);
    await shot(p, "findings");
    await accessible(p, "findings");
    await p.locator("button.fix").first().click();
    await message(p, /fault/);
    await p.context().close();
  },
  async "tells what a word means, proposes words, and goes to declarations"() {
    const p = await page();
    await open(p, "programs/loops.visaasm");
    await message(p, /Opened loops/);
    const add = await line(p, "add (M1, 16) STEPS");
    await add.locator(".t-mnemonic").hover();
    await p.waitForSelector(".cm-tooltip-hover:has-text('Adds two sources')");
    await shot(p, "hover");
    await add.locator("text=STEPS").first().hover();
    await p.waitForSelector(".cm-tooltip-hover:has-text('General variable')");
    // To the declaration.
    await add.locator("text=STEPS").first().click();
    await p.keyboard.press("F12");
    await p.waitForSelector(".cm-activeLine:has-text('.decl STEPS')");
    // Names that are declared, and the one that is chosen.
    await tap(p, "add (M1, 16) STEPS");
    await p.keyboard.press("End");
    await p.keyboard.press("Enter");
    await p.keyboard.type("add (M1, 16) STE");
    await p.keyboard.press("Control+Space");
    await p.waitForSelector(".cm-tooltip-autocomplete li:has-text('STEPS')");
    await shot(p, "completion");
    await p.waitForTimeout(100);
    await p.keyboard.press("Enter");
    await p.waitForSelector(".cm-activeLine:has-text('add (M1, 16) STEPS')");
    await p.context().close();
  },
  async "edits a field of the tree"() {
    const p = await page();
    await open(p, "objects/vecadd_f32_skl_v41.isa");
    await message(p, /Opened/);
    await tap(p, "shl (M1, 16)");
    await p.waitForSelector(".item.current:has-text('opcode')");
    const item = p.locator(".item.current + .item", { hasText: "exec_size" });
    await item.click();
    await p.waitForSelector(".item.current:has-text('exec_size')");
    await p.keyboard.press("F2");
    const input = p.locator("input.edit");
    await p.waitForFunction(() => document.querySelector("input.edit")?.value !== "");
    assert.equal(await input.inputValue(), "04");
    await input.fill("03");
    await input.press("Enter");
    await message(p, /Assembles/);
    await p.waitForSelector(".cm-line:has-text('shl (M1, 8)')");
    await p.keyboard.press("Control+z");
    await p.waitForFunction(() => !document.querySelector("#text").shadowRoot.textContent.includes("shl (M1, 8)"));
    await p.context().close();
  },
  async "runs, steps forwards and back, and shows lanes and heat"() {
    const p = await page();
    await example(p, "Lanes part and meet");
    await p.waitForSelector("#run-start");
    await p.click("#run-start");
    await p.waitForFunction(() => /Step 0/.test(document.querySelector(".run-status").textContent));
    const at = () => p.locator(".run-status").textContent();
    for (let n = 1; n <= 6; n++) {
      await p.click("#run-step");
      await p.waitForFunction((n) => new RegExp(`Step ${n},`).test(document.querySelector(".run-status").textContent), n);
    }
    const sixth = await at();
    // Half of the lanes are on.
    assert.equal(await p.locator(".thread.current .lane.on").count(), 8);
    await p.waitForSelector(".cm-ran");
    await p.click("#run-step");
    await p.waitForFunction(() => /Step 7,/.test(document.querySelector(".run-status").textContent));
    await p.click("#run-back");
    await p.waitForFunction(() => /Step 6,/.test(document.querySelector(".run-status").textContent));
    assert.equal(await at(), sixth);
    await p.selectOption("#run-heat", "executions");
    await p.waitForSelector(".bar.hot");
    await shot(p, "run");
    await p.click("#run-end");
    await p.waitForFunction(() => /Ended/.test(document.querySelector(".run-status").textContent));
    const row = await p.locator(".values tr", { hasText: "RESULT" }).first().textContent();
    assert.match(row, /RESULT ud12201440166018801101001121201141401 ?16/);
    await accessible(p, "run");
    await p.context().close();
  },
  async "runs a kernel on a grid"() {
    const p = await page();
    await example(p, "A kernel on a grid");
    await p.waitForSelector(".argument");
    await p.click("#run-start");
    await p.waitForFunction(() => /Step 0, group 1 of 3/.test(document.querySelector(".run-status").textContent));
    await p.click("#run-end");
    await p.waitForFunction(() => /Ended/.test(document.querySelector(".run-status").textContent));
    const expected = await readFile(join(fixtures, "cases/partial_groups/expect0.bin"));
    const numbers = Array.from({ length: 8 }, (_, n) => expected.readUInt32LE(n * 4)).join(" ");
    await p.waitForFunction((n) => document.querySelector(".memory .elements")?.textContent.startsWith(n), numbers);
    await shot(p, "grid");
    await p.context().close();
  },
  async "compares two files"() {
    const p = await page();
    await example(p, "The same kernel for two devices");
    await p.waitForSelector(".diff.changed, .diff.added");
    await p.click("text=Next difference");
    await p.waitForSelector(".diff.current");
    await shot(p, "compare");
    await accessible(p, "compare");
    await p.context().close();
  },
  async "puts the state into the address"() {
    const p = await page();
    await example(p, "What is live where");
    await p.waitForSelector(".decl");
    await tap(p, "add (M1, 16) H");
    await p.keyboard.press("End");
    await p.keyboard.type(" // shared");
    await message(p, /Assembles/);
    await p.keyboard.press("Home");
    await shot(p, "declarations");
    await accessible(p, "declarations");
    await p.click("#share");
    await message(p, /The address holds this state/);
    const link = p.url();
    assert.ok(link.length < 3000, `${link.length} characters`);
    await p.context().close();
    const q = await page({}, link);
    await q.waitForSelector(".cm-line:has-text('// shared')");
    assert.equal(await q.locator("#tab-declarations").getAttribute("aria-selected"), "true");
    await q.context().close();
  },
  async "opens every example without a fault of its own"() {
    const p = await page();
    await p.click("#gallery");
    const count = await p.locator("dialog .gallery button").count();
    assert.equal(count, 12);
    await accessible(p, "gallery");
    await p.keyboard.press("Escape");
    const views = ["flow", "declarations", "lines", "statistics", "findings", "run", "diff"];
    for (let n = 0; n < count; n++) {
      await p.click("#gallery");
      const button = p.locator("dialog .gallery button").nth(n);
      const lesson = await button.locator("span").textContent();
      await button.click();
      await p.waitForFunction((l) => document.querySelector("#message").textContent === l, lesson);
      for (const view of views) await p.click(`#tab-${view}`);
      await p.waitForTimeout(100);
      assert.ok(!(await p.locator("#message.wrong").count()), await p.locator("#message").textContent());
      if (n === 5) await p.click("#tab-flow").then(() => shot(p, "flow"));
      if (n === 7) await p.click("#tab-lines").then(() => shot(p, "source"));
      if (n === 10) await p.click("#tab-statistics").then(() => shot(p, "statistics"));
    }
    await p.context().close();
  },
  async "everybody can use each view, in the light and in the dark, on a desk and on a telephone"() {
    for (const [name, options] of Object.entries(screens)) {
      const p = await page(options);
      const small = name.startsWith("small");
      const part = async (id) => small && (await p.click(`#switch-${id}`));
      await open(p, "objects/uniform_switch_tgllp_v36.isa");
      await message(p, /Opened uniform/);
      await tap(p, "goto (M1");
      await shot(p, `${name}-text`);
      await accessible(p, `${name}: text`);
      await part("left");
      await p.waitForSelector("#bytes .byte.selected");
      await shot(p, `${name}-bytes`);
      await accessible(p, `${name}: bytes`);
      await part("right");
      for (const view of ["flow", "declarations", "statistics", "findings"]) {
        await p.click(`#tab-${view}`);
        await p.waitForSelector(`#view-${view}:not([hidden])`);
        await shot(p, `${name}-${view}`);
        await accessible(p, `${name}: ${view}`);
      }
      // What examples show: source, run with a finding, comparison.
      for (const [title, view] of [["From line to instruction", "lines"], ["A kernel on a grid", "run"], ["The same kernel for two", "diff"], ["Faults where", "findings"]]) {
        await example(p, title);
        await part("right");
        await p.waitForSelector(`#view-${view}:not([hidden])`);
        if (view === "run") {
          await p.fill('[name="count-0"]', "100");
          await p.fill('[name="values-0"]', "");
          await p.click("#run-check");
          await p.waitForSelector(".checked .finding.error");
        }
        if (view === "diff") await p.waitForSelector(".diff.changed");
        await shot(p, `${name}-${view}`);
        await accessible(p, `${name}: ${view}`);
        // Nothing is cut off at the side.
        const wide = await p.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${name}: ${view} is ${wide} pixels too wide`);
      }
      await p.click("#help");
      await accessible(p, `${name}: keys`);
      await p.context().close();
    }
  },
  async "everything by keys"() {
    const p = await page();
    await example(p, "Lanes part and meet");
    const focused = () => p.evaluate(() => document.activeElement.id || document.activeElement.parentElement?.id);
    await p.keyboard.press("Alt+r");
    await p.waitForFunction(() => /Step 0/.test(document.querySelector(".run-status").textContent));
    for (const key of ["Alt+n", "Alt+n", "Alt+b"]) await p.keyboard.press(key);
    await p.waitForFunction(() => /Step 1,/.test(document.querySelector(".run-status").textContent));
    await p.keyboard.press("Alt+e");
    await p.waitForFunction(() => /Ended/.test(document.querySelector(".run-status").textContent));
    for (const [key, view] of ["flow", "declarations", "lines", "statistics", "findings", "run", "diff"].map((v, n) => [`Alt+${n + 1}`, v])) {
      await p.keyboard.press(key);
      await p.waitForSelector(`#tab-${view}[aria-selected="true"]`);
    }
    await p.keyboard.press("Alt+y");
    assert.equal(await focused(), "bytes");
    await p.keyboard.press("End");
    await p.keyboard.press("ArrowRight");
    await p.waitForSelector("#byte-16.caret");
    await p.keyboard.press("Alt+u");
    assert.equal(await focused(), "tree");
    await p.keyboard.press("Home");
    await p.keyboard.press("ArrowRight");
    await p.waitForSelector(".item:has-text('magic')");
    await p.keyboard.press("Alt+t");
    assert.equal(await focused(), "text");
    await p.keyboard.press("Control+Home");
    for (let n = 0; n < 3; n++) await p.keyboard.press("ArrowDown");
    await p.keyboard.press("Alt+1");
    await p.locator(".flow").focus();
    await p.keyboard.press("ArrowDown");
    await p.waitForSelector(".flow .block.selected");
    await p.keyboard.press("f");
    await p.keyboard.press("?");
    await p.waitForSelector("dialog[open] .keys");
    await p.keyboard.press("Escape");
    await p.keyboard.press("Alt+g");
    await p.waitForSelector("dialog[open] .gallery");
    // Every control can be come to.
    await p.keyboard.press("Escape");
    const seen = new Set();
    await p.evaluate(() => document.activeElement.blur());
    for (let n = 0; n < 60; n++) {
      await p.keyboard.press("Tab");
      seen.add(await focused());
    }
    for (const id of ["open", "gallery", "save-object", "share", "theme", "help", "bytes", "tree", "tab-flow"]) assert.ok(seen.has(id), `${id} is not come to by Tab: ${[...seen]}`);
    await p.context().close();
  },
  async "checkers lead to the moment of what they find"() {
    const p = await page();
    await example(p, "A kernel on a grid");
    await p.waitForSelector(".argument");
    await p.fill('[name="count-0"]', "100");
    await p.fill('[name="values-0"]', "");
    await p.click("#run-check");
    await p.waitForSelector(".checked .finding:has-text('out-of-bounds')");
    await p.locator(".checked .finding").first().click();
    await p.waitForSelector(".cm-ran");
    await p.waitForFunction(() => /Fault: .*outside of every buffer/.test(document.querySelector(".run-status").textContent));
    await shot(p, "check");
    const at = () => p.locator(".run-status").textContent();
    const here = await at();
    await p.click("#run-back");
    await p.waitForFunction((h) => document.querySelector(".run-status").textContent !== h, here);
    assert.doesNotMatch(await at(), /Fault/);
    await p.click("#run-step");
    await p.click("#run-step");
    await p.waitForFunction((h) => document.querySelector(".run-status").textContent === h, here);
    // With a buffer that is large enough nothing is found, and the whole run has counts.
    await p.fill('[name="count-0"]', "180");
    await p.click("#run-start");
    await p.click("#run-check");
    await p.waitForSelector(".checked h3:has-text('nothing found')");
    for (const heat of ["executions", "cycles", "idle"]) {
      await p.selectOption("#run-heat", heat);
      await p.waitForFunction((h) => document.body.dataset.heat === h, heat);
    }
    await p.context().close();
  },
  async "a keystroke in 2,000 instructions reaches all panes soon"() {
    const p = await page();
    const kernel = await readFile(join(fixtures, "programs/loops.visaasm"), "utf8");
    const line = "    add (M1, 16) STEPS(0,0)<1> STEPS(0,0)<1;1,0> 0x1:ud\n";
    const text = kernel.replace("LOOP:\n", `LOOP:\n${line.repeat(2000)}`);
    await p.setInputFiles("#file", { name: "long.visaasm", mimeType: "", buffer: Buffer.from(text) });
    await message(p, /Opened long/);
    const times = [];
    await content(p).click();
    for (let n = 0; n < 9; n++) {
      await p.evaluate(() => delete document.body.dataset.latency);
      await p.keyboard.press("Control+End");
      await p.keyboard.type(" ");
      await p.waitForFunction(() => document.body.dataset.latency);
      times.push(Number(await p.evaluate(() => document.body.dataset.latency)));
    }
    times.sort((a, b) => a - b);
    console.log(`  from keystroke to all panes: median ${times[4]} ms, most ${times.at(-1)} ms`);
    await p.context().close();
  },
  ...files({ page, open, message, line, tap, content, example, shot, fixtures, dist }),
};

const explore = option("--explore");
if (explore) {
  tests["is served by `visakit explore`"] = async () => {
    const child = spawn(explore, ["explore", join(fixtures, "objects/vecadd_f32_skl_v41.isa"), "--web", dist], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const url = await new Promise((done, failed) => {
        child.stdout.once("data", (d) => done(String(d).split("\n")[0]));
        child.once("exit", (code) => failed(new Error(`ended with ${code}`)));
      });
      const p = await page({}, url);
      await message(p, /Opened vecadd_f32_skl_v41.isa/);
      const bare = await fetch(new URL("/", url));
      assert.equal(bare.status, 403);
      // Code is in sight although many declarations come before it.
      await p.waitForSelector(".cm-line:has-text('mul (M1_NM, 1)')");
      // The address is of this machine, so that a file holds the state.
      await tap(p, "shl (M1, 16)");
      await p.keyboard.press("End");
      await p.keyboard.type(" // shared");
      await message(p, /Assembles/);
      const [download] = await Promise.all([p.waitForEvent("download"), p.click("#share")]);
      assert.equal(download.suggestedFilename(), "vecadd_f32_skl_v41.explorer.json");
      const state = await readFile(await download.path());
      const q = await page();
      await q.setInputFiles("#file", { name: "theirs.explorer.json", mimeType: "", buffer: state });
      await q.waitForSelector(".cm-line:has-text('// shared')");
      await q.context().close();
      // Sources are compiled where there is a compiler, which takes one kernel of several, and says what is wrong.
      const source = "kernel void one(global int *a) { a[get_global_id(0)] += 1; }\nkernel void two(global int *a) { a[0] = 2; }\n";
      const give = (text) => p.setInputFiles("#file", { name: "k.cl", mimeType: "", buffer: Buffer.from(text) });
      await give(source);
      await p.waitForSelector("dialog[open] .gallery, #message.wrong");
      if (await p.locator("#message.wrong").count()) {
        const why = await p.locator("#message").textContent();
        assert.match(why, /ocloc/);
        console.log(`  NOT RUN: compiling in the explorer, as ${why}`);
      } else {
        await p.click("dialog .gallery button:has-text('two')");
        await message(p, /Opened two.visaasm/);
        await shot(p, "compiled");
        await p.click("#tab-run");
        await p.waitForSelector(".argument");
        await give("kernel void one(global int *a) { b = 1; }");
        await message(p, /undeclared identifier 'b'/);
      }
      await p.context().close();
    } finally {
      child.kill();
    }
  };
}

let failed = 0;
const wanted = option("--only");
for (const [name, test] of Object.entries(tests)) {
  if (wanted && !name.includes(wanted)) continue;
  const started = performance.now();
  complaints.length = 0;
  try {
    await test();
    assert.deepEqual(complaints, [], "the console");
    assert.deepEqual(foreign, [], "requests to other hosts");
    console.log(`ok    ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}\n${error.stack ?? error}\n${complaints.join("\n")}`);
    for (const context of browser.contexts()) {
      const [open] = context.pages();
      if (shots && open) await open.screenshot({ path: join(shots, `failed-${failed}.png`) }).catch(() => {});
      await context.close();
    }
  }
}
await browser.close();
server.close();
console.log(failed ? `${failed} tests failed` : "all tests of the explorer passed");
process.exit(failed ? 1 : 0);
