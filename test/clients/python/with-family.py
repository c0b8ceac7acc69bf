"""Calls the hosted product's Python SDK with another address and key: each method whose resource this server has."""

import os
import re
import urllib.request

from spekoai import AsyncSpeko, Speko
from spekoai.models import AgentToolCreateParams

from recorded import Recorded, methods_of
from steps import api_key, base_url, recording, report, sentence

# Resources without operations in this server. The method `close` sends no request.
absent = ("knowledge_bases.", "sms.")
without_request = {"close"}

address = {"base_url": base_url.removesuffix("/v1"), "timeout": 60}
sdk = Speko(api_key=api_key, **address)
called = set()
client = Recorded(sdk, called)
# A client for an organization whose business is not verified.
applicant = Recorded(Speko(api_key=os.environ["PARLEY_APPLICANT_KEY"], **address), called)
receiver = os.environ["PARLEY_RECEIVER"]
intent = {"language": "en"}
prompt = "You are the front desk of a shop."
# The person at this number says nothing.
silent = "+15005550011"
# The first phone rings and is never answered. The second phone answers, and says nothing when it is asked to take the
# call.
rings, undecided = "+15005550002", "+15005550019"
known = {}


def shown(row):
    return row.model_dump(by_alias=True, exclude_none=True)


def received(event):
    """Waits until the receiver has got an event with this type."""
    urllib.request.urlopen(f"{receiver}/{event}", timeout=60).close()


def audio_file():
    with open(recording, "rb") as file:
        return file.read()


def transcribe():
    return client.transcribe(audio_file(), language="en", optimize_for="accuracy", keywords=["privacy"]).text


def transcribe_stream():
    events = list(client.transcribe_stream(audio_file(), language="en"))
    return {"types": sorted({event.type for event in events}), "same": events[-1].text == known_text()}


def known_text():
    return sdk.transcribe(audio_file(), language="en").text


def synthesize():
    speech = client.synthesize(sentence, language="en")
    known["speech"] = len(speech.audio)
    return {"hasAudio": len(speech.audio) > 0, "type": speech.content_type, "provider": speech.provider, "model": speech.model}


def synthesize_stream():
    with client.synthesize_stream(sentence, language="en") as speech:
        return {"provider": speech.provider, "same": sum(len(chunk) for chunk in speech) == known["speech"]}


def complete():
    result = client.complete(messages=[{"role": "user", "content": "Hello?"}], intent=intent)
    return {"text": result.text, "tokens": result.usage.completion_tokens}


def complete_stream():
    events = list(client.complete_stream(messages=[{"role": "user", "content": "Hello?"}], intent=intent))
    return {"types": sorted({event.type for event in events}), "text": events[-1].text}


def create_agent():
    secret = {"url": receiver, "secret": "a secret of an agent", "auth_headers": [{"name": "x-token", "value": "t"}]}
    agent = client.agents.create({
        "name": "Front desk",
        "system_prompt": prompt,
        "intent": {"language": "en", "optimize_for": "latency"},
        "llm_options": {"model": "stub:stub-llm"},
        "stack_preferences": {"allowed_providers": {"tts": ["local"], "s2s": []}},
        "background_audio": {"ambient": {"clip": "office-ambience", "volume": 8}, "tool_sound": {"clip": "keyboard-typing", "min_duration_ms": 0}},
        "audio_output": {"gain_db": 0},
        "webhooks": {"status": {**secret, "response_mode": "sync"}, "recording": {"url": receiver}},
        "prompt_variables": [{"name": "shop"}],
    })
    known["agent"] = agent.id
    status = agent.webhooks.status
    refs = [status.secret_ref, status.auth_headers[0].secret_ref, agent.webhooks.recording.secret_ref]
    return {
        "name": agent.name,
        "intent": shown(agent.intent),
        "tts": agent.stack_preferences.allowed_providers.tts,
        "clips": [agent.background_audio.ambient.clip, agent.background_audio.tool_sound.clip],
        "refs": [ref.split(":")[0] for ref in refs],
        "extractionFields": agent.extraction_fields,
    }


def list_agents():
    return [client.agents.get(agent.id).name for agent in client.agents.list()]


