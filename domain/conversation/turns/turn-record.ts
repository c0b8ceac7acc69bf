/** Writes a conversation's turns to the call's record, and shows the turns on the session's browser page. */
import type { Route } from '../../dispatch/request.ts'
import type { SessionEvent } from '../../ports/media.ts'
import type { Clock } from '../../ports/system.ts'
import type { Trace } from '../../ports/trace.ts'
import type { Turn } from '../../records/call.ts'
import { createCallTime } from '../../records/call-time.ts'
import type { CallLog } from '../parts/call-log.ts'
import type { FailoverRecord } from '../parts/failover-record.ts'
import type { JoinedPerson } from '../parts/live-call.ts'
import type { Playout } from '../speaking/playout.ts'
import type { AgentTurn } from './agent-turn.ts'
import { turnSpan } from './turn-span.ts'
import { recordAgentTurn, recordDroppedTurn, recordUserTurn } from './turn-trace.ts'
import type { SaidTurn } from './user-turn.ts'

/** Texts longer than this are shortened in the transcript. */
const turnCharactersMax = 16_384

export type TurnRecordDeps = {
  clock: Clock
  newId: () => string
  log: CallLog
  notify: (event: SessionEvent) => void
  /** Returns the route to the active speech-to-text provider. */
  sttRoute: () => Route | null
  playout: Pick<Playout, 'firstPlayedMs' | 'figures' | 'playedMs'>
  /** The call's start on the monotonic clock. */
  originMs: number
  /** The trace context for the call's span. Null if the call is not traced. */
  trace: Trace | null
}

export class TurnRecord implements FailoverRecord {
  readonly #deps: TurnRecordDeps
  readonly #timeOf: (monotonicMs: number) => number
  #turns = 0

  constructor(deps: TurnRecordDeps) {
    this.#deps = deps
    this.#timeOf = createCallTime(deps.clock)
  }

  /** Records that another provider now serves speech to text, the LLM or text to speech. */
  failedOver(stage: 'stt' | 'llm' | 'tts', from: Route | null, to: Route): void {
    this.#deps.log.event('agent.failover', {
      stage,
      ...(from && { from: `${from.provider}/${from.model}` }),
      to: `${to.provider}/${to.model}`,
      failovers: to.failovers,
    })
  }

  userText(id: string, text: string, isFinal: boolean): void {
    this.#deps.notify({ type: 'transcript', id, text, isFinal })
  }

  agentText(id: string, text: string, isFinal: boolean, interrupted: boolean): void {
    this.#deps.notify({ type: 'agentMessage', id, text, isFinal, interrupted })
  }

  /** Records a user's turn. `by` is null if the turn does not come from speech to text. */
  userTurn({ id, text, startedMs, speechEndMs }: SaidTurn, by: 'stt' | null, metadata: Record<string, unknown>): void {
    const route = by === null ? null : this.#deps.sttRoute()
    this.userText(id, text, true)
    recordUserTurn(this.#deps.trace, { startedMs, endedMs: speechEndMs, isSpoken: by !== null })
    this.#add({
      ...blank,
      id,
      source: 'user',
      text,
      startedAtMs: this.#timeOf(startedMs),
      endedAtMs: this.#timeOf(speechEndMs),
      provider: route?.provider ?? null,
      model: route?.model ?? null,
      metadata,
    })
  }

  /** Records text or digits without speech. */
  typedTurn(text: string, metadata: Record<string, unknown>): void {
    const { clock, newId } = this.#deps
    const nowMs = clock.monotonicMs()
    this.userTurn({ id: newId(), text, startedMs: nowMs, speechEndMs: nowMs, dueMs: null }, null, metadata)
  }

  /** Records a turn by a person who has joined. `by` is null if the words were typed. */
  personTurn(
    { id, text, startedMs, speechEndMs }: SaidTurn,
    by: Route | null,
    { identity, displayName }: JoinedPerson,
  ): void {
    this.agentText(id, text, true, false)
    this.#add({
      ...blank,
      id,
      source: 'agent',
      text,
      playedText: text,
      startedAtMs: this.#timeOf(startedMs),
      endedAtMs: this.#timeOf(speechEndMs),
      provider: by?.provider ?? null,
      model: by?.model ?? null,
      metadata: { identity, displayName, human: true },
    })
  }

  /** Records a note or an event in the session. */
  systemTurn(text: string): void {
    const nowMs = this.#timeOf(this.#deps.clock.monotonicMs())
    this.#add({ ...blank, id: this.#deps.newId(), source: 'system', text, startedAtMs: nowMs, endedAtMs: nowMs })
  }

  /** Records an agent's turn. If nothing was played and no tool was called, only the trace gets it, as dropped. */
  agentTurn(turn: AgentTurn, isWhole: boolean): void {
    const row = turn.row(isWhole, this.#timeOf)
    const { clock, log, newId, originMs, playout, sttRoute } = this.#deps
    // Audio may have been played even if no whole word was played.
    if (row.playedText === '' && playout.playedMs === 0 && row.toolCalls.length === 0) return recordDroppedTurn(turn)
    const index = this.#add(row)
    // A turn with a tool call may contain no speech.
    if (row.text !== '') this.agentText(row.id, row.playedText ?? '', true, !isWhole)
    const { firstPlayedMs, figures } = playout
    const endMs = clock.monotonicMs()
    const context = { index, originMs, newId, interrupted: !isWhole, endMs, firstPlayedMs }
    const span = turnSpan(turn, { ...context, playout: figures, sttRoute: sttRoute() })
    log.span(span)
    recordAgentTurn(turn, span, originMs)
  }

  /** Adds a turn to the call's record. Returns the turn's index. */
  #add(turn: Omit<Turn, 'index'>): number {
    const text = cut(turn.text)
    const playedText = turn.playedText === null ? null : cut(turn.playedText)
    const index = this.#turns++
    this.#deps.log.turn({ ...turn, text, playedText, index })
    return index
  }
}

const blank = {
  provider: null,
  model: null,
  eouMs: null,
  llmTtftMs: null,
  ttsTtfbMs: null,
  conversationalLatencyMs: null,
  latencyStatus: null,
  toolCalls: [],
  playedText: null,
  metadata: {},
} as const

function cut(text: string): string {
  return text.length <= turnCharactersMax ? text : [...text].slice(0, turnCharactersMax).join('')
}
