// Payloads that try to be more than text.

import assert from "node:assert/strict";
import { ADA, order, trial, visit } from "./support/all.mjs";

const SCRIPT = `</pre></td><script>window.hit = 1</script><img src=x onerror="window.hit=2"><svg onload=window.hit=3>`;
const ESCAPES = "\u001b[31mred\u001b[0m \u202etxt.exe \u200b\u0007";

export default function hostile(all) {
  trial("script and escape codes are shown as text, numbers to the last digit", all, async ({ open, server }) => {
    const sent = JSON.stringify({ ...order({ id: `7-${SCRIPT}`.slice(0, 200), note: SCRIPT + ESCAPES, email: "javascript:window.hit=4" }) });
    const exact = `${sent.slice(0, -1)},"big":9007199254740993,"fine":0.10000000000000000001,"__proto__":{"polluted":true}}`;
    const { body } = await server.api("POST", "/hooks/orders", exact);
    const page = await open(ADA, `/app/runs/${body.run}?step=tell`, { refusals: [404] });
    let asked = 0;
    page.on("dialog", (dialog) => {
      asked += 1;
      void dialog.dismiss();
    });
    await page.waitForSelector("h1 .state.good, h1 .state.bad, h1 .state.doubt");
    const event = await page.textContent('.panel[aria-label="Event"] pre');
    assert.match(event, /onerror=/);
    assert.match(event, /9007199254740993/);
    assert.match(event, /"fine": 0\.10000000000000000001/);
    assert.match(event, /\\u001b|\\u\{1b\}/);
    assert.ok(!event.includes("\u202e") && !event.includes("\u001b"));
    for (const path of ["/", "/app/runs", "/app/ledger?scope=order-paid", `/app/runs?text=${encodeURIComponent(SCRIPT)}`, `/app/flows/${encodeURIComponent(SCRIPT)}`, "/app/inbox/%3Cscript%3E", "/app/%00/x"]) {
      await visit(page, path);
    }
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.equal(await page.evaluate(() => ({}).polluted), undefined);
    assert.equal(asked, 0);
    assert.equal(await page.locator("main script, main img").count(), 0);
  });
}
