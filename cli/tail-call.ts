/** Follows the stream of a session, and goes on from its cursor when the stream times out or is cut. */
import { setTimeout as sleep } from 'node:timers/promises'
import { PlatformApiError, type PlatformClient, type StreamSessionEvent } from '../generated/clients/platform.ts'
import type { CallEvent, SessionTurn } from '../generated/platform/types.ts'
import { CommandError } from './command-error.ts'
import { milliseconds, oneLine } from './terminal.ts'

/** Tries in a row that brought nothing. */
const triesMax = 8
const retryMs = { first: 500, max: 8000 }

export async function tailCall(client: PlatformClient, id: string, json: boolean): Promise<void> {
  const position = new Position()
  let failed = 0
  for (;;) {
    try {
      const { body } = await client.streamSession({ path: { id }, query: { cursor: position.cursor } })
      for await (const event of body) {
        if (event.event === 'error') throw new CommandError(`${event.data.code}: ${event.data.error}`)
        failed = 0
        if (!position.take(event)) continue
        const lines = json ? [JSON.stringify(event)] : linesOf(event)
        for (const line of lines) console.log(line)
        if (event.event === 'end' && event.data.reason === 'session_ended') return
      }
    } catch (error) {
      failed += 1
      if (!mayPass(error) || failed >= triesMax || position.isNew) throw error
      await sleep(Math.min(retryMs.first * 2 ** (failed - 1), retryMs.max))
    }
  }
}

/** A refusal stays one; a limit, a restart and a cut connection pass. */
function mayPass(error: unknown): boolean {
  return !(error instanceof PlatformApiError) || error.status === 429 || error.status >= 500
}

/** The position after what has been printed. The server sends the events of the cursor's millisecond again. */
class Position {
  #turn = -1
  #eventMs = 0
  #isNew = true
  #status = ''
  /** A call has at most 10,000 events. */
  readonly #seen = new Set<string>()

  get cursor(): string {
    return `${this.#turn}:${this.#eventMs}`
  }

  /** Nothing has come yet, so a failure is one of the address, the key or the id. */
  get isNew(): boolean {
    return this.#isNew
  }

  /** False for an event that came before, and for the end of a stream that goes on. */
  take({ event, data }: StreamSessionEvent): boolean {
    this.#isNew = false
    if (event === 'end') return data.reason === 'session_ended'
    if (event === 'status') {
      const isChange = data.status !== this.#status
      this.#status = data.status
      return isChange
    }
    if (event === 'transcript') {
      const isLater = data.index > this.#turn
      this.#turn = Math.max(this.#turn, data.index)
      return isLater
    }
    if (event !== 'event' || this.#seen.has(data.id)) return false
    this.#seen.add(data.id)
    this.#eventMs = Math.max(this.#eventMs, Date.parse(data.occurred_at))
    return true
  }
}

function linesOf({ event, data }: StreamSessionEvent): string[] {
  if (event === 'status') return [`status  ${data.status}`]
  if (event === 'transcript') return linesOfTurn(data)
  if (event === 'event') return [lineOfEvent(data)]
  return event === 'end' ? ['the session is over'] : []
}

function linesOfTurn(turn: SessionTurn): string[] {
  const { source, text, conversationalLatencyMs: latencyMs } = turn
  const played = turn['heardText']
  const after = latencyMs === null ? '' : `  (after ${milliseconds(latencyMs)})`
  const cut = played !== null && played !== text ? [`${' '.repeat(8)}played: ${oneLine(played) || 'nothing'}`] : []
  return [`${source.padEnd(6)}  ${oneLine(text)}${after}`, ...cut]
}

function lineOfEvent({ event_type: type, occurred_at: at, failure_cause: cause }: CallEvent): string {
  return `event   ${at.slice(11, 23)}  ${type}${cause === null ? '' : `  ${oneLine(cause)}`}`
}
