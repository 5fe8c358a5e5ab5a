// The flows that the page is tried and shown with. All of them call a world on this machine.

export const flows = (world) => ({
  "order-paid": `# A paid order becomes a customer, an invoice and a receipt, however often the shop tells of it.
name: order-paid
description: Paid order -> customer -> invoice -> receipt
on:
  webhook: {path: /hooks/orders, verify: none}
key: order/\${{ event.id }}
remember: 90d
steps:
  - id: customer
    http:
      put: ${world}/crm/contacts/\${{ event.customer }}
      json: {email: "\${{ event.email }}"}
    result: body.id
  - id: invoice
    http:
      post: ${world}/billing/invoices
      json: {customer: "\${{ event.customer }}", amount: "\${{ event.amount }}"}
      idempotency: {header: Idempotency-Key, window: 24h}
    result: body.id
    retry: {max: 4, backoff: 200ms..2s}
    undo: {http: {post: "${world}/billing/invoices/\${{ steps.invoice.result }}/void"}}
  - id: receipt
    key: receipt/\${{ event.id }}
    http:
      post: ${world}/mail/send
      json: {to: "\${{ event.email }}", text: "Your invoice is \${{ steps.invoice.result }}."}
    on_unknown: ask
  - id: tell
    http:
      post: ${world}/chat/messages
      json: {text: "Order \${{ event.id }} is paid: \${{ event.note }}"}
`,
  refund: `# A refund waits until somebody agrees. Small ones need nobody.
name: refund
on: manual
key: refund/\${{ event.order }}
steps:
  - id: agreed
    if: event.amount >= 100
    approve:
      by: [ada, grace]
      ask: Refund \${{ event.amount }} for the order \${{ event.order }}?
      show: {customer: "\${{ event.customer }}", reason: "\${{ event.reason }}"}
      timeout: 48h
      allow_maker: true
  - id: pay
    http:
      post: ${world}/bank/refunds
      json: {order: "\${{ event.order }}", amount: "\${{ event.amount }}"}
      idempotency: {header: Idempotency-Key, window: 24h}
    result: body.id
`,
  "parcel-shipped": `# Announces a parcel, and takes the label back if it cannot be announced.
name: parcel-shipped
on:
  webhook: {path: /hooks/parcels, verify: none}
key: parcel/\${{ event.parcel }}
steps:
  - id: label
    http:
      post: ${world}/depot/labels
      json: {parcel: "\${{ event.parcel }}", to: "\${{ event.country }}"}
    result: body.id
    undo: {http: {delete: "${world}/depot/labels/\${{ steps.label.result }}"}}
  - id: rest
    wait: {for: 1s}
  - id: announce
    http:
      post: ${world}/mail/send
      json: {to: "\${{ event.email }}", text: "Your parcel is on its way."}
    retry: {max: 3, backoff: 300ms..1s}
`,
});
