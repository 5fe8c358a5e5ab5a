// The page's pure parts, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const source = (path) => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

async function part(path) {
  const { outputFiles } = await build({ entryPoints: [source(path)], bundle: true, format: "esm", write: false, jsx: "automatic", jsxImportSource: "preact" });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

/** The same numbers on every run. */
function drawn(seed) {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
}

test("JSON keeps every digit, and refuses what is none", async () => {
  const { parse, print } = await part("json.ts");
  for (const text of ["9007199254740993", "0.10", "1e400", "-0", "[1, 2.50]", '{"a": null}', '"\\u0000\\ud800"']) assert.equal(print(parse(text)), text);
  assert.equal(print(parse('{"__proto__":{"x":1},"a":[{}]}')), '{"__proto__": {"x": 1}, "a": [{}]}');
  assert.equal({}.x, undefined);
  for (const text of ["", "{", "[1,]", "01", "'a'", '{"a" 1}', "1 2", "nul", '"\n"', "NaN"]) assert.throws(() => parse(text), /not JSON at line 1/);
});

test("a difference leads from one text to the other", async () => {
  const { diff } = await part("flow/diff.tsx");
  const draw = drawn(7);
  const text = () => Array.from({ length: draw(12) }, () => "abcd"[draw(4)]).join("\n");
  for (let round = 0; round < 500; round += 1) {
    const [before, after] = [text(), text()];
    const lines = diff(before, after);
    const side = (other) => lines.filter((line) => line.sign !== other).map((line) => line.text).join("\n");
    assert.equal(side("+"), before);
    assert.equal(side("-"), after);
  }
});

test("colours change no sign of a text", async () => {
  const { highlightLine } = await part("edit/highlight.ts");
  const signs = ["a", "key", ": ", ":", "- ", "#", " ", '"', "'", "${{ event.id }}", "${{", "{", "}", "[", ",", "24h", "true", "\\", "é"];
  const draw = drawn(11);
  for (let round = 0; round < 3000; round += 1) {
    const line = Array.from({ length: draw(12) }, () => signs[draw(signs.length)]).join("");
    assert.equal(highlightLine(line).map((piece) => piece.text).join(""), line);
  }
  const kinds = (line) => highlightLine(line).filter((piece) => piece.kind).map((piece) => `${piece.kind} ${piece.text}`);
  assert.deepEqual(kinds("  - id: say # why"), ["y-sign   - ", "y-name id", "y-sign :", "y-comment # why"]);
  assert.deepEqual(kinds('to: "${{ a }}"'), ["y-name to", "y-sign :", 'y-text "', "y-expression ${{ a }}", 'y-text "']);
});

test("what deceives is written out", async () => {
  const { plain, line } = await part("ui/text.tsx");
  assert.equal(plain("a\u202eb\u001b[1m\u200b\ud800"), "a\\u{202e}b\\u{1b}[1m\\u{200b}\\u{d800}");
  assert.equal(plain("שלום 😀\n\té"), "שלום 😀\n\té");
  assert.equal(line("a\nb"), "a\\nb");
});

test("the cursor's place is found by indentation", async () => {
  const { complete, pathTo } = await part("edit/complete.ts");
  const text = "name: x\nsteps:\n  - id: a\n    http:\n      post: y\n      ";
  const lines = text.split("\n");
  assert.deepEqual(pathTo(lines, lines.length - 1, 6), ["steps", "[]", "http"]);
  const step = { properties: { http: { properties: { json: { description: "What is sent." } } }, retry: {}, mode: { enum: ["fast", "slow"] } } };
  const root = { properties: { steps: { items: { $ref: "#/definitions/step" } } }, definitions: { step: { anyOf: [step] } } };
  assert.deepEqual(complete(text, text.length, root), { from: text.length, offers: [{ word: "json: ", about: "What is sent." }] });
  const second = "steps:\n  - id: a\n    mode: s";
  assert.deepEqual(complete(second, second.length, root)?.offers, [{ word: "slow", about: "" }]);
  assert.equal(complete("# steps", 7, root), null);
});

test("times keep their order on a shortened line", async () => {
  const { scale } = await part("run/scale.ts");
  const times = [0, 5, 6, 1000, 86_400_000];
  const { place } = scale(times, 0, 86_400_000, true);
  const placed = times.map(place);
  assert.deepEqual(placed, [...placed].sort((a, b) => a - b));
  assert.equal(placed[0], 0);
  assert.ok(Math.abs(placed.at(-1) - 100) < 1e-9);
  assert.ok(placed[2] > 0.2, "what is short stays visible");
});
