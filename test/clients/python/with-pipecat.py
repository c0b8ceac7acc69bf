"""Runs each of Pipecat's services for OpenAI in a separate pipeline, with the frames that a voice bot sends."""

import wave

from loguru import logger

logger.remove()

from pipecat.frames.frames import (
    ErrorFrame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    LLMContextFrame,
    LLMTextFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.worker import PipelineParams
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.openai.stt import OpenAIRealtimeSTTService, OpenAISTTService
from pipecat.services.openai.tts import OpenAITTSService
from pipecat.tests.utils import SleepFrame, run_test

from steps import api_key, base_url, collected, question, recording, report, sentence, without_credential_async

server = {"base_url": base_url, "api_key": api_key}
realtime_url = base_url.replace("http", "ws", 1) + "/realtime"


async def run(service, frames, rate=24_000):
    params = PipelineParams(audio_in_sample_rate=rate, audio_out_sample_rate=rate)
    down, up = await run_test(service, frames_to_send=frames, pipeline_params=params)
    errors = [frame.error for frame in [*down, *up] if isinstance(frame, ErrorFrame)]
    if errors:
        raise RuntimeError(errors[0])
    return down


def llm(model):
    return OpenAILLMService(settings=OpenAILLMService.Settings(model=model), **server)


def context():
    return LLMContext([{"role": "user", "content": question}])


async def chat_stream():
    frames = await run(llm("auto"), [LLMContextFrame(context()), SleepFrame(sleep=1)])
    return collected(frame.text for frame in frames if isinstance(frame, LLMTextFrame))


def spoken(pause_s):
    """Returns the recording in frames, between the frames with which a voice activity detector marks speech."""
    with wave.open(recording) as file:
        rate, samples = file.getframerate(), file.readframes(file.getnframes())
    pieces = [samples[at : at + rate // 25] for at in range(0, len(samples), rate // 25)]
    audio = []
    for piece in pieces:
        audio += [InputAudioRawFrame(audio=piece, sample_rate=rate, num_channels=1), SleepFrame(sleep=pause_s)]
    return rate, [VADUserStartedSpeakingFrame(), *audio, VADUserStoppedSpeakingFrame(), SleepFrame(sleep=2)]


async def transcribe():
    service = OpenAISTTService(settings=OpenAISTTService.Settings(model="auto"), **server)
    rate, frames = spoken(0)
    heard = await run(service, frames, rate)
    return {"text": " ".join(frame.text for frame in heard if isinstance(frame, TranscriptionFrame))}


async def captions():
    settings = OpenAIRealtimeSTTService.Settings(model="auto")
    service = OpenAIRealtimeSTTService(base_url=realtime_url, api_key=api_key, settings=settings)
    rate, frames = spoken(0.02)
    heard = await run(service, frames, rate)
    interims = [frame.text for frame in heard if isinstance(frame, InterimTranscriptionFrame)]
    return {
        "text": " ".join(frame.text for frame in heard if isinstance(frame, TranscriptionFrame)),
        "captions": ["".join(interims[: count + 1]) for count in range(len(interims))],
    }


async def speak():
    service = OpenAITTSService(settings=OpenAITTSService.Settings(model="auto", voice="alloy"), **server)
    frames = await run(service, [TTSSpeakFrame(sentence), SleepFrame(sleep=2)])
    audio = [frame.audio for frame in frames if isinstance(frame, TTSAudioRawFrame)]
    return {"seconds": sum(map(len, audio)) / 48_000, "pieces": len(audio)}


unknown = llm("gpt-4o-mini")
report(
    {
        "chatStream": chat_stream,
        "transcribe": transcribe,
        "captions": captions,
        "speakSeconds": speak,
        "withoutCredential": lambda: without_credential_async(lambda: unknown.run_inference(context())),
    }
)
