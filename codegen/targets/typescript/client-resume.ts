/** Opens a stream again after a cut, if the contract has Last-Event-ID. Drops the events repeated by the server. */
import { ApiError, ConnectionError, RequestTimeoutError } from './client-api-error.ts'
import { type EventSource, type NamedEvent, readEvents } from './client-events.ts'
import { pause } from './client-retries.ts'

export type Resumption = {
  /** Sends the request again, with the last event's id. */
  open: (lastEventId: string) => Promise<EventSource>
  /** For each event name: the data's field that distinguishes two events. */
  identity: Readonly<Record<string, string>>
}

/** The limit for attempts in a row without a new event. */
const attemptsMax = 5
const firstPauseMs = 250
const pauseMsMax = 4000
/** More than a server repeats. */
const keysMax = 10_000

export async function* readResumed(first: EventSource, { open, identity }: Resumption): AsyncGenerator<NamedEvent> {
  const handedOut = new HandedOut(identity)
  let source: EventSource | null = first
  let lastId: string | null = null
  let attempts = 0
  const takeId = (id: string) => {
    lastId = id
  }
  for (;;) {
    try {
      source ??= await open(lastId ?? '')
      for await (const event of readEvents({ ...source, takeId })) {
        if (!handedOut.add(event, source !== first)) continue
        attempts = 0
        yield event
      }
      return
    } catch (error) {
      if (lastId === null || attempts >= attemptsMax || !mayPass(error, first.signal)) throw error
      await pause(Math.min(firstPauseMs * 2 ** attempts++, pauseMsMax), first.signal)
      source = null
    }
  }
}

function mayPass(error: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted === true) return false
  if (error instanceof ApiError) return error.retryable
  return error instanceof ConnectionError || error instanceof RequestTimeoutError
}

/** The caller's events. */
class HandedOut {
  readonly #identity: Readonly<Record<string, string>>
  /** An event without an identity, such as a status, reports a state: only the last event with each name is kept. */
  readonly #values = new Map<string, string>()

  constructor(identity: Readonly<Record<string, string>>) {
    this.#identity = identity
  }

  /** Returns false if the caller already has the event. Events are repeated only after a stream was opened again. */
  add({ event, data }: NamedEvent, isOpenedAgain: boolean): boolean {
    const field = this.#identity[event]
    const text = JSON.stringify(field === undefined ? data : (data as Record<string, unknown>)[field])
    const [key, value] = field === undefined ? [event, text] : [`${event} ${text}`, '']
    const isKnown = this.#values.get(key) === value
    // The newest key goes to the end, because the oldest key is forgotten first.
    this.#values.delete(key)
    this.#values.set(key, value)
    const [oldest] = this.#values.keys()
    if (this.#values.size > keysMax && oldest !== undefined) this.#values.delete(oldest)
    return !(isOpenedAgain && isKnown)
  }
}
