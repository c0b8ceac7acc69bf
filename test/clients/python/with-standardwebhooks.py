"""Reads deliveries as JSON from standard input, verifies each delivery, and prints the results as JSON."""

import json
import sys
from base64 import b64decode

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


def is_good(delivery):
    try:
        Webhook(delivery["secret"]).verify(b64decode(delivery["body"]), delivery["headers"])
        return True
    except WebhookVerificationError:
        return False


print(json.dumps([is_good(delivery) for delivery in json.load(sys.stdin)]))
