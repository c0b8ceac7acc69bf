"""Calls OpenAI's Responses with the official Python client. Only an address and a key are configured."""

import json
import sys

from openai import OpenAI
from pydantic import BaseModel

from steps import api_key, base_url, collected, question, report, without_credential

client = OpenAI(base_url=base_url, api_key=api_key)
asked = {"model": "auto", "input": question}
schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}
weather = {"type": "function", "name": "weather", "parameters": schema, "strict": True}


class Place(BaseModel):
    city: str


def respond():
    answer = client.responses.create(**asked, instructions="Be brief.")
    return {"text": answer.output_text, "tokens": [answer.usage.input_tokens, answer.usage.output_tokens]}


def stream():
    events = client.responses.create(**asked, stream=True)
    return collected(event.delta for event in events if event.type == "response.output_text.delta")


def stream_helper(**more):
    with client.responses.stream(**asked, **more) as events:
        return events.get_final_response()


def parse():
    return client.responses.parse(**asked, text_format=Place).output_parsed.model_dump()


def tools():
    history = [{"role": "user", "content": "How is the weather?"}]
    output = client.responses.create(model="auto", input=history, tools=[weather]).output
    result = {"type": "function_call_output", "call_id": output[0].call_id, "output": "rain"}
    answer = client.responses.create(model="auto", input=[*history, *output, result], tools=[weather])
    return {"arguments": json.loads(output[0].arguments), "text": answer.output_text}


def tool_stream():
    return [[item.name, json.loads(item.arguments)] for item in stream_helper(tools=[weather]).output]


steps = {
    "respond": respond,
    "stream": stream,
    "streamed": lambda: {"text": stream_helper().output_text},
    "parse": parse,
    "tools": tools,
    "toolStream": tool_stream,
    "previous": lambda: client.responses.create(**asked, previous_response_id="resp_1"),
    "hosted": lambda: client.responses.create(**asked, tools=[{"type": "web_search"}]),
    "withoutCredential": lambda: without_credential(lambda: client.responses.create(model="gpt-4o-mini", input=question)),
}
broken = {"brokenStream": stream, "brokenStreamed": stream_helper}

report(broken if sys.argv[1:] == ["broken"] else steps)
