"""Reads {secret, webhooks: [{headers, body}]} and prints for each webhook whether standardwebhooks accepts it."""
import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

asked = json.load(sys.stdin)
webhook = Webhook(asked["secret"])


def is_good(each):
    try:
        webhook.verify(each["body"], each["headers"])
        return True
    except WebhookVerificationError:
        return False


print(json.dumps([is_good(each) for each in asked["webhooks"]]))
