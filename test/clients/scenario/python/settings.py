"""The environment, and the clients that all steps share."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from parley import Compat, Platform, Realtime, Router
from parley.schemas.router import InputItem, LLMRequest, Routing

Steps = Mapping[str, Callable[[], Mapping[str, object]]]

TEXT = "Hello there."
# Answers with the request's text, and with a tone as long as the text.
MODEL = "loopback/loopback"
ROUTING: Routing = {"mode": "explicit", "model": MODEL}
QUESTION: InputItem = {"type": "message", "role": "user", "content": [{"type": "text", "text": TEXT}]}
REQUEST: LLMRequest = {"input": [QUESTION], "max_output_tokens": 20, "routing": ROUTING}

URL = os.environ["PARLEY_URL"]
KEY = os.environ["PARLEY_API_KEY"]
FAULTS_URL = os.environ["PARLEY_FAULTS_URL"]
RECORDING = Path(os.environ["PARLEY_WAV"])

router = Router(URL, KEY)
compat = Compat(URL, KEY)
platform = Platform(URL, KEY)
realtime = Realtime(URL, KEY)


def words_of(transcript: str) -> str:
    """Returns the text in lower case, without signs."""
    return re.sub("[^a-z]+", " ", transcript.lower()).strip()
