// Debian's browser, with a fresh profile. Whatever it would ask of the world outside fails the test.

import { chromium } from "playwright-core";

const PATH = process.env.CHROMIUM ?? "/usr/bin/chromium";

export async function openBrowser() {
  return chromium.launch({
    executablePath: PATH,
    args: ["--no-sandbox", "--disable-background-networking", "--disable-gpu", "--disable-dev-shm-usage"],
  });
}

/** A page of a person of its own, with a list of everything it should not have done. */
export async function openPage(browser, server, options = {}) {
  const context = await browser.newContext({ baseURL: server.url, viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const wrong = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) wrong.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    const local = url.protocol === "data:" || url.host === new URL(server.url).host;
    if (!local) wrong.push(`left the machine: ${request.url()}`);
  });
  return { page, context, wrong };
}
