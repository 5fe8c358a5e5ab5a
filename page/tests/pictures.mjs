// Pictures of every page, for looking at and for the documents.

import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ADA, as, openAll } from "./support/all.mjs";
import { setUp } from "./support/people.mjs";
import { places } from "./support/places.mjs";
import { seed } from "./support/seed.mjs";

/** What the documents show, and how. */
const SHOWN = { overview: "light", run: "light", flow: "dark", "inbox-review": "light", edit: "dark" };
const WIDTHS = { wide: { width: 1280, height: 860 }, narrow: { width: 390, height: 844 } };

const forDocs = process.argv[2] === "--docs";
const folder = forDocs ? fileURLToPath(new URL("../../docs/page", import.meta.url)) : resolve(process.argv[2]);
await mkdir(folder, { recursive: true });

const all = await openAll();
try {
  await setUp(all);
  await seed(all.server, all.world);
  const paths = Object.entries(await places(all.server.api)).filter(([name]) => !forDocs || name in SHOWN);
  for (const [width, viewport] of Object.entries(WIDTHS).slice(0, forDocs ? 1 : 2)) {
    for (const colorScheme of ["light", "dark"]) {
      const { page, context } = await as(all, ADA, "/", { viewport, colorScheme, reducedMotion: "reduce" });
      for (const [name, path] of paths) {
        if (forDocs && SHOWN[name] !== colorScheme) continue;
        await page.goto(path);
        await page.waitForSelector("main h1");
        await page.waitForLoadState("load");
        await page.waitForSelector(".loading", { state: "detached" });
        await page.waitForSelector(".live.live", { state: width === "wide" ? "visible" : "attached" });
        if (/edit|flow$/.test(name)) await page.waitForSelector(".picture svg");
        if (name === "edit") await prove(page);
        const file = forDocs ? `${name}.png` : `${name}-${width}-${colorScheme}.png`;
        await page.screenshot({ path: join(folder, file), fullPage: width === "narrow" });
      }
      await context.close();
    }
  }
} finally {
  await all.close();
}

async function prove(page) {
  await page.waitForSelector("text=No problems");
  await page.click("text=Prove it");
  await page.waitForSelector(".matrix", { timeout: 60_000 });
}
