// A screen as wide as a hand.

import assert from "node:assert/strict";
import { PLACES } from "./keyboard.mjs";
import { ADA, trial, visit } from "./support/all.mjs";

export default function narrow(all) {
  trial("on a narrow screen nothing sticks out, and the menu leads everywhere", all, async ({ open, server }) => {
    const { body } = await server.api("GET", "/v1/runs?limit=1&state=done");
    const page = await open(ADA, "/", { viewport: { width: 360, height: 740 } });
    for (const path of [...PLACES, `/app/runs/${body.runs[0].run}?step=invoice`]) {
      await visit(page, path);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(over, 0, path);
    }
    await page.click("text=Menu");
    await page.click('nav[aria-label="Pages"] >> text=Runs');
    await page.waitForURL("/app/runs");
    await page.waitForSelector('nav[aria-label="Pages"]', { state: "hidden" });
  });
}
