import type { CallStore } from '../../domain/calls/store.ts'
import type { CallEntry } from '../../domain/records/call.ts'
import { newCall, newEvent, newSpan, newTurn, pipeline } from '../calls/call.ts'

/** Stores a call with all parts that the contract's examples show, as a live conversation stores it. */
export async function storeCalls(calls: CallStore, organizationId: string, agentId: string, keyId: string) {
  const tool = {
    name: 'find_order',
    description: 'Finds an order.',
    parameters: {},
    source: {
      kind: 'webhook' as const,
      url: 'https://shop.example/',
      hasSecret: false,
      headers: null,
      authHeaders: null,
      timeoutMs: null,
      responseMode: null,
      asyncAck: null,
    },
    preToolSpeech: 'auto' as const,
  }
  const store = async (...entries: CallEntry[]) => {
    const call = newCall(organizationId, { agentId, keyId, pipeline: { ...pipeline, tools: [tool] } })
    await calls.insert(call, {})
    if (entries.length > 0) await calls.append(call, call.id, entries)
    return call.id
  }
  const atMs = Date.now()
  const agentTurn = newTurn({
    source: 'agent',
    text: 'Hello, how can I help?',
    provider: null,
    model: null,
    ttsTtfbMs: 48,
    latencyStatus: 'complete',
    playedText: 'Hello, how can I help?',
    metadata: { ttsProvider: 'local', ttsModel: 'flite', voice: 'slt' },
  })
  const llm = newSpan({
    kind: 'llm',
    criticalMs: 300,
    attributes: { provider: 'local', model: 'scripted', request_id: 'req_5pLmXw2RtYc8VbNq1ZsKd' },
  })
  const attributes = { index: 1, silence_ms: 380, interrupted: false, preempted: false }
  const live = await store(
    {
      kind: 'move',
      event: newEvent('call.in_progress'),
      to: 'in_progress',
      change: { startedAtMs: atMs },
    },
    { kind: 'turn', turn: agentTurn },
    { kind: 'span', span: newSpan({ attributes, children: [llm] }) },
    { kind: 'recording', event: newEvent('recording.recording'), status: 'recording', durationMs: null },
  )
  const call = { id: 'call_1', name: 'find_hours', args: '{"day":"today"}', status: 'completed' as const }
  const transcript = await store(
    { kind: 'turn', turn: newTurn() },
    {
      kind: 'turn',
      turn: newTurn({
        index: 1,
        source: 'agent',
        text: 'At nine. On Sundays at ten.',
        model: 'scripted',
        eouMs: 260,
        llmTtftMs: 12,
        ttsTtfbMs: 48,
        conversationalLatencyMs: 380,
        latencyStatus: 'interrupted',
        toolCalls: [call],
        playedText: 'At nine.',
        metadata: { ttsProvider: 'local', ttsModel: 'flite', voice: 'slt' },
      }),
    },
  )
  return { live, transcript, store }
}
