"""Verifies the deliveries on its standard input, which is JSON, and prints for each whether it is good."""

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
