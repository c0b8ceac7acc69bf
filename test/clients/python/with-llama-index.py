"""Runs LlamaIndex's class for servers with OpenAI's protocol, alone and in an agent with a tool."""

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

from steps import api_key, base_url, collected, question, report, without_credential

messages = [ChatMessage(role="user", content=question)]


def model(name="auto"):
    return OpenAILike(
        model=name, api_base=base_url, api_key=api_key, is_chat_model=True, is_function_calling_model=True
    )


def weather(city: str) -> str:
    """The weather of a city."""
    return f"{city} is sunny."


async def agent():
    answer = await FunctionAgent(tools=[weather], llm=model()).run("How is the weather in Oslo?")
    return {"text": str(answer)}


unknown = model("gpt-4o-mini")
report(
    {
        "chat": lambda: {"text": model().chat(messages).message.content},
        "chatStream": lambda: collected(part.delta for part in model().stream_chat(messages)),
        "agent": agent,
        "withoutCredential": lambda: without_credential(lambda: unknown.chat(messages)),
    }
)
