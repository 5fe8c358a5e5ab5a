// A server that goes away and comes back under an open page.

import assert from "node:assert/strict";
import { ADA, as, order } from "./support/all.mjs";
import { test } from "node:test";

export default function restart(all) {
  test("a page comes back by itself when the server was killed and started again", async () => {
    const { page, context } = await as(all, ADA, "/app/runs");
    await page.waitForSelector(".live.live");
    await page.evaluate(() => (window.same = true));
    await all.server.stop("SIGKILL");
    await page.waitForSelector(".live.lost");
    // What happens before the page is back must be seen as well, so it is kept out until that has happened.
    await page.route("**/v1/live", (route) => route.abort());
    await all.server.start();
    const early = order();
    const told = all.world.count("/chat/messages");
    await all.server.api("POST", "/hooks/orders", early);
    await all.world.until("/chat/messages", told + 1);
    await page.unroute("**/v1/live");
    await page.waitForSelector(".live.live");
    await page.waitForSelector(`table.runs >> text=order/${early.id}`);
    const late = order();
    await all.server.api("POST", "/hooks/orders", late);
    await page.waitForSelector(`tr:has-text("order/${late.id}") .state.good`);
    assert.equal(await page.evaluate(() => window.same), true, "it was not loaded again");
    await context.close();
  });
}
