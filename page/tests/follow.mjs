// Following a run while it happens.

import assert from "node:assert/strict";
import { ADA, about, order, trial } from "./support/all.mjs";

export default function follow(all) {
  trial("a run is followed live, with the duplicate that was blocked", all, async ({ open, world, server }) => {
    const page = await open(ADA, "/app/runs");
    await page.waitForSelector(".live.live");
    const one = order();
    const held = world.hold("/mail/send");
    await server.api("POST", "/hooks/orders", one);
    // The list was empty of it, and nobody reloads.
    await page.click(`table.runs >> text=order/${one.id}`);
    await page.waitForSelector('.lane:has-text("receipt") .shape-running');
    const again = await server.api("POST", "/hooks/orders", one);
    assert.equal(again.body.status, "duplicate");
    held.go();
    await page.waitForSelector("h1 .state.good");
    assert.match(await page.textContent("h1"), /done/);
    await page.waitForSelector('.history [data-what="blocked"]');
    await page.waitForSelector('.lane [data-what="blocked"]', { state: "attached" });
    assert.equal(about(world, "/chat/messages", one.id).length, 1);
  });

  trial("a step tells what was sent and what came back", all, async ({ open, server }) => {
    const one = order();
    const { body } = await server.api("POST", "/hooks/orders", one);
    const page = await open(ADA, `/app/runs/${body.run}`);
    await page.waitForSelector("h1 .state.good");
    await page.click('.lane-name:has-text("receipt")');
    const panel = page.locator(".step-panel");
    await panel.locator('pre:has-text("/mail/send")').waitFor();
    assert.match(await panel.textContent(), /Your invoice is bi_.*"ok": true/s);
    assert.equal(new URL(page.url()).searchParams.get("step"), "receipt");
  });

  trial("a run that was cancelled is done again by the plan that was shown", all, async ({ open, world, server }) => {
    const one = order({ email: "again@example.org" });
    const held = world.hold("/mail/send");
    const { body } = await server.api("POST", "/hooks/orders", one);
    const page = await open(ADA, `/app/runs/${body.run}`);
    await page.waitForSelector('.lane:has-text("receipt") .shape-running');
    await page.click("text=Cancel…");
    await page.click("dialog >> text=End it");
    await page.waitForSelector(".toast:has-text('asked to end')");
    held.go();
    await page.waitForSelector('h1 .state:has-text("cancelled")');
    await page.click("text=Re-run…");
    await page.waitForSelector('dialog tr:has-text("receipt"):has-text("reuse")');
    await page.waitForSelector('dialog tr:has-text("tell"):has-text("execute")');
    await page.click("text=Carry out exactly this");
    await page.waitForSelector("h1 .state.good");
    assert.notEqual(page.url().includes(body.run), true, "it is another run");
    assert.equal(about(world, "/mail/send", one.email).length, 1);
    assert.equal(about(world, "/chat/messages", one.id).length, 1);
  });
}
