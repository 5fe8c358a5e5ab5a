// Everything without a mouse, and with names for whoever cannot see it.

import assert from "node:assert/strict";
import { ADA, order, trial, visit } from "./support/all.mjs";

/** Whatever can be used but has no name, and whatever is named twice. */
function unnamed() {
  const wrong = [];
  const name = (element) => element.getAttribute("aria-label") ?? (element.labels?.length ? element.labels[0].textContent : "") + element.textContent + (element.title ?? "");
  for (const element of document.querySelectorAll("button, a[href], input, select, textarea, [role=img]")) {
    if (name(element).trim() === "") wrong.push(element.outerHTML.slice(0, 120));
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  wrong.push(...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `twice: ${id}`));
  if (document.querySelectorAll("h1").length !== 1) wrong.push("not one h1");
  for (const table of document.querySelectorAll("table:not(.plain)")) if (!table.querySelector("thead th")) wrong.push("a table without heads");
  return wrong;
}

export default function keyboard(all) {
  trial("the keyboard alone finds a run and does it again", all, async ({ open, server }) => {
    const one = order();
    const { body } = await server.api("POST", "/hooks/orders", one);
    const page = await open(ADA, "/");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    await page.waitForURL("/app/runs");
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "H1");
    await page.keyboard.press("/");
    await page.keyboard.type(`order/${one.id}`);
    await page.keyboard.press("Enter");
    await page.waitForURL(/text=order/);
    await page.waitForSelector(`tr[data-run="${body.run}"]`);
    await page.waitForFunction(() => document.querySelectorAll("table.runs tbody tr").length === 1);
    await page.locator("table.runs tbody th a").focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(`/app/runs/${body.run}`);
    await page.waitForSelector("h1 .state.good");
    await page.locator("text=Re-run…").focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog table");
    // The keyboard stays inside the dialog, and comes back to where it was.
    for (let times = 0; times < 8; times += 1) await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement === document.body || document.activeElement.closest("dialog") !== null), true);
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    assert.match(await page.evaluate(() => document.activeElement.textContent), /Re-run/);
    await page.keyboard.press("?");
    await page.waitForSelector("dialog >> text=Keys");
  });

  trial("Tab indents in the editor, and leaves it after Escape", all, async ({ open }) => {
    const page = await open(ADA, "/app/new");
    await page.waitForSelector("text=No problems");
    const area = page.locator('textarea[aria-label="The flow file"]');
    await area.focus();
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("Tab");
    assert.match(await area.inputValue(), /^ {2}name/);
    await page.keyboard.press("Control+z");
    assert.match(await area.inputValue(), /^name/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    assert.notEqual(await page.evaluate(() => document.activeElement.tagName), "TEXTAREA");
  });

  trial("everything that can be used has a name", all, async ({ open }) => {
    const page = await open(ADA, "/");
    for (const path of PLACES) {
      await visit(page, path);
      assert.deepEqual(await page.evaluate(unnamed), [], path);
    }
  });
}

export const PLACES = [
  "/", "/app/runs", "/app/flows", "/app/flows/order-paid", "/app/flows/order-paid?tab=trigger", "/app/flows/order-paid?tab=releases", "/app/flows/order-paid?tab=file",
  "/app/new", "/app/inbox", "/app/ledger", "/app/receipts", "/app/destinations", "/app/secrets", "/app/people", "/app/people?tab=tokens", "/app/people?tab=audit",
];
