// Accounts, made as people make them: by the set-up link, and by a link from an admin.

import { openPage } from "./browser.mjs";
import { ADA } from "./all.mjs";

/** Fills in whatever form a link leads to. */
export async function choosePassword(page, who) {
  const name = page.locator('input[name="name"]:not([type="hidden"])');
  if (await name.count()) await name.fill(who.name);
  for (const field of await page.locator('input[type="password"]').all()) await field.fill(who.password);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/(login)?$/);
}

/** Makes the first account. */
export async function setUp(all) {
  const { page, context } = await openPage(all.browser, all.server);
  await page.goto(all.server.setup);
  await choosePassword(page, ADA);
  await context.close();
}
