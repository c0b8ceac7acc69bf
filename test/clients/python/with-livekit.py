"""Runs the OpenAI plugin of LiveKit Agents: its LLM, its voice and its recognizers, as an agent session uses them."""

import asyncio
import wave

from livekit import rtc
from livekit.agents import ChatContext, function_tool, utils
from livekit.agents.stt import SpeechEventType
from livekit.plugins import openai

from steps import api_key, base_url, collected, question, recording, report_async, sentence, without_credential_async

server = {"base_url": base_url, "api_key": api_key}
finals, interims = SpeechEventType.FINAL_TRANSCRIPT, SpeechEventType.INTERIM_TRANSCRIPT


auto, unknown = (openai.LLM(model=name, **server) for name in ("auto", "gpt-4o-mini"))
# By default the plugin sends Responses over a socket, but this server offers them only over HTTP.
responses = openai.responses.LLM(model="auto", use_websocket=False, **server)


@function_tool
async def weather(city: str) -> str:
    """The weather of a city."""
    return f"{city} is sunny."


def asked(text=question):
    context = ChatContext.empty()
    context.add_message(role="user", content=text)
    return context


async def chat(model, **options):
    return [part async for part in model.chat(chat_ctx=asked(), **options)]


async def chat_stream():
    return collected(part.delta.content for part in await chat(auto) if part.delta)


async def tool_call():
    parts = await chat(auto, tools=[weather])
    return [call.name for part in parts if part.delta for call in part.delta.tool_calls]


async def respond():
    return collected(part.delta.content for part in await chat(responses) if part.delta)


async def respond_tool_call():
    parts = await chat(responses, tools=[weather])
    return [call.name for part in parts if part.delta for call in part.delta.tool_calls]


def frames(tail_s=2.0):
    """Yields the recording at 24 kHz in frames of 50 ms, with silence after it, like audio from a microphone."""
    with wave.open(recording) as file:
        rate, samples = file.getframerate(), file.readframes(file.getnframes())
    resampler = rtc.AudioResampler(rate, 24_000)
    spoken = resampler.push(rtc.AudioFrame(samples, rate, 1, len(samples) // 2)) + resampler.flush()
    pcm = b"".join(frame.data.tobytes() for frame in spoken) + bytes(2 * int(tail_s * 24_000))
    for at in range(0, len(pcm) - 2400, 2400):
        yield rtc.AudioFrame(pcm[at : at + 2400], 24_000, 1, 1200)


async def transcribe():
    heard = await openai.STT(model="auto", use_realtime=False, **server).recognize(list(frames(0)))
    return {"text": heard.alternatives[0].text}


async def captions():
    """Feeds a realtime stream in real time. Returns its interim and final transcripts."""
    stream = openai.STT(model="auto", use_realtime=True, **server).stream()
    pump = asyncio.create_task(feed(stream))
    shown, complete = [], None
    async for event in stream:
        if event.type == interims:
            shown.append(event.alternatives[0].text)
        if event.type == finals:
            complete = event.alternatives[0].text
            break
    await utils.aio.cancel_and_wait(pump)
    await stream.aclose()
    return {"text": complete, "captions": shown}


async def feed(stream):
    for frame in frames():
        stream.push_frame(frame)
        await asyncio.sleep(0.05)
    await asyncio.sleep(10)


async def speak():
    tts = openai.TTS(model="auto", voice="alloy", response_format="pcm", **server)
    audio = [event.frame async for event in tts.synthesize(sentence)]
    return {"seconds": sum(frame.duration for frame in audio), "pieces": len(audio)}


async def ask_without_credential():
    await chat(unknown)


async def main():
    async with utils.http_context.open():
        await report_async(
            {
                "chatStream": chat_stream,
                "toolCall": tool_call,
                "respond": respond,
                "respondToolCall": respond_tool_call,
                "transcribe": transcribe,
                "captions": captions,
                "speakSeconds": speak,
                "withoutCredential": lambda: without_credential_async(ask_without_credential),
            }
        )


asyncio.run(main())
