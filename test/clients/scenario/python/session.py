"""An agent, a session with text turns, and its call with report and recording."""

import time
from collections.abc import Mapping

from parley import Session

from settings import URL, Steps, platform

QUESTIONS = ["How are you?", "Goodbye."]
PROVIDERS = ["loopback"]
TRIES = 200

made = {"agent": "", "session": ""}


def agent() -> Mapping[str, object]:
    answer = platform.create_agent(
        {
            "name": "Scenario",
            "systemPrompt": "Be brief.",
            "intent": {"language": "en"},
            "stackPreferences": {"allowedProviders": {"stt": PROVIDERS, "llm": PROVIDERS, "tts": PROVIDERS}},
        }
    )
    made["agent"] = answer["id"]
    return {"name": answer["name"], "language": answer["intent"]["language"]}


def session() -> Mapping[str, object]:
    """Types the next question after each answer, and hangs up after the last answer."""
    started = platform.create_session({"agentId": made["agent"]})
    made["session"] = started["sessionId"]
    left, answers, end = list(QUESTIONS), [], None
    with Session(URL, started["transportToken"]).session_media(made["session"]) as socket:
        for frame in socket:
            if isinstance(frame, bytes):
                continue
            if frame["type"] == "mark":
                socket.send({"type": "played", "mark": frame["name"]})
            if frame["type"] == "agent_message" and frame["isFinal"]:
                answers.append(frame["text"])
            if frame["type"] == "ready" or (frame["type"] == "agent_message" and frame["isFinal"]):
                socket.send({"type": "user_message", "text": left.pop(0)} if left else {"type": "end"})
            if frame["type"] == "end":
                end = frame["reason"]
    return {"answers": answers, "end": end}


def call() -> Mapping[str, object]:
    """Waits until the recording is stored."""
    for _ in range(TRIES):
        if platform.get_session(made["session"])["recordingStatus"] == "ready":
            answer = platform.get_call(made["session"])
            return {"status": answer["status"], "kind": answer["kind"]}
        time.sleep(0.1)
    raise TimeoutError("the recording is not ready")


def report() -> Mapping[str, object]:
    entries = platform.get_call_report(made["session"])["transcript"]["entries"]
    return {"turns": [f"{entry['source']}: {entry['text']}" for entry in entries]}


def recording() -> Mapping[str, object]:
    audio = platform.get_call_recording_audio(made["session"])
    return {"starts": audio[:4].decode(), "is_long": len(audio) > 10_000}


STEPS: Steps = {"agent": agent, "session": session, "call": call, "report": report, "recording": recording}
