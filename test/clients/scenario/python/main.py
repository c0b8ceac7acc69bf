"""The scenario for Python: prints a line for each step."""

import json

import faults
import models
import rules
import session
import socketfaults
import sockets
import streams
import webhooks

for module in (models, sockets, session, webhooks, faults, streams, socketfaults, rules):
    for step, run in module.STEPS.items():
        print(json.dumps({"step": step, **run()}), flush=True)
