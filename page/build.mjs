// Builds the page into the server's sources, where it is embedded; `--check` only compares.
//
// The output is committed, so that whoever builds the server needs no Node. Nothing in it depends on
// when or where it was built. The server compresses it and names it by its hash.

import { readFile, writeFile, mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const target = here("../crates/server/src/page/");
/** What a browser may have to fetch, in bytes as it goes over the wire. */
const BUDGET = 100_000;

const built = await build({
  entryPoints: { page: here("src/main.tsx") },
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  banner: { js: "/* Semel's page. With Preact and its signals, (c) Jason Miller and the Preact Team, under the MIT licence. */" },
  charset: "utf8",
  absWorkingDir: here("."),
  outdir: target,
  write: false,
});
const files = built.outputFiles.map((file) => [file.path.slice(target.length), Buffer.from(file.contents)]);
files.push(["index.html", await readFile(here("src/index.html"))]);

const check = process.argv.includes("--check");
const stale = [];
await mkdir(target, { recursive: true });
for (const [name, contents] of files) {
  const before = await readFile(target + name).catch(() => null);
  if (before?.equals(contents)) continue;
  stale.push(name);
  if (!check) await writeFile(target + name, contents);
}
const size = files.reduce((sum, [, contents]) => sum + gzipSync(contents, { level: 9 }).length, 0);
console.log(`${files.map(([name]) => name).join(", ")}: ${size} bytes gzipped of ${BUDGET}`);
if (size > BUDGET) {
  console.error("the page is over its budget");
  process.exit(1);
}
if (check && stale.length > 0) {
  console.error(`not as its sources say: ${stale.join(", ")}; run \`npm run build\` in the folder page and commit`);
  process.exit(1);
}
