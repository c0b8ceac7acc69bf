"""Runs LangChain's chat model for OpenAI."""

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from steps import api_key, base_url, collected, question, report, without_credential


def model(name="auto", **options):
    return ChatOpenAI(model=name, base_url=base_url, api_key=api_key, **options)


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"{city} is sunny."


def agent():
    with_tool = model().bind_tools([weather])
    asked = [HumanMessage("How is the weather in Oslo?")]
    call = with_tool.invoke(asked)
    results = [ToolMessage(weather.invoke(each["args"]), tool_call_id=each["id"]) for each in call.tool_calls]
    return {"text": with_tool.invoke([*asked, call, *results]).content}


def usage():
    spent = model().invoke(question).usage_metadata
    return {"prompt_tokens": spent["input_tokens"], "completion_tokens": spent["output_tokens"]}


unknown = model("gpt-4o-mini")
report(
    {
        "chat": lambda: {"text": model().invoke(question).content},
        "chatStream": lambda: collected(part.content for part in model().stream(question)),
        "usage": usage,
        "agent": agent,
        "respond": lambda: {"text": model(use_responses_api=True).invoke(question).text},
        "withoutCredential": lambda: without_credential(lambda: unknown.invoke(question)),
    }
)
