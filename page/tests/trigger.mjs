// Starting a run by hand.

import assert from "node:assert/strict";
import { ADA, about, trial } from "./support/all.mjs";

export default function trigger(all) {
  trial("a double click starts one run", all, async ({ open, world }) => {
    const page = await open(ADA, "/app/flows/refund?tab=trigger");
    await page.waitForSelector(".form input");
    await page.locator(".panel-head input").check();
    await page.fill(".panel textarea", '{"order": 8001, "amount": 12, "customer": "cus_9", "reason": "twice"}');
    await page.locator(".panel button.primary").dblclick();
    await page.waitForSelector(".answer a");
    const run = await page.textContent(".answer a");
    // Pressed once more, and told of the first.
    await page.locator(".panel button.primary").click();
    await page.waitForSelector(".answer:has-text('started before, once')");
    assert.equal(await page.textContent(".answer a"), run);
    await page.click(".answer a");
    await page.waitForSelector("h1 .state.good");
    assert.equal(about(world, "/bank/refunds", 8001).length, 1);
  });

  trial("the form is made from the last event, and numbers stay as they are", all, async ({ open, server, world }) => {
    const sent = '{"order":8002,"amount":90.1,"customer":9007199254740993,"reason":"late"}';
    await server.api("POST", "/v1/flows/refund/runs", sent, { "Idempotency-Key": "8002" });
    await world.until("/bank/refunds", 1);
    const page = await open(ADA, "/app/flows/refund?tab=trigger");
    const customer = page.getByLabel("customer");
    await customer.waitFor();
    assert.equal(await customer.inputValue(), "9007199254740993");
    await page.getByLabel("order").fill("8003");
    await page.getByLabel("reason").fill("changed");
    await page.locator(".panel button.primary").click();
    await page.waitForSelector(".answer a");
    await page.click(".answer a");
    await page.waitForSelector("h1 .state.good");
    assert.match(await page.textContent('.panel[aria-label="Event"] pre'), /"customer": 9007199254740993/);
    assert.equal(about(world, "/bank/refunds", 8003).length, 1);
  });
}
