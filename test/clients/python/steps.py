"""Runs the steps of the programs in this folder. Each step prints its result as JSON. The environment names the server."""

import asyncio
import inspect
import json
import os
import time

base_url = os.environ["PARLEY_BASE_URL"]
api_key = os.environ["PARLEY_KEY"]
recording = os.environ["PARLEY_RECORDING"]
question = "Hello?"
sentence = "Thank you for calling."


def collected(pieces):
    """Joins a stream's pieces and counts them: if there is one piece, the answer was not streamed."""
    texts = [piece for piece in pieces if piece]
    return {"text": "".join(texts), "pieces": len(texts)}


def audio(data):
    return {"bytes": len(data), "head": data[:4].decode("latin1")}


def without_credential(ask):
    """Asks five times for a model without a credential. Returns the error, and the shortest waiting time in milliseconds."""
    fewest, message = float("inf"), None
    for _ in range(5):
        started = time.monotonic()
        try:
            ask()
        except Exception as error:
            message = str(error)
        fewest = min(fewest, (time.monotonic() - started) * 1000)
    return {"message": message, "milliseconds": round(fewest)}


async def without_credential_async(ask):
    loop = asyncio.get_running_loop()
    fewest, message = float("inf"), None
    for _ in range(5):
        started = loop.time()
        try:
            await ask()
        except Exception as error:
            message = str(error)
        fewest = min(fewest, (loop.time() - started) * 1000)
    return {"message": message, "milliseconds": round(fewest)}


async def report_async(steps):
    for step, run in steps.items():
        try:
            value = run()
            line = {"step": step, "value": await value if inspect.isawaitable(value) else value}
        except Exception as error:
            status = getattr(error, "status_code", None)
            line = {"step": step, "error": {"name": type(error).__name__, "message": str(error), "status": status}}
        print(json.dumps(line), flush=True)


def report(steps):
    asyncio.run(report_async(steps))
