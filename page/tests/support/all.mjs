// Everything that the tests share: a world, a server with flows, a browser, and two people.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openBrowser, openPage } from "./browser.mjs";
import { flows } from "./flows.mjs";
import { openServer } from "./server.mjs";
import { openWorld } from "./world.mjs";

export const ADA = { name: "ada", password: "correct horse battery" };
export const GRACE = { name: "grace", password: "staple amazing grace" };

export async function openAll() {
  const world = await openWorld();
  const server = await openServer({ flows, world: world.url });
  const browser = await openBrowser();
  const close = async () => {
    await browser.close();
    await server.close();
    await world.close();
  };
  return { world, server, browser, close };
}

/** Opens a page as a person who is logged in; the session is made once for each. */
export async function as(all, who, path = "/", options = {}) {
  all.sessions ??= new Map();
  const kept = all.sessions.get(who.name);
  const opened = await openPage(all.browser, all.server, { ...options, ...(kept ? { storageState: kept } : {}) });
  if (!kept) {
    await login(opened.page, who);
    all.sessions.set(who.name, await opened.context.storageState());
  }
  await opened.page.goto(path);
  await opened.page.waitForSelector("main h1");
  return opened;
}

/** Goes to another place in the page as a link would, and waits until it is shown. */
export async function visit(page, path) {
  await page.evaluate((to) => {
    history.pushState(null, "", to);
    window.dispatchEvent(new PopStateEvent("popstate"));
  }, path);
  await page.waitForSelector("main h1");
  await page.waitForSelector(".loading", { state: "detached" });
}

export async function login(page, who) {
  await page.goto("/login");
  await page.fill('input[name="name"]', who.name);
  await page.fill('input[name="password"]', who.password);
  await Promise.all([page.waitForURL("/"), page.keyboard.press("Enter")]);
}

/** A test that also fails if one of its pages complained. */
export function trial(name, all, act) {
  test(name, async () => {
    const opened = [];
    const open = async (who, path, options) => {
      const one = await as(all, who, path, options);
      opened.push(one);
      return one.page;
    };
    try {
      await act({ ...all, open, opened });
      const wrong = opened.flatMap((one) => one.wrong);
      assert.deepEqual(wrong, []);
    } finally {
      await Promise.all(opened.map((one) => one.context.close()));
    }
  });
}

let last = 0;
/** An order that no other test has. */
export const order = (more = {}) => {
  last += 1;
  return { id: 90_000 + last, customer: `cus_${last}`, email: "ada@example.org", amount: 4200, note: "thank you", ...more };
};

/** The calls of a path that were about an order. */
export const about = (world, path, id) => world.seen.filter((call) => call.path.startsWith(path) && JSON.stringify(call.body).includes(String(id)));
