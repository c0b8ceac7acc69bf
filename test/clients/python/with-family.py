"""The Python SDK of the hosted product, with another address and key: each method whose resource this server has."""

import os
import time

from spekoai import Speko
from spekoai.models import AgentToolCreateParams

from steps import api_key, base_url, recording, report, sentence

client = Speko(api_key=api_key, base_url=base_url.removesuffix("/v1"), timeout=60)
receiver = os.environ["PARLEY_RECEIVER"]
intent = {"language": "en"}
prompt = "You are the front desk of a shop."
# The first leaves a second after it has answered, the second says nothing.
leaves, silent = "+15005550021", "+15005550011"
known = {}


def shown(row):
    return row.model_dump(by_alias=True, exclude_none=True)


def transcribe():
    with open(recording, "rb") as file:
        return client.transcribe(file.read(), language="en", optimize_for="accuracy", keywords=["privacy"]).text


def synthesize():
    speech = client.synthesize(sentence, language="en")
    return {"bytes": len(speech.audio), "type": speech.content_type, "provider": speech.provider, "model": speech.model}


def complete():
    result = client.complete(messages=[{"role": "user", "content": "Hello?"}], intent=intent)
    return {"text": result.text, "tokens": result.usage.completion_tokens}


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
    return shown(agent)


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
    client.agents.tools.get(known["agent"], tool.id)
    changed = client.agents.tools.update(known["agent"], tool.id, {"pre_tool_speech": "never", "tool_sound": None, "simulation": None})
    return shown(changed)


def other_tools():
    schema = {"type": "object", "properties": {}}
    inline = AgentToolCreateParams(name="show_map", description="Shows a map.", parameters=schema, source={"kind": "inline"})
    client.agents.tools.create(known["agent"], inline)
    builtin = {"name": "hang_up", "description": "Ends.", "parameters": schema, "source": {"kind": "builtin", "name": "end_call"}}
    client.agents.tools.create(known["agent"], builtin)
    return sorted(tool.name for tool in client.agents.tools.list_chat_tools(known["agent"], available=True))


def chat_tools():
    tools = client.agents.tools.list_chat_tools(known["agent"])
    inline = [tool for tool in tools if tool.name == "show_map"]
    return client.complete(messages=[{"role": "user", "content": "Hello?"}], intent=intent, tools=inline).text


def numbers():
    rows = client.phone_numbers.list()
    known["number"] = rows[0].id
    labelled = client.phone_numbers.update(rows[0].id, {"label": "Desk", "sms_automation_enabled": False})
    return {"count": len(rows), "nextChargeAt": labelled.next_charge_at, "label": labelled.label}


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


def kyb():
    overview = client.phone_numbers.get_kyb()
    return {"status": overview.status, "submission": overview.submission and overview.submission.slack_notification_status}


def dial():
    call = client.voice.dial({
        "to": leaves,
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
    kinds = {event.type for event in client.sessions.stream(known["call"])}
    turns = client.sessions.transcript(known["call"]).entries
    return {"kinds": sorted(kinds), "turns": len(turns)}


def finished():
    finalized = client.calls.finalize_report(known["call"], {"force_analysis": False})
    call = client.calls.get(known["call"])
    report_row = client.calls.report(known["call"])
    events = client.calls.events(known["call"])
    return {
        "status": call.status,
        "report": call.report is not None,
        "cost": report_row.cost_micro_usd,
        "lines": [line.cost_micro_usd for line in report_row.cost_breakdown],
        "finalized": finalized.cost_micro_usd,
        "events": len(events),
        "end": client.calls.end(known["call"]).status,
        "listed": [entry.call_id for entry in client.agents.list_calls(known["agent"]).calls] == [known["call"]],
    }


def transfers():
    call = client.voice.dial({"to": silent, "intent": intent, "system_prompt": prompt, "llm": {"temperature": 0.5}})
    for event in client.sessions.stream(call.session_id):
        if event.type == "status" and event.status == "in_progress":
            break
    warm = client.calls.warm_transfer(call.session_id, {
        "destinations": [{"to": "+15005550002", "outbound_trunk_id": None}],
        "outbound_trunk_id": None,
        "wait_until_answered": False,
        "voicemail_detection": {"enabled": False},
        "summary": "About an order.",
    })
    cancelled = client.calls.cancel_warm_transfer(call.session_id, warm.id, {"summary": "Nobody came.", "reason": "Too late."})
    ended = client.calls.end(call.session_id)
    return {"warm": warm.status, "cancelled": cancelled.status, "summary": cancelled.summary, "end": ended.status}


def webhooks():
    created = client.webhooks.create({"name": "calls", "url": receiver, "events": ["call.status"], "content_mode": "full"})
    changed = client.webhooks.update(created.id, {"timeout_ms": 5000, "content_mode": "full"})
    known["endpoint"] = created.id
    return {"mode": changed.content_mode, "listed": len(client.webhooks.list()), "same": client.webhooks.get(created.id).id == created.id}


def deliveries():
    client.voice.dial({"to": leaves, "intent": intent, "system_prompt": prompt})
    until = time.monotonic() + 30
    while time.monotonic() < until:
        done = [row for row in client.webhooks.deliveries.list(endpoint_id=known["endpoint"]).data if row.attempts > 0]
        if done:
            break
        time.sleep(0.2)
    detail = client.webhooks.deliveries.get(done[-1].id)
    redelivered = client.webhooks.deliveries.redeliver(done[-1].id)
    return {"event": detail.event, "body": detail.attempts[0].request_body["type"], "delivered": redelivered.delivered}


def usage():
    summary = client.usage.get()
    units = sorted({(line.provider, line.metric) for line in summary.breakdown})
    return {"sessions": summary.total_sessions, "currency": summary.currency, "units": units, "minutes": summary.total_minutes > 0}


def credits():
    page = client.credits.get_ledger(limit=1)
    return {"currency": client.credits.get_balance().currency, "entries": len(page.entries)}


def voices():
    every, local = client.voices.list(), client.voices.list(provider="local-tts")
    return {"vendors": sorted({voice.vendor for voice in local.voices}), "providers": len(every.providers) > 0}


def delete_agent():
    client.phone_numbers.update(known["number"], {"agent_id": None})
    client.agents.tools.delete(known["agent"], known["tool"])
    return client.agents.delete(known["agent"])


report({
    "transcribe": transcribe,
    "synthesize": synthesize,
    "complete": complete,
    "createAgent": create_agent,
    "listAgents": lambda: [client.agents.get(agent.id).name for agent in client.agents.list()],
    "updateAgent": update_agent,
    "webhookTool": webhook_tool,
    "otherTools": other_tools,
    "chatTools": chat_tools,
    "numbers": numbers,
    "detach": detach,
    "buy": buy,
    "kyb": kyb,
    "dial": dial,
    "follow": follow,
    "finished": finished,
    "transfers": transfers,
    "webhooks": webhooks,
    "deliveries": deliveries,
    "usage": usage,
    "credits": credits,
    "voices": voices,
    "callbacks": lambda: client.callbacks.list(),
    "deleteAgent": delete_agent,
})
