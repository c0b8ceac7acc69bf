/** Follows a session's stream, and continues from its cursor if the stream times out or is cut. */
import type { PlatformClient, StreamSessionEvent } from '../generated/clients/typescript/platform.ts'
import type { CallEvent, SessionTurn } from '../generated/platform/types.ts'
import { CommandError } from './command-error.ts'
import { followStream } from './follow-stream.ts'
import { milliseconds, oneLine } from './terminal.ts'
import { transferWords } from './transfer-words.ts'

/** The limit for failed tries in a row. */
const triesMax = 8

export async function tailCall(client: PlatformClient, id: string, json: boolean): Promise<void> {
  const position = new Position()
  const open = async () => (await client.streamSession({ path: { id }, query: { cursor: position.cursor } })).body
  const take = (event: StreamSessionEvent) => {
    if (event.event === 'error') throw new CommandError(`${event.data.code}: ${event.data.error}`)
    if (!position.take(event)) return false
    const lines = json ? [JSON.stringify(event)] : linesOf(event)
    for (const line of lines) console.log(line)
    return event.event === 'end' && event.data.reason === 'session_ended'
  }
  await followStream(open, take, triesMax)
}

/**
 * The stream position after the last printed event. If the stream is opened again, the server repeats the events that
 * were stored in the cursor's millisecond.
 */
class Position {
  #turn = -1
  #eventMs = 0
  #status = ''
  /** The ids of printed events. A call has at most 10,000 events. */
  readonly #seen = new Set<string>()

  get cursor(): string {
    return `${this.#turn}:${this.#eventMs}`
  }

  /**
   * Moves the position. Returns false if the event was already printed, or if the stream ends while the session
   * continues.
   */
  take({ event, data }: StreamSessionEvent): boolean {
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
    this.#eventMs = Math.max(this.#eventMs, Date.parse(data.created_at))
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

/** Writes an event. If a leg ended with a SIP status, the text contains this status, such as `SIP 404 Not Found`. */
export function lineOfEvent(event: CallEvent): string {
  const { event_type: type, occurred_at: at, failure_cause: cause } = event
  const words = transferWords(event) ?? (cause === null ? '' : oneLine(cause))
  return ['event ', at.slice(11, 23), type, words, sipStatus(event)].filter((part) => part !== '').join('  ')
}

function sipStatus({ sip_status_code: code, sip_status: phrase }: CallEvent): string {
  return code === null ? '' : ['SIP', code, phrase].filter((part) => part !== null).join(' ')
}
