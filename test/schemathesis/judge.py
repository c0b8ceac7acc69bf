"""What Schemathesis has to know about these documents, and the statuses that each operation has answered."""

import atexit
import collections
import json
import os

import schemathesis

statuses = collections.defaultdict(collections.Counter)


@atexit.register
def write_statuses():
    with open(os.environ["PARLEY_TEST_STATUSES"], "w") as file:
        json.dump(statuses, file)


STREAM = "text/event-stream"


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Schemathesis takes the schema of a stream for the schema of one event. With it, the names of the events are checked."""
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
    """A provider or a carrier may fail: the stub answers no JSON when JSON is asked for, and some simulated numbers fail."""
    status = response.status_code
    statuses[case.operation.label][status] += 1
    if status < 500 or status in (502, 504):
        return
    assert status == 503 and "provider_unavailable" in response.text.lower(), f"{status}: {response.text[:1000]}"
