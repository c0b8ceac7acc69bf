"""Runs OpenAI's Agents SDK for Python with its defaults and a tool. Tracing is off, because traces would go to OpenAI."""

import sys

from agents import Agent, Runner, function_tool, set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI
from pydantic import BaseModel

from steps import api_key, base_url, collected, question, report, without_credential_async

set_default_openai_client(AsyncOpenAI(base_url=base_url, api_key=api_key), use_for_tracing=False)
set_tracing_disabled(True)


class Place(BaseModel):
    city: str


@function_tool
def weather(city: str) -> str:
    """The weather."""
    return f"rain in {city}"


plain = Agent(name="Receptionist", instructions="Be brief.", model="auto")
with_tool = Agent(name="Receptionist", instructions="Be brief.", model="auto", tools=[weather])
typed = Agent(name="Reader", instructions="Read.", model="auto", output_type=Place)


unserved = Agent(name="Receptionist", instructions="Be brief.", model="gpt-4o-mini")


async def answer(agent, asked=question):
    return {"text": (await Runner.run(agent, asked)).final_output}


async def parse():
    return (await Runner.run(typed, question)).final_output.model_dump()


async def stream(agent):
    events = Runner.run_streamed(agent, question).stream_events()
    return collected([event.data.delta async for event in events if is_text(event)])


def is_text(event):
    return event.type == "raw_response_event" and event.data.type == "response.output_text.delta"


async def second_turn():
    first = await Runner.run(plain, question)
    return await answer(plain, [*first.to_input_list(), {"role": "user", "content": "And now?"}])


steps = {
    "respond": lambda: answer(plain),
    "stream": lambda: stream(plain),
    "parse": parse,
    "tools": lambda: answer(with_tool),
    "toolStream": lambda: stream(with_tool),
    "secondTurn": second_turn,
    "withoutCredential": lambda: without_credential_async(lambda: answer(unserved)),
}
broken = {"brokenStream": lambda: stream(plain)}

report(broken if sys.argv[1:] == ["broken"] else steps)
