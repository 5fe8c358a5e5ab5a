// Debian's browser, with a fresh profile. Whatever it would ask of the world outside fails the test.

import { chromium } from "playwright-core";

const PATH = process.env.CHROMIUM ?? "/usr/bin/chromium";

export async function openBrowser() {
  return chromium.launch({
    executablePath: PATH,
    args: ["--no-sandbox", "--disable-background-networking", "--disable-gpu", "--disable-dev-shm-usage"],
  });
}

/**
 * A page of a person of its own, with a list of everything it should not have done. `refusals`: statuses that the server
 * is meant to answer with, which the browser reports as if they were the page's mistakes.
 */
export async function openPage(browser, server, { refusals = [], ...options } = {}) {
  const context = await browser.newContext({ baseURL: server.url, viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const wrong = [];
  page.on("console", (message) => {
    const status = /status of (\d+)/.exec(message.text())?.[1];
    if (!["error", "warning"].includes(message.type()) || refusals.includes(Number(status))) return;
    wrong.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    const local = url.protocol === "data:" || url.host === new URL(server.url).host;
    if (!local) wrong.push(`left the machine: ${request.url()}`);
  });
  return { page, context, wrong };
}
