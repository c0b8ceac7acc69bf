"""Lets Schemathesis request stored things, check events, and count each operation's statuses."""

import atexit
import collections
import json
import os

import schemathesis
from hypothesis import strategies

with open(os.environ["PARLEY_TEST_STORED"]) as file:
    stored = json.load(file)
statuses = collections.defaultdict(collections.Counter)


@atexit.register
def write_statuses():
    with open(os.environ["PARLEY_TEST_STATUSES"], "w") as file:
        json.dump(statuses, file)


@schemathesis.hook
def flatmap_path_parameters(context, path_parameters):
    """Puts ids of stored things into half the requests. Otherwise operations with an id would only answer 404."""
    known = {
        path[path.rindex("{") + 1 : -1]: strategies.sampled_from(ids)
        for path, ids in stored["ids"].items()
        if context.operation.path.startswith(path) and path_parameters
    }
    random = strategies.just(path_parameters)
    of_stored = strategies.fixed_dictionaries(known).map(lambda ids: {**path_parameters, **ids})
    return strategies.one_of(random, of_stored) if known else random


@schemathesis.hook
def before_call(context, case, kwargs):
    """Sends a person's cookie, and keeps some things, because Schemathesis takes ids from answers too."""
    changes = case.method != "GET" and not case.operation.path.endswith("/check")
    if changes:
        for name, value in (case.path_parameters or {}).items():
            if value in stored["kept"]:
                case.path_parameters[name] = "other"
    cookies = {path: cookie for path, cookie in stored["cookies"].items() if case.operation.path.startswith(path)}
    if cookies:
        case.headers["Cookie"] = cookies[max(cookies, key=len)]


STREAM = "text/event-stream"


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Adds a schema for one event to each stream, because Schemathesis checks each event against the stream's schema."""
    operations = [operation for path in raw_schema["paths"].values() for operation in path.values()]
    responses = [operation.get("responses", {}) for operation in operations if isinstance(operation, dict)]
    for group in [*responses, raw_schema.get("components", {}).get("responses", {})]:
        for response in group.values():
            media = response.get("content", {}).get(STREAM)
            if media is not None:
                media["schema"] = event_of(media)


def event_of(media):
    names = list(media.get("x-sse-events", {}))
    event = {"type": "string", "enum": names} if names else {"type": "string"}
    return {"type": "object", "required": ["data"], "properties": {"event": event, "data": {"type": "string"}}}


@schemathesis.check
def no_fault_of_the_server(ctx, response, case):
    """Fails for a fault of the server. Providers and carriers may fail: the stub gives no JSON, and some numbers fail."""
    status = response.status_code
    # Schemathesis also sends other methods to the path. Their answers do not belong to the operation.
    if response.request.method.lower() == case.operation.method.lower():
        statuses[case.operation.label][status] += 1
    if status < 500 or status in (502, 504):
        return
    assert status == 503 and "provider_unavailable" in response.text.lower(), f"{status}: {response.text[:1000]}"