def update_agent():
    fields = [{"name": "topic", "type": "string", "description": "What it was about."}]
    return shown(client.agents.update(known["agent"], {"webhooks": None, "extraction_fields": fields}))["extractionFields"]


def webhook_tool():
    source = {
        "kind": "webhook",
        "url": receiver,
        "secret": "a secret of a tool",
        "auth_headers": [{"name": "authorization", "value": "Bearer t"}],
    }
    tool = client.agents.tools.create(known["agent"], {
        "name": "find_order",
        "description": "Finds an order.",
        "parameters": {"type": "object", "properties": {}},
        "source": source,
        "tool_sound": {"enabled": True},
        "simulation": {"mode": "live"},
    })
    known["tool"] = tool.id
    read = client.agents.tools.get(known["agent"], tool.id)
    changed = client.agents.tools.update(known["agent"], tool.id, {"pre_tool_speech": "never", "tool_sound": None, "simulation": None})
    return {"kind": read.source.kind, "ref": read.source.secret_ref.split(":")[0], "speech": [read.pre_tool_speech, changed.pre_tool_speech]}


def other_tools():
    schema = {"type": "object", "properties": {}}
    inline = AgentToolCreateParams(name="show_map", description="Shows a map.", parameters=schema, source={"kind": "inline"})
    client.agents.tools.create(known["agent"], inline)
    builtin = {"name": "hang_up", "description": "Ends.", "parameters": schema, "source": {"kind": "builtin", "name": "end_call"}}
    client.agents.tools.create(known["agent"], builtin)
    return sorted(tool.name for tool in client.agents.tools.list(known["agent"], available=True))


def chat_tools():
    tools = client.agents.tools.list_chat_tools(known["agent"])
    inline = [tool for tool in tools if tool.name == "show_map"]
    return client.complete(messages=[{"role": "user", "content": "Hello?"}], intent=intent, tools=inline).text


def numbers():
    rows = client.phone_numbers.list()
    known["number"] = rows[0].id
    labelled = client.phone_numbers.update(rows[0].id, {"label": "Desk", "sms_automation_enabled": False})
    return {"count": len(rows), "nextCharge": labelled.next_charge_at > labelled.created_at, "label": labelled.label}


def detach():
    client.agents.attach_phone_number(known["agent"], known["number"])
    client.phone_numbers.update(known["number"], {"dispatch_metadata_template": None})
    alone = client.agents.detach_phone_number(known["number"])
    again = client.agents.attach_phone_number(known["agent"], known["number"])
    return {"alone": alone.direction, "again": again.direction, "inbound": again.setup_status.inbound_ready}


def buy():
    offer = client.phone_numbers.search_available(area_code="212", limit=1)[0]
    bought = client.phone_numbers.create({"e164": offer.e164})
    client.phone_numbers.get(bought.id)
    return {"direction": bought.direction, "released": client.phone_numbers.delete(bought.id)}


def import_number():
    number = client.phone_numbers.import_sip_trunk({
        "e164": "+12125550188",
        "sip_connection_installation_id": os.environ["PARLEY_CONNECTION"],
        "dispatch_metadata_template": {"turnHandling": {"turnDetection": True}},
    })
    template = number.dispatch_metadata_template["turnHandling"]
    return {"source": number.source, "direction": number.direction, "detection": template["turnDetection"]}


def kyb():
    overview = client.phone_numbers.get_kyb()
    return {"status": overview.status, "submission": overview.submission and overview.submission.slack_notification_status}


def submit_kyb():
    address = {"street": "1 Main Street", "city": "Boston", "state": "MA", "postal_code": "02108", "country": "US"}
    profile = {"legal_name": "Harbor", "display_name": "", "entity_type": "", "country": "", "website": "", "use_case": "", "expected_usage": ""}
    person = {"name": "Dana Reed", "title": "", "email": ""}
    draft = applicant.phone_numbers.save_kyb_draft({"business_profile": {**profile, "address": address}, "authorized_representative": person})
    stored = {"business_profile": shown(draft.business_profile), "authorized_representative": shown(draft.authorized_representative)}
    again = applicant.phone_numbers.save_kyb_draft(stored)
    declaration = {"business_name": "Harbor", "use_case": "Appointments"}
    submitted = applicant.phone_numbers.submit_kyb({"declaration": declaration, "attestation_accepted": True, "attestation_version": "1"})
    return {
        "drafts": [draft.status, again.status],
        "same": shown(again.business_profile) == stored["business_profile"],
        "submitted": submitted.status,
        "person": submitted.authorized_representative.name,
    }


