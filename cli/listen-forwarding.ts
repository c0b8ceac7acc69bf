/**
 * Forwards events to a developer's receiver. First attempts are sent one after another. Retries are sent in parallel
 * with first attempts.
 */
import type { StreamedWebhookEvent } from '../generated/platform/types.ts'
import type { Chaos, ChaosEvent, Sending } from './listen-chaos.ts'
import { type Outcome, postTo, type Receiver } from './local-receiver.ts'
import { milliseconds } from './terminal.ts'

export type ForwardingDeps = {
  /** Null if events are only printed. */
  receiver: Receiver | null
  chaos: Chaos<ForwardedEvent>
  /** The number of retries after a failure. */
  retries: number
  show: (sent: Sent) => void
}

/** An event to display, either forwarded or only received. Its content is left out. */
export type Sent = { time: string; id: string; type: string; callId: string; outcome: Outcome | null; note: string }
export type ForwardedEvent = ChaosEvent & { id: string; callId: string; body: string }
type Attempt = Sending<ForwardedEvent> & { number: number }

/** The wait before an event is sent again after a simulated lost response. */
const lostMs = 250
const retryMs = { first: 1_000, max: 32_000 }
/** The maximum number of events that wait for another attempt. Further events are dropped. */
const waitingMax = 1_000
/** The interval for sending delayed events. */
const lookEveryMs = 100

export class Forwarding {
  readonly #deps: ForwardingDeps
  /** Settles when the queued first attempts are over. Never rejects. */
  #sent: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(deps: ForwardingDeps) {
    this.#deps = deps
    setInterval(() => void this.#send(deps.chaos.due(performance.now())), lookEveryMs).unref()
  }

  /** Forwards an event. Resolves when the event was sent, so a slow receiver slows the stream down. */
  take({ eventId, event, sessionId, version, body }: StreamedWebhookEvent): Promise<void> {
    const forwarded = { id: eventId, type: event, callId: sessionId, version, body }
    return this.#send(this.#deps.chaos.take(forwarded, performance.now()))
  }

  #send(sendings: readonly Sending<ForwardedEvent>[]): Promise<void> {
    for (const sending of sendings) this.#sent = this.#sent.then(() => this.#attempt({ ...sending, number: 1 }))
    return this.#sent
  }

  async #attempt(attempt: Attempt): Promise<void> {
    const { receiver, show, retries } = this.#deps
    const { event, number, lostAnswers, note } = attempt
    if (receiver === null) return show(sentOf(event, null, note))
    const outcome = await postTo(receiver, event)
    const isLost = number <= lostAnswers
    const failures = number - lostAnswers
    show(sentOf(event, outcome, notesOf([note, isLost ? 'counts as 500' : '', number > 1 ? `attempt ${number}` : ''])))
    if (isLost) this.#again(attempt, lostMs)
    else if (!outcome.isReceived && failures <= retries)
      this.#again(attempt, Math.min(retryMs.first * 2 ** (failures - 1), retryMs.max))
  }

  #again(attempt: Attempt, delayMs: number): void {
    if (this.#waiting >= waitingMax) return this.#deps.show(sentOf(attempt.event, null, 'given up: too many wait'))
    this.#waiting += 1
    setTimeout(() => {
      this.#waiting -= 1
      void this.#attempt({ ...attempt, number: attempt.number + 1 })
    }, delayMs)
  }
}

const notesOf = (notes: readonly string[]) => notes.filter((note) => note !== '').join(', ')

function sentOf({ id, type, callId }: ForwardedEvent, outcome: Outcome | null, note: string): Sent {
  return { time: new Date().toISOString(), id, type, callId, outcome, note }
}

export function lineOf({ time, type, callId, outcome, note }: Sent): string {
  const answer = outcome === null ? [] : [outcome.answer, milliseconds(outcome.ms)]
  return [time.slice(11, 23), type.padEnd(14), callId, ...answer, ...(note === '' ? [] : [`(${note})`])].join('  ')
}

export function jsonOf({ time, id, type, callId, outcome, note }: Sent): string {
  const answer = outcome && {
    received: outcome.isReceived,
    answer: outcome.answer,
    durationMs: Math.round(outcome.ms),
  }
  return JSON.stringify({ time, id, type, callId, ...answer, ...(note !== '' && { note }) })
}
