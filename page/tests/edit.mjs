// Writing a flow on the page.

import assert from "node:assert/strict";
import { ADA, about, order, trial } from "./support/all.mjs";

const editor = 'textarea[aria-label="The flow file"]';

export default function edit(all) {
  trial("a flow is edited, checked at the line, proved, kept as a draft and released", all, async ({ open, world, server }) => {
    const page = await open(ADA, "/app/flows/order-paid/edit");
    const before = (await server.api("GET", "/v1/flows/order-paid")).body;
    await page.waitForSelector("text=No problems");
    await page.waitForSelector(".picture svg");
    await page.fill(editor, before.source.replace("    on_unknown: ask\n", "    on_unknwon: ask\n"));
    await page.waitForSelector('.messages .error:has-text("on_unknwon")');
    await page.waitForSelector(".gutter .error");
    assert.equal(await page.locator("text=Release…").isDisabled(), true);
    await page.fill(editor, before.source.replace("is paid:", "is paid now:"));
    await page.waitForSelector("text=No problems");
    await page.click("text=Prove it");
    await page.waitForSelector(".matrix");
    assert.match(await page.textContent(".matrix tr:has-text('receipt')"), /asks/);
    await page.click("text=Save as draft");
    await page.waitForSelector(".toast:has-text('draft')");
    await page.click("text=Release…");
    await page.waitForSelector("dialog .diff-line.added:has-text('is paid now')");
    await page.click("dialog button.primary");
    await page.waitForURL("/app/flows/order-paid");
    const after = (await server.api("GET", "/v1/flows/order-paid")).body;
    assert.notEqual(after.release, before.release);
    assert.equal(after.by, "ada");
    const one = order();
    await server.api("POST", "/hooks/orders", one);
    await world.until("/chat/messages", world.count("/chat/messages") + 1);
    assert.match(JSON.stringify(about(world, "/chat/messages", one.id)), /is paid now/);
    // And back.
    await page.click('.tabs >> text=Releases');
    await page.click("text=Roll back…");
    await page.click("dialog >> text=Make it live");
    await page.waitForSelector('tr:has-text("live") >> text=' + before.release.slice(0, 12));
  });

  trial("what can stand at the cursor is offered", all, async ({ open }) => {
    const page = await open(ADA, "/app/new");
    await page.waitForSelector("text=No problems");
    await page.fill(editor, "name: hello\non: manual\nsteps:\n  - id: say\n    ");
    await page.locator(editor).press("End");
    await page.keyboard.press("Control+End");
    await page.keyboard.type("retr");
    await page.waitForSelector('.offers [role="option"][aria-selected="true"]:has-text("retry")');
    await page.keyboard.press("Enter");
    assert.match(await page.inputValue(editor), /\n {4}retry: $/);
    // Left on purpose, with something unsaved.
    page.on("dialog", (dialog) => dialog.accept());
  });
}
