"""The scenario for Python: prints a line for each step."""

import json

import faults
import models
import session
import sockets
import webhooks

for steps in (models.STEPS, sockets.STEPS, session.STEPS, webhooks.STEPS, faults.STEPS):
    for step, run in steps.items():
        print(json.dumps({"step": step, **run()}), flush=True)
