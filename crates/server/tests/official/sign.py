"""Signs a few payloads with the senders' own libraries and prints them as JSON."""

import json
from datetime import datetime, timezone

from slack_sdk.signature import SignatureVerifier
from standardwebhooks import Webhook
from stripe import WebhookSignature

NOW = 1_700_000_000

PAYLOADS = [
    "{}",
    '{"id":"evt_1","type":"payment_intent.succeeded","created":1700000000}',
    '{ "spaced" : [1, 2.50, -3e2],\n\t"text": "line\\nbreak" }',
    '{"name":"Zoë 😀","escaped":"\\u00e9"}',
    "command=%2Fdeploy&text=now+please&trigger_id=13345224609.738474920.8088930838d88f008e0",
    "",
]


def stripe(body, number):
    secret = f"whsec_{number}k7Yq"
    header = WebhookSignature.generate_signature_header(body, secret, NOW)
    return secret, {"Stripe-Signature": header}


def slack(body, number):
    secret = f"8f742231b10e8888abcd99yyyzzz85a{number}"
    signature = SignatureVerifier(secret).generate_signature(timestamp=str(NOW), body=body)
    return secret, {"X-Slack-Signature": signature, "X-Slack-Request-Timestamp": str(NOW)}


def standard_webhooks(body, number):
    # Some secrets with padding, some without, some without the prefix.
    secret = ["whsec_", ""][number % 2] + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" + ["", "AA==", "AA"][number % 3]
    message = f"msg_{number}"
    signature = Webhook(secret).sign(message, datetime.fromtimestamp(NOW, timezone.utc), body)
    return secret, {
        "webhook-id": message,
        "webhook-timestamp": str(NOW),
        "webhook-signature": signature,
    }


SENDERS = {"stripe": stripe, "slack": slack, "standard-webhooks": standard_webhooks}

signed = []
for preset, sign in SENDERS.items():
    for number, body in enumerate(PAYLOADS):
        secret, headers = sign(body, number)
        signed.append(
            {
                "preset": preset,
                "secret": secret,
                "headers": list(headers.items()),
                "body": body,
                "now": NOW,
            }
        )
print(json.dumps(signed))
