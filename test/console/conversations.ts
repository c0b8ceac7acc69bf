/** Makes conversations with words, times and steps, each determined by a number, for tests of the console's pages. */
import type { CallEntry, Span, Turn, TurnToolCall } from '../../domain/records/call.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { newEvent, newSpan, newTurn } from '../calls/call.ts'

/** A question and its answer. If the caller interrupts, `played` is the answer's played part. */
type Exchange = {
  question: string
  answer: string
  played?: string
  tool?: { name: string; args: string; ok: boolean }
}

const exchanges: readonly Exchange[] = [
  { question: 'Hello. Do you have a spare tyre for a racing bicycle?', answer: 'We do. Which size do you need?' },
  {
    question: 'It says seven hundred by twenty five.',
    answer: 'One moment, I will look that up. Yes, we have eleven of them at 34 dollars each.',
    tool: { name: 'find_stock', args: '{"item":"tyre","size":"700x25"}', ok: true },
  },
  {
    question: 'Can you keep two for me until Saturday?',
    answer: 'Certainly. I have put two aside under your number, and we are open on Saturday from nine until four.',
    played: 'Certainly. I have put two aside under your number,',
  },
  {
    question: 'Wait, until when are you open?',
    answer: 'On Saturday from nine in the morning until four in the afternoon.',
  },
  {
    question: 'And can I pay by card?',
    answer: 'I could not look that up just now. I believe that we take all cards.',
    tool: { name: 'payment_options', args: '{"shop":"main"}', ok: false },
  },
  { question: 'Perfect, thank you. Goodbye.', answer: 'You are welcome. Goodbye, and enjoy the ride.' },
]

const greeting = 'Hello, this is the bicycle shop. How can I help?'

export type Conversation = { entries: readonly CallEntry[]; durationMs: number; spoken: readonly Speech[] }
/** One person's speech, in milliseconds after the call's start. */
export type Speech = { source: 'user' | 'agent'; startMs: number; endMs: number }

/** Makes a conversation's turns, spans and events. Every fifth conversation has a much slower turn. */
export function conversation(number: number, startedAtMs: number): Conversation {
  const made = new Maker(number, startedAtMs)
  made.agentTurn(greeting, { speechEndMs: null, parts: [] })
  const count = 2 + (number % (exchanges.length - 1))
  for (let at = 0; at < count; at++) made.exchange(exchanges[at] as Exchange, at)
  return { entries: made.entries, durationMs: made.nowMs + 400, spoken: made.spoken }
}

type Part = { kind: 'endpointing' | 'stt' | 'llm' | 'tool' | 'tts'; ms: number; attributes: Record<string, unknown> }

class Maker {
  readonly entries: CallEntry[] = []
  readonly spoken: Speech[] = []
  nowMs = 600
  #index = 0
  readonly #number: number
  readonly #startedAtMs: number

  constructor(number: number, startedAtMs: number) {
    this.#number = number
    this.#startedAtMs = startedAtMs
  }

