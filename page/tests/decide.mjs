// What waits for a person: a lost answer, and a request that two people answer.

import assert from "node:assert/strict";
import { ADA, GRACE, about, order, trial } from "./support/all.mjs";

async function refund(server, number) {
  const event = { order: number, amount: 500, customer: "cus_1", reason: "broken" };
  const { body } = await server.api("POST", "/v1/flows/refund/runs", event, { "Idempotency-Key": `refund-${number}` });
  return body.run;
}

export default function decide(all) {
  trial("a lost answer is decided, and the mail is not sent again", all, async ({ open, world, server }) => {
    const one = order({ email: "lost@example.org" });
    const page = await open(ADA, "/app/inbox");
    await page.waitForSelector(".live.live");
    world.lose("/mail/send");
    const { body } = await server.api("POST", "/hooks/orders", one);
    await page.click(`text=receipt/${one.id}`);
    await page.fill("textarea", "found it in the outbox");
    await page.click(".choices >> text=Happened");
    await page.waitForSelector(".decision .answer");
    assert.match(await page.textContent(".decision"), /happened by ada/);
    await page.goto(`/app/runs/${body.run}`);
    await page.waitForSelector("h1 .state.good");
    assert.match(await page.textContent(".history"), /resumed by ada: found it in the outbox/);
    assert.equal(about(world, "/mail/send", one.email).length, 1);
  });

  trial("of two people who decide, the second is told what the first said", all, async ({ open, world, server }) => {
    const run = await refund(server, 7001);
    const first = await open(ADA, "/app/inbox");
    const second = await open(GRACE, "/app/inbox", { refusals: [409] });
    // She goes on looking at what she saw first, as if the stream were slow.
    await second.route("**/v1/live", () => {});
    await second.reload();
    for (const page of [first, second]) {
      await page.click("text=Refund 500 for the order 7001?");
      await page.waitForSelector(".choices");
    }
    await first.fill("textarea", "checked with the bank");
    await first.click(".choices >> text=Approve");
    await first.waitForSelector(".decision .answer");
    await second.click(".choices >> text=Reject");
    await second.waitForSelector('.decision .refusal:has-text("approve by ada")');
    assert.match(await second.textContent(".decision"), /checked with the bank/);
    assert.equal(await second.locator(".choices").count(), 0, "there is nothing left to decide");
    await first.goto(`/app/runs/${run}`);
    await first.waitForSelector("h1 .state.good");
    assert.equal(about(world, "/bank/refunds", 7001).length, 1);
  });

  trial("many are decided as the set that was shown", all, async ({ open, world, server }) => {
    await Promise.all([7101, 7102, 7103].map((number) => refund(server, number)));
    const page = await open(ADA, "/app/inbox?kind=approval&flow=refund");
    await page.waitForSelector("text=order 7103?");
    await page.click("text=Decide many…");
    await page.selectOption("dialog select", "approve");
    await page.waitForSelector("dialog >> text=3 items");
    await page.click("dialog >> text=Decide 3: approve");
    await page.waitForSelector("dialog >> text=3 decisions recorded, 0 refused");
    await world.until("/bank/refunds", 4);
    for (const number of [7101, 7102, 7103]) assert.equal(about(world, "/bank/refunds", number).length, 1);
  });
}