def webhooks():
    events = ["call.status", "call.recording"]
    created = client.webhooks.create({"name": "calls", "url": receiver, "events": events, "content_mode": "full"})
    changed = client.webhooks.update(created.id, {"timeout_ms": 5000, "content_mode": "full"})
    known["endpoint"] = created.id
    return {"mode": changed.content_mode, "listed": len(client.webhooks.list()), "same": client.webhooks.get(created.id).id == created.id}


def dial():
    call = client.voice.dial({
        "to": silent,
        "agent_id": known["agent"],
        "intent": {"language": "en", "optimize_for": "accuracy"},
        "system_prompt": prompt,
        "first_message": "Hello.",
        "variables": {"shop": "ours"},
        "tool_secrets": {},
        "turn_handling": {
            "profile": "ivr",
            "turn_detection": True,
            "vad": {"provider": "silero"},
            "noise_cancellation": {"enabled": False},
            "context_threshold": False,
            "greet_first": True,
        },
        "telephony": {"amd": {"mode": "disabled"}},
        "metadata": {"order": "4711"},
    })
    known["call"] = call.session_id
    return call.status


def follow():
    kinds = set()
    for event in client.sessions.stream(known["call"]):
        # The person at this number says nothing and stays, so the call ends when the agent's words have come.
        if event.type == "transcript" and "transcript" not in kinds:
            client.calls.end(known["call"])
        kinds.add(event.type)
    turns = client.sessions.transcript(known["call"]).entries
    return {"kinds": sorted(kinds), "hasTurns": len(turns) > 0}


def finished():
    finalized = client.calls.finalize_report(known["call"], {"force_analysis": False})
    call = client.calls.get(known["call"])
    report_row = client.calls.report(known["call"])
    return {
        "status": call.status,
        "report": call.report is not None,
        "cost": report_row.cost_micro_usd,
        "lines": sorted({line.cost_micro_usd for line in report_row.cost_breakdown}),
        "finalized": finalized.cost_micro_usd,
        "hasEvents": len(client.calls.events(known["call"])) > 0,
        "end": client.calls.end(known["call"]).status,
        "listed": [entry.call_id for entry in client.agents.list_calls(known["agent"]).calls] == [known["call"]],
    }


def recorded_call():
    received("call.recording")
    return client.calls.recording(known["call"]).url.startswith("http")


def deliveries():
    received("call.status")
    rows = client.webhooks.deliveries.list(endpoint_id=known["endpoint"], event="call.status").data
    redelivered = client.webhooks.deliveries.redeliver(rows[-1].id)
    detail = client.webhooks.deliveries.get(rows[-1].id)
    none = client.webhooks.deliveries.list(event="imessage.received").data
    bodies = {attempt.request_body["type"] for attempt in detail.attempts}
    return {"event": detail.event, "bodies": sorted(bodies), "delivered": redelivered.delivered, "rich": none}


def live_call():
    """Places a call whose person stays on the line. Returns its id once the call is in progress."""
    call = client.voice.dial({"to": silent, "intent": intent, "system_prompt": prompt, "llm": {"temperature": 0.5}})
    for event in client.sessions.stream(call.session_id):
        if event.type == "status" and event.status == "in_progress":
            return call.session_id
    raise AssertionError("the call has ended")


def has_event(call, wanted):
    return any(event.type == "event" and event.event.event_type == wanted for event in client.sessions.stream(call))