  exchange({ question, answer, played, tool }: Exchange, at: number): void {
    const speechEndMs = this.userTurn(question)
    const isSlow = this.#number % 5 === 0 && at === 1
    const wait = (ms: number) => ms + ((this.#number * 37 + at * 53) % 90)
    const vendor = (provider: string, model: string) => ({ provider, model, attempt_id: `att_${this.#number}_${at}` })
    const parts: Part[] = [
      { kind: 'endpointing', ms: 250, attributes: {} },
      { kind: 'stt', ms: wait(40), attributes: vendor('deepgram', 'nova-3') },
      { kind: 'llm', ms: wait(isSlow ? 1900 : 230), attributes: vendor('openai', 'gpt-4o-mini') },
      ...(tool
        ? [{ kind: 'tool' as const, ms: wait(tool.ok ? 180 : 900), attributes: { name: tool.name, ok: tool.ok } }]
        : []),
      { kind: 'tts', ms: wait(90), attributes: vendor('cartesia', 'sonic-2') },
    ]
    const calls = tool ? [toolCall(tool, this.#startedAtMs + speechEndMs, at)] : []
    this.agentTurn(answer, { speechEndMs, parts, toolCalls: calls, playedText: played ?? answer })
  }

  /** Adds a turn of the user. Returns the time at which its speech ends. */
  userTurn(text: string): number {
    const startMs = this.nowMs + 500
    const endMs = startMs + speechMs(text)
    this.#add({ source: 'user', text, provider: 'deepgram', model: 'nova-3', startMs, endMs })
    this.nowMs = endMs
    return endMs
  }

  agentTurn(
    text: string,
    {
      speechEndMs,
      parts,
      toolCalls = [],
      playedText = text,
    }: { speechEndMs: number | null; parts: readonly Part[] } & Partial<Pick<Turn, 'toolCalls' | 'playedText'>>,
  ): void {
    const silenceMs = speechEndMs === null ? 0 : parts.reduce((sum, { ms }) => sum + ms, 0) + unattributedMs
    const startMs = (speechEndMs ?? this.nowMs) + silenceMs
    const endMs = startMs + speechMs(playedText ?? text)
    const isInterrupted = playedText !== text
    const ms = (kind: Part['kind']) => parts.find((part) => part.kind === kind)?.ms ?? null
    const index = this.#index
    this.#add({
      ...{ source: 'agent', text, playedText, toolCalls, startMs, endMs, provider: 'openai', model: 'gpt-4o-mini' },
      ...{ eouMs: ms('endpointing'), llmTtftMs: ms('llm'), ttsTtfbMs: ms('tts') ?? 90 },
      ...{ conversationalLatencyMs: speechEndMs === null ? null : silenceMs },
      ...{ latencyStatus: isInterrupted ? 'interrupted' : 'complete' },
      metadata: { ttsProvider: 'cartesia', ttsModel: 'sonic-2', voice: 'katie' },
    })
    if (speechEndMs !== null) this.#addSpan({ index, startMs: speechEndMs, silenceMs, endMs, parts, isInterrupted })
    this.nowMs = endMs
  }

  #add({
    startMs,
    endMs,
    ...turn
  }: Partial<Turn> & { source: 'user' | 'agent'; startMs: number; endMs: number }): void {
    const times = { startedAtMs: this.#startedAtMs + startMs, endedAtMs: this.#startedAtMs + endMs }
    this.entries.push({ kind: 'turn', turn: newTurn({ ...turn, ...times, index: this.#index++ }) })
    this.spoken.push({ source: turn.source, startMs, endMs })
    for (const call of turn.toolCalls ?? [])
      for (const type of ['agent.tool_started', `agent.tool_${call.status}`] as const)
        this.entries.push({
          kind: 'event',
          event: newEvent(type, {
            occurredAtMs: this.#startedAtMs + startMs - 300,
            payload: { name: call.name },
          }),
        })
  }

  #addSpan(turn: {
    index: number
    startMs: number
    silenceMs: number
    endMs: number
    parts: readonly Part[]
    isInterrupted: boolean
  }): void {
    const { index, startMs, silenceMs, endMs, parts, isInterrupted } = turn
    let reachedMs = startMs
    const children: Span[] = parts.map(({ kind, ms, attributes }) => {
      const span = newSpan({ kind, startMs: reachedMs, durationMs: ms, criticalMs: ms, attributes })
      reachedMs += ms
      return span
    })
    const playedAtMs = startMs + silenceMs
    children.push(
      newSpan({ kind: 'playout', startMs: playedAtMs, durationMs: endMs - playedAtMs, attributes: { marks: 2 } }),
    )
    children.push(
      newSpan({ kind: 'unattributed', startMs: reachedMs, durationMs: unattributedMs, criticalMs: unattributedMs }),
    )
    const attributes = { index, silence_ms: silenceMs, interrupted: isInterrupted, preempted: false }
    const times = { startMs, durationMs: endMs - startMs, criticalMs: silenceMs }
    this.entries.push({ kind: 'span', span: newSpan({ id: systemIds.session(), ...times, attributes, children }) })
  }
}

function toolCall({ name, args, ok }: NonNullable<Exchange['tool']>, startedAtMs: number, at: number): TurnToolCall {
  const answer = ok
    ? { httpStatus: 200, result: '{"found":11,"priceUsd":34}' }
    : { httpStatus: 503, result: 'The tool failed.' }
  const times = { startedAtMs, durationMs: ok ? 180 : 900, attempts: ok ? 1 : 3 }
  return { id: `call_${at}`, name, args, status: ok ? 'completed' : 'failed', ...times, ...answer }
}

const unattributedMs = 23
/** People speak about 14 characters a second. */
const speechMs = (text: string) => Math.round((text.length / 14) * 1000)
