// Files that are opened, dropped and saved: of every kind, damaged, large.
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { zebin } from "./zebin.mjs";

/** The tests, by their names, with what `run.mjs` gives to all. */
export const files = ({ page, open, message, line, tap, content, example, shot, fixtures, dist }) => ({
  async "saves what was opened, and what was edited"() {
    const p = await page();
    const saved = async (button) => {
      const [download] = await Promise.all([p.waitForEvent("download"), p.click(button)]);
      return [download.suggestedFilename(), await readFile(await download.path())];
    };
    const object = await readFile(join(fixtures, "objects/vecadd_f32_skl_v41.isa"));
    await open(p, "objects/vecadd_f32_skl_v41.isa");
    await message(p, /Opened vecadd/);
    assert.deepEqual(await saved("#save-object"), ["vecadd_f32_skl_v41.isa", object]);
    const [, text] = await saved("#save-text");
    await p.setInputFiles("#file", { name: "again.visaasm", mimeType: "", buffer: text });
    await message(p, /Opened again/);
    assert.deepEqual((await saved("#save-object"))[1], object);
    // Lines that end with two characters, and signs of several bytes: places are right, and saving keeps them.
    const program = await readFile(join(fixtures, "programs/loops.visaasm"), "utf8");
    const windows = `// é𝄞\n${program}`.replaceAll("\n", "\r\n");
    await p.setInputFiles("#file", { name: "windows.visaasm", mimeType: "", buffer: Buffer.from(windows) });
    await message(p, /Opened windows/);
    const add = await line(p, "add (M1, 16) STEPS");
    assert.equal(await add.locator(".t-mnemonic").textContent(), "add");
    assert.equal((await saved("#save-text"))[1].toString(), windows);
    await add.click({ position: { x: 50, y: 6 } });
    await p.waitForSelector(".item.current:has-text('opcode')");
    await p.keyboard.press("End");
    await p.keyboard.type(" // 𝄞");
    await message(p, /Assembles/);
    const [, edited] = await saved("#save-text");
    assert.equal(edited.toString().replace(" // 𝄞", ""), windows);
    await p.context().close();
  },
  async "the first and the last line are edited, and 20,000 lines pasted"() {
    const p = await page();
    await open(p, "programs/loops.visaasm");
    await message(p, /Opened loops/);
    await content(p).click();
    await p.keyboard.press("Control+Home");
    await p.keyboard.type("// first");
    await p.keyboard.press("Enter");
    await message(p, /Assembles/);
    await p.keyboard.press("Control+End");
    await p.keyboard.press("Enter");
    await p.keyboard.type("// last");
    await message(p, /Assembles/);
    await p.keyboard.press("Backspace");
    await message(p, /Assembles/);
    await tap(p, "add (M1, 16) STEPS");
    await p.keyboard.press("End");
    const lines = "\r\n    add (M1, 16) STEPS(0,0)<1> STEPS(0,0)<1;1,0> 0x1:ud".repeat(20_000);
    await p.evaluate((text) => {
      const data = new DataTransfer();
      data.setData("text/plain", text);
      const target = document.querySelector("#text").shadowRoot.querySelector(".cm-content");
      target.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }, lines);
    await message(p, /Assembles: \d{6,} bytes/);
    await p.keyboard.press("Control+z");
    await message(p, /Assembles: \d{1,5} bytes/);
    await p.context().close();
  },
  async "opens what is dropped: a case, a folder of dumps, a zebin"() {
    const folder = await mkdtemp(join(tmpdir(), "visakit-"));
    const drop = async (p, files, x = 600, y = 300) => {
      const client = await p.context().newCDPSession(p);
      for (const type of ["dragEnter", "dragOver", "drop"]) {
        await client.send("Input.dispatchDragEvent", { type, x, y, data: { items: [], files, dragOperationsMask: 1 } });
      }
    };
    try {
      const p = await page();
      await drop(p, [join(fixtures, "cases/partial_groups")]);
      await message(p, /Opened k.isa/);
      await p.waitForSelector("#view-run .argument");
      assert.equal(await p.inputValue('[name="global"]'), "60 3 1");
      await p.click("#run-end");
      await p.waitForFunction(() => /Ended/.test(document.querySelector(".run-status").textContent));
      // Two kernels, with the metadata of one of them.
      const dump = join(folder, "dump");
      await mkdir(dump);
      for (const name of ["blur.dg2.visaasm", "blur.dg2.zeinfo", "sha256.acm-g10.visaasm"]) {
        await copyFile(join(fixtures, "kernels", name), join(dump, name));
      }
      await drop(p, [dump]);
      await p.waitForSelector("dialog[open] .gallery button:has-text('blur')");
      await p.locator("dialog .gallery button", { hasText: "blur" }).click();
      await message(p, /Opened blur.visaasm/);
      await p.click("#tab-run");
      await p.waitForSelector("#view-run .argument");
      const text = await readFile(join(fixtures, "kernels/blur.dg2.visaasm"));
      const zeinfo = await readFile(join(fixtures, "kernels/blur.dg2.zeinfo"));
      await writeFile(join(folder, "program.zebin"), zebin({ ".ze_info": [0xff000011, zeinfo], ".visaasm.blur": [0xff000013, text] }));
      await drop(p, [join(folder, "program.zebin")]);
      await message(p, /Opened program.zebin/);
      await p.waitForSelector("#view-run .argument");
      // A text with its metadata, and an object and a text at once, which are compared.
      await drop(p, [join(fixtures, "kernels/blur.dg2.visaasm"), join(fixtures, "kernels/blur.dg2.zeinfo")]);
      await message(p, /Opened blur.dg2.visaasm/);
      await drop(p, [join(fixtures, "kernels/sha256.pvc.visaasm"), join(fixtures, "objects/vecadd_f32_skl_v41.isa")]);
      await message(p, /Opened vecadd/);
      await p.waitForSelector("#view-diff:not([hidden]) strong");
      // A text that is dropped onto the text replaces it: no part of it is inserted, not later either.
      for (const times of [1, 2, 3]) {
        const before = await p.locator("#text").boundingBox();
        await drop(p, [join(fixtures, "programs/loops.visaasm")], before.x + 200, before.y + 20 + times);
        await message(p, /Opened loops.visaasm/);
        await p.waitForTimeout(200);
        assert.match(await p.textContent("#message"), /Opened loops.visaasm/);
        await open(p, "objects/vecadd_f32_skl_v41.isa");
        await message(p, /Opened vecadd/);
      }
      await p.context().close();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  async "damaged and large files are shown"() {
    const p = await page();
    const whole = await readFile(join(fixtures, "objects/vecadd_f32_skl_v41.isa"));
    for (const length of [4, 5, 40, 1500, 2457]) {
      await p.setInputFiles("#file", { name: `cut${length}.isa`, mimeType: "", buffer: whole.subarray(0, length) });
      await message(p, new RegExp(`cut${length}.isa`));
      await p.waitForFunction(() => !document.querySelector("#message").textContent.includes("panicked"));
    }
    await p.setInputFiles("#file", { name: "cut.isa", mimeType: "", buffer: whole.subarray(0, 1500) });
    await message(p, /damaged/);
    await p.waitForSelector("#bytes .byte");
    for (const [name, buffer] of [["junk.isa", Buffer.from([0, 1, 2])], ["zeros.isa", Buffer.alloc(100_000)], ["zeros.bin", Buffer.alloc(40 << 20)]]) {
      await p.setInputFiles("#file", { name, mimeType: "", buffer });
      await message(p, new RegExp(`${name} is neither an object`));
    }
    // An empty file is an empty text; the page goes on.
    await p.setInputFiles("#file", { name: "empty.visaasm", mimeType: "", buffer: Buffer.alloc(0) });
    await message(p, /empty|Opened/);
    await open(p, "objects/vecadd_f32_skl_v41.isa");
    await message(p, /Opened vecadd_f32_skl_v41.isa: version 4.1, 2458 bytes/);
    await p.context().close();
  },
  async "is small"() {
    const assets = join(dist, "assets");
    const modules = (await readdir(assets)).filter((name) => name.endsWith(".wasm"));
    assert.equal(modules.length, 1);
    const packed = gzipSync(await readFile(join(assets, modules[0]))).length;
    console.log(`  the module: ${(packed / 1e6).toFixed(2)} MB packed`);
    assert.ok(packed < 2.5e6, `${packed} bytes packed`);
  },
  async "opens an object of 10 MB"() {
    const p = await page();
    // A text that makes such an object, saved by the page itself.
    const lines = Array.from({ length: 330_000 }, (_, n) => `${n % 5000 ? "" : `L${n}:\n`}    mad (M1, 16) V${32 + (n % 97)}(0,0)<1> V${32 + (n % 89)}(0,0)<1;1,0> V33(0,0)<1;1,0> V${32 + (n % 7)}(0,0)<1;1,0>`);
    const declared = Array.from({ length: 100 }, (_, n) => `.decl V${32 + n} v_type=G type=f num_elts=16 align=GRF`);
    const text = [".version 4.1", '.kernel "big"', ...declared, ...lines, "    ret (M1, 1)", ""].join("\n");
    const folder = await mkdtemp(join(tmpdir(), "visakit-"));
    try {
      await writeFile(join(folder, "big.visaasm"), text);
      await p.setInputFiles("#file", join(folder, "big.visaasm"));
      await message(p, /Opened big.visaasm/);
      console.log(`  a text of ${(text.length / 1e6).toFixed(1)} MB: ${await p.evaluate(() => document.body.dataset.opened)} ms`);
      const [download] = await Promise.all([p.waitForEvent("download"), p.click("#save-object")]);
      const object = join(folder, "big.isa");
      await download.saveAs(object);
      const { size } = await stat(object);
      assert.ok(size > 10e6, `${size}`);
      const times = [];
      for (let n = 0; n < 5; n++) {
        await example(p, "Every byte has a name");
        await p.evaluate(() => {
          delete document.body.dataset.opened;
          window.longest = 0;
          new PerformanceObserver((list) => list.getEntries().forEach((e) => (window.longest = Math.max(window.longest, e.duration)))).observe({ type: "longtask" });
        });
        await p.setInputFiles("#file", object);
        await message(p, /Opened big.isa.*shown only/);
        await p.waitForSelector(".cm-line .t-mnemonic");
        await p.waitForSelector("#bytes .byte.c-text");
        times.push([Number(await p.evaluate(() => document.body.dataset.opened)), await p.evaluate(() => Math.round(window.longest))]);
      }
      times.sort((a, b) => a[0] - b[0]);
      console.log(`  an object of ${(size / 1e6).toFixed(1)} MB: median ${times[2][0]} ms, the page busy for at most ${Math.max(...times.map((t) => t[1]))} ms at a time`);
      // Far in, the panes follow each other as they do in small objects.
      await p.evaluate(() => (document.querySelector("#text").shadowRoot.querySelector(".cm-scroller").scrollTop = 4_000_000));
      await p.waitForSelector(".cm-line .t-mnemonic");
      await p.locator(".cm-line", { hasText: "mad (M1" }).nth(20).click({ position: { x: 50, y: 6 } });
      await p.waitForSelector(".item.current:has-text('opcode')");
      await p.waitForSelector(".byte.selected");
      assert.match(await p.locator("#path").textContent(), /instructions › instruction \d{5,} › opcode = 0x5c? ?.*mad|mad/i);
      await shot(p, "large");
      for (const view of ["flow", "declarations", "lines", "statistics"]) await p.click(`#tab-${view}`);
      await p.waitForSelector("#view-statistics meter");
      assert.ok(!(await p.locator("#message.wrong").count()) || /shown only/.test(await p.locator("#message").textContent()));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    await p.context().close();
  },
});
