// Getting in: the set-up link, the log-in form, a second person, and what each may see.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage } from "./support/browser.mjs";
import { ADA, GRACE, login, trial } from "./support/all.mjs";
import { choosePassword } from "./support/people.mjs";

export default function enter(all) {
  test("the set-up link makes the first account, and a wrong password is told", async () => {
    const { page, context, wrong } = await openPage(all.browser, all.server, { refusals: [401] });
    await page.goto("/");
    assert.notEqual(new URL(page.url()).pathname, "/", "nobody is in yet");
    await page.goto(all.server.setup);
    await choosePassword(page, ADA);
    await context.clearCookies();
    await page.goto("/app/runs");
    await page.waitForURL(/\/login/);
    await page.fill('input[name="name"]', ADA.name);
    await page.fill('input[name="password"]', "not it at all");
    await page.keyboard.press("Enter");
    await page.waitForSelector('.banner.bad');
    assert.deepEqual(wrong, []);
    await login(page, ADA);
    await page.waitForSelector("main h1");
    assert.equal(await page.textContent("main h1"), "Overview");
    await context.close();
  });

  trial("an admin adds a person, who chooses a password and sees only what the role allows", all, async ({ open, browser, server }) => {
    const page = await open(ADA, "/app/people");
    await page.click("text=Add a person…");
    await page.fill('dialog input[type="text"]', GRACE.name);
    await page.click('dialog label:has-text("approver")');
    await page.click('dialog button[type="submit"]');
    const link = (await page.textContent("dialog .mono.break")).trim();
    const hers = await openPage(browser, server);
    await hers.page.goto(link);
    await choosePassword(hers.page, GRACE);
    await hers.context.close();
    const seen = await open(GRACE, "/app/flows/refund");
    await seen.waitForSelector(".picture svg");
    assert.equal(await seen.locator('nav[aria-label="Pages"] >> text=People').count(), 0);
    assert.equal(await seen.locator("main >> text=Edit").count(), 0);
  });

  trial("the first paint takes little, and nothing is loaded from elsewhere", all, async ({ open, server }) => {
    const page = await open(ADA, "/");
    await page.waitForSelector(".tile, .empty");
    const bytes = await page.evaluate(() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].reduce((sum, entry) => sum + entry.transferSize, 0));
    assert.ok(bytes > 10_000 && bytes < 300_000, `${bytes} bytes`);
    const { headers } = await fetch(server.url + "/login");
    assert.match(headers.get("content-security-policy"), /default-src 'none'/);
  });
}
