// Fills a server with a believable day: orders that are told of twice, lost answers, refunds that wait, a destination that says no.

const PEOPLE = ["ada", "grace", "linus", "edsger", "barbara", "alan", "margaret", "donald"];

const order = (number) => ({
  id: 10400 + number,
  customer: `cus_${8800 + number}`,
  email: `${PEOPLE[number % PEOPLE.length]}@example.org`,
  amount: 1900 + ((number * 733) % 9000),
  note: number % 5 === 0 ? "gift wrapped" : "thank you",
});

async function over(server, flow, runs) {
  for (;;) {
    const { body } = await server.api("GET", `/v1/runs?flow=${flow}&limit=1000`);
    const open = body.runs.filter((run) => ["queued", "running"].includes(run.state));
    if (body.runs.length >= runs && open.length === 0) return body.runs;
  }
}

const hook = (server, path, body) => server.api("POST", path, body);

export async function seed(server, world, orders = 40) {
  const lost = [11, 23, 31];
  for (let number = 0; number < orders; number += 1) {
    if (lost.includes(number)) world.lose("/mail/send");
    if (number % 9 === 4) world.refuse("/billing/invoices", 503, 1);
    await hook(server, "/hooks/orders", order(number));
    if (number % 3 === 0) await hook(server, "/hooks/orders", order(number));
    if (number % 7 === 0) await hook(server, "/hooks/orders", order(number));
    if (lost.includes(number)) await over(server, "order-paid", number + 1);
  }
  await over(server, "order-paid", orders);
  for (const [index, country] of ["DE", "FR", "NL", "US"].entries()) {
    if (country === "NL") world.refuse("/mail/send", 422, 1);
    await hook(server, "/hooks/parcels", { parcel: `p-${7001 + index}`, country, email: "ada@example.org" });
    if (country === "NL") await world.until("/depot/labels/", 1);
  }
  const refunds = [[10403, 40, "too late"], [10407, 260, "arrived broken"], [10419, 480, "ordered twice"]];
  for (const [number, amount, reason] of refunds) {
    const event = { order: number, amount, customer: `cus_${number - 1600}`, reason };
    await server.api("POST", "/v1/flows/refund/runs", event, { "Idempotency-Key": `refund-${number}` });
  }
  await over(server, "refund", refunds.length);
}