def warm_transfers():
    call = live_call()
    joined = client.calls.web_join(call, {"display_name": "Ann"})
    warm = client.calls.warm_transfer(call, {
        "destinations": [{"to": rings, "outbound_trunk_id": None}],
        "outbound_trunk_id": None,
        "wait_until_answered": False,
        "voicemail_detection": {"enabled": False},
        "summary": "About an order.",
    })
    cancelled = client.calls.cancel_warm_transfer(call, warm.id, {"summary": "Nobody came.", "reason": "Too late."})
    asked = {"destinations": [{"to": undecided}], "voicemail_detection": {"enabled": False}, "screening_timeout": 120}
    second = client.calls.warm_transfer(call, asked)
    screening = has_event(call, "transfer.screening")
    completed = client.calls.complete_warm_transfer(call, second.id, {"summary": "She takes it."})
    ended = client.calls.end(call)
    return {
        "joined": bool(joined.token and joined.url and joined.identity),
        "warm": warm.status,
        "cancelled": [cancelled.status, cancelled.summary],
        "fallback": cancelled.fallback and cancelled.fallback.message,
        "screening": screening,
        "completed": [completed.status in ("bridging", "completed"), completed.summary],
        "end": ended.status,
    }


def blind_transfer():
    call = live_call()
    transfer = client.calls.blind_transfer(call, {"to": rings, "play_dialtone": False, "ringing_timeout": 30})
    return {"kind": transfer.kind, "to": transfer.transfer_to, "end": client.calls.end(call).status}


def callbacks():
    ids = [row.id for row in client.callbacks.list(status="scheduled")]
    cancelled = client.callbacks.cancel(os.environ["PARLEY_CALLBACK_TO_CANCEL"], {"reason": "Called already."})
    dispatched = client.callbacks.dispatch(os.environ["PARLEY_CALLBACK_TO_MAKE"])
    read = client.callbacks.get(dispatched.id)
    client.calls.end(dispatched.created_session_id)
    return {"scheduled": len(ids), "cancelled": cancelled.status, "dispatched": [dispatched.status, read.status]}


def usage():
    summary = client.usage.get()
    sources = sorted({line.key_source for line in summary.breakdown})
    return {"sessions": summary.total_sessions, "currency": summary.currency, "minutes": summary.total_minutes > 0, "sources": sources}


def credits():
    page = client.credits.get_ledger(limit=1)
    return {"currency": client.credits.get_balance().currency, "entries": len(page.entries), "more": page.next_cursor is not None}


def voices():
    every, local = client.voices.list(), client.voices.list(provider="local-tts")
    return {"vendors": sorted({voice.vendor for voice in local.voices}), "more": len(every.providers) > 1}


def delete_agent():
    client.phone_numbers.update(known["number"], {"agent_id": None})
    client.webhooks.delete(known["endpoint"])
    deleted = client.agents.tools.delete(known["agent"], known["tool"])
    return {"tool": deleted, "agent": client.agents.delete(known["agent"]), "webhooks": client.webhooks.list()}


async def asynchronously():
    async with AsyncSpeko(api_key=api_key, **address) as speko:
        spoken = await speko.transcribe(audio_file(), language="en")
        completed = await speko.complete(messages=[{"role": "user", "content": "Hello?"}], intent=intent)
        speech = await speko.synthesize(sentence, language="en")
        call = await speko.calls.get(known["call"])
        page = await speko.webhooks.deliveries.list(limit=1)
        numbers, balance = await speko.phone_numbers.list(), await speko.credits.get_balance()
        return {
            "spoken": spoken.text == known_text(),
            "completed": completed.text,
            "speech": len(speech.audio) == known["speech"],
            "call": call.status,
            "lists": [len(page.data), len(await speko.agents.list()), len(numbers) > 0],
            "currency": balance.currency,
            "more": sorted(set(methods_of(speko)) - set(methods_of(sdk))),
        }


def not_called():
    """Returns the SDK's methods without a call by any step. Methods of absent resources are left out."""
    wanted = {name for name in methods_of(sdk) if not name.startswith(absent)} - without_request
    return {"notCalled": sorted(wanted - called), "hasMany": len(wanted) > 50, "unknown": sorted(called - wanted)}


steps = [
    *(transcribe, transcribe_stream, synthesize, synthesize_stream, complete, complete_stream),
    *(create_agent, list_agents, update_agent, webhook_tool, other_tools, chat_tools),
    *(numbers, detach, buy, import_number, kyb, submit_kyb, webhooks),
    *(dial, follow, finished, recorded_call, deliveries, warm_transfers, blind_transfer, callbacks),
    *(usage, credits, voices, asynchronously, delete_agent, not_called),
]
report({re.sub("_(.)", lambda found: found[1].upper(), step.__name__): step for step in steps})
