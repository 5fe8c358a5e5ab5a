// Every page there is, for the pictures.

export async function places(api) {
  const first = async (path, list) => (await api("GET", path)).body[list][0];
  const parked = await first("/v1/runs?flow=order-paid&state=parked", "runs");
  const undone = await first("/v1/runs?flow=parcel-shipped&state=undone", "runs");
  const review = await first("/v1/inbox?kind=review", "items");
  const approval = await first("/v1/inbox?kind=approval", "items");
  const effect = (await api("GET", "/v1/ledger?scope=order-paid")).body.effects.find((one) => one.blocked > 0);
  return {
    overview: "/?range=15m",
    runs: "/app/runs",
    run: `/app/runs/${parked.run}?step=receipt`,
    "run-undone": `/app/runs/${undone.run}`,
    flows: "/app/flows",
    flow: "/app/flows/order-paid",
    "flow-trigger": "/app/flows/order-paid?tab=trigger",
    "flow-releases": "/app/flows/order-paid?tab=releases",
    "flow-file": "/app/flows/order-paid?tab=file",
    edit: "/app/flows/order-paid/edit",
    inbox: "/app/inbox",
    "inbox-review": `/app/inbox/${review.id}`,
    "inbox-approval": `/app/inbox/${approval.id}`,
    ledger: "/app/ledger",
    effect: `/app/ledger/${encodeURIComponent(effect.scope)}/${effect.parts.map(encodeURIComponent).join("/")}`,
    receipts: "/app/receipts",
    destinations: "/app/destinations",
    secrets: "/app/secrets",
    people: "/app/people",
    tokens: "/app/people?tab=tokens",
    audit: "/app/people?tab=audit",
  };
}
