/**
 * text/event-stream as in the HTML standard, with a comment as keep-alive. Named events are numbered from 0 without a
 * gap, unless they bring an id. Events in the format `data` have neither name nor id, because chat completion clients
 * read only the data.
 */

import type { ServerSentEvent } from '../engine/handler.ts'
import type { Validate } from '../engine/operation.ts'
import type { Answer } from './endpoint.ts'
import type { Engine } from './engine.ts'
import type { HttpExchange } from './http-exchange.ts'
import { SlowReader } from './slow-reader.ts'
import { next, type Pieces, whileRead } from './stream.ts'

/**
 * Streams the events in `body`, an iterable of ServerSentEvent. If it fails before the first event, throws the error. A
 * later error becomes the last event, named `error` if events have names, and the stream ends cleanly.
 */
export async function streamEvents(
  engine: Engine,
  exchange: HttpExchange,
  status: number,
  headers: readonly string[],
  body: unknown,
  answer: Answer,
): Promise<void> {
  const stream = new EventStream(engine, exchange, answer)
  try {
    await whileRead(exchange, body, (events: Pieces<ServerSentEvent>) => stream.forward(status, headers, events))
  } finally {
    stream.stop()
  }
}

/**
 * Writes all events from one turn of the event loop at once: a provider's chunk often holds several events, and
 * separate writes would cost a system call each. The head is written with the first events.
 */
class EventStream {
  readonly #engine: Engine
  readonly #exchange: HttpExchange
  readonly #reader: SlowReader
  readonly #answer: Answer
  #isFlowing = true
  #id = 0
  #writtenMs = 0
  #cancel: (() => void) | null = null
  /** Null before the first event, and after the head is written. */
  #head: { status: number; headers: readonly string[] } | null = null
  #gathered = ''
  #flushing: NodeJS.Immediate | null = null

  constructor(engine: Engine, exchange: HttpExchange, answer: Answer) {
    this.#answer = answer
    this.#engine = engine
    this.#exchange = exchange
    this.#reader = new SlowReader(engine, exchange)
  }

  async forward(status: number, headers: readonly string[], events: Pieces<ServerSentEvent>): Promise<void> {
    const first = await next(events)
    // Formatting can fail. It happens before the status is set, so the client then gets the error's status.
    const text = first ? this.#format(first) : ''
    this.#exchange.status = status
    this.#head = { status, headers }
    if (first) this.#gather(text)
    this.#keepAlive()
    try {
      for (let event = first && (await next(events)); event; event = await next(events)) await this.#write(event)
    } catch (error) {
      this.#writeError(error)
    }
    this.#flush()
    this.#exchange.transport.end()
  }

  stop(): void {
    this.#cancel?.()
    if (this.#flushing) clearImmediate(this.#flushing)
    this.#reader.stop()
  }

  async #write(event: ServerSentEvent): Promise<void> {
    if (!this.#isFlowing) await this.#reader.drained()
    this.#gather(this.#format(event))
    this.#writtenMs = this.#engine.options.clock.monotonicMs()
  }

  #gather(text: string): void {
    this.#gathered += text
    if (this.#gathered.length >= gatheredCharsMax) this.#flush()
    else this.#flushing ??= setImmediate(() => this.#flush())
  }

  #flush(): void {
    if (this.#flushing) clearImmediate(this.#flushing)
    this.#flushing = null
    const { transport } = this.#exchange
    const [head, text] = [this.#head, this.#gathered]
    this.#head = null
    this.#gathered = ''
    if (head) this.#isFlowing = transport.open(head.status, head.headers, text, null)
    else if (text !== '') this.#isFlowing = transport.write(text)
  }

  #writeError(error: unknown): void {
    if (this.#exchange.isGone) return
    const { body } = this.#engine.faultAnswer(this.#exchange, error)
    this.#gathered += this.#format({ event: 'error', data: null, raw: body })
  }

  #format({ event, id, data, raw }: ServerSentEvent): string {
    // A line break ends a field, so each data line is a separate field. JSON text has no line breaks.
    const text = raw === undefined ? JSON.stringify(data) : raw.replaceAll(/\r\n?|\n/g, '\ndata: ')
    const { events, eventFormat } = this.#answer
    if (raw === undefined && events) this.#check(event ?? '', text, events)
    if (eventFormat === 'data') return `data: ${text}\n\n`
    const name = event === undefined ? '' : `event: ${event}\n`
    return `${name}id: ${id ?? this.#id++}\ndata: ${text}\n\n`
  }

  /** Throws if the event breaks the contract. Only tests and development have the validators for it. */
  #check(event: string, text: string, events: Readonly<Record<string, Validate>>): void {
    const validate = events[event]
    if (validate?.(JSON.parse(text))) return
    const [violation] = validate?.errors ?? []
    const problem = validate ? `${violation?.instancePath ?? ''} ${violation?.message ?? ''}` : 'it is not declared'
    throw new Error(`${this.#exchange.operation}: event '${event}' is not what the contract says: ${problem}`)
  }

  /**
   * Writes a comment if no event was written for `idleMs`. One timer serves the whole stream, so an event sets no
   * timer.
   */
  #keepAlive(): void {
    const { clock } = this.#engine.options
    const nowMs = clock.monotonicMs()
    if (this.#cancel === null) this.#writtenMs = nowMs
    else if (nowMs - this.#writtenMs >= idleMs) {
      if (this.#isFlowing) this.#gather(': keep-alive\n\n')
      this.#writtenMs = nowMs
    }
    this.#cancel = clock.after(this.#writtenMs + idleMs - nowMs, () => this.#keepAlive())
  }
}

/** If more characters than this are gathered, they are written immediately, so a fast provider meets backpressure. */
const gatheredCharsMax = 16_384
/** If no event comes for this long, a comment is sent, because proxies close idle connections after 30 to 60 s. */
const idleMs = 15_000
