/**
 * The simulated carrier in this process: its calls, commands and events, without HTTP, signatures and audio. The people
 * at the far ends receive no audio, so their actions follow the clock and the steps in a sequence.
 */

import type { LegEvent, PhoneLine } from '../../../domain/ports/phone-line.ts'
import { ProviderError } from '../../../domain/ports/provider-error.ts'
import { legEventOf } from '../../../providers/telnyx/leg-events.ts'
import { telnyxLineOver } from '../../../providers/telnyx/phone-line.ts'
import { telnyxWire } from '../../../providers/telnyx/wire.ts'
import { refusal, type VendorHttp } from '../../../providers/wire/http.ts'
import type { JsonObject } from '../../../providers/wire/json.ts'
import { AnswerHeaders } from '../../../runtime/outbound/answer.ts'
import { type Action, Calls } from '../../../simulator/calls.ts'
import { Clip } from '../../../simulator/media/clip.ts'
import { Refusal } from '../../../simulator/refusal.ts'
import type { WebhookQueue } from '../../../simulator/webhooks.ts'
import type { TestClock } from '../../clock.ts'
import type { Faults, SentCommand } from './faults.ts'
import { type Life, never } from './life.ts'
import type { LineEvents, SequenceLine } from './line.ts'

const silence = new Clip({ samples: new Int16Array(160), sampleRateHz: 8000 })
const webhookUrl = 'http://127.0.0.1/webhooks'
/** The period of the product's audio timer. Timers this short are not run, because no audio is simulated. */
const frameMs = 20
/** The delay of a message in one direction. */
const wayMs = 40
const requestMs = 5_000
const lateMs = 8_000
/** A late answer still comes within 25 s, because the phone line waits that long. */
const answerLateMs = 6_000
const answerSlowMs = 3_000
const againMs = 100

export class SequenceCarrier implements SequenceLine {
  readonly name = 'simulator'
  readonly #clock: TestClock
  readonly #faults: Faults
  readonly #events: LineEvents
  readonly #calls: Calls
  /** The audio stream URLs for ringing legs. */
  readonly #streams = new Map<string, string>()
  readonly #alive = new Set<string>()
  readonly #queues = new Map<string, WebhookQueue>()
  /** The process that has dialled or answered each leg. */
  readonly #holders = new Map<string, Life>()
  /** The other leg for each bridged leg. */
  readonly #peers = new Map<string, string>()
  /** Legs that were bridged before. */
  readonly #hadPeer = new Set<string>()
  #ids = 0
  #eventIds = 0

  constructor(clock: TestClock, faults: Faults, events: LineEvents) {
    this.#clock = clock
    this.#faults = faults
    this.#events = events
    this.#calls = new Calls({
      clock: {
        nowMs: () => clock.nowMs(),
        monotonicMs: () => clock.monotonicMs(),
        after: (delayMs, run) => (delayMs <= frameMs ? () => {} : clock.after(delayMs, run)),
      },
      voice: { clip: () => Promise.resolve(silence) },
      recognize: null,
      webhooks: { send: (queue, type, payload) => this.#happened(queue, type, payload as JsonObject) },
      webhookUrl,
      received: null,
      newLegId: () => `v3:${++this.#ids}`,
    })
  }

  get alive(): ReadonlySet<string> {
    return this.#alive
  }

  isAlive(carrierLegId: string): boolean {
    return this.#alive.has(carrierLegId)
  }

  peerOf(carrierLegId: string): string | null {
    return this.#peers.get(carrierLegId) ?? null
  }

  call(from: string, to: string): string {
    return this.#calls.receive({ from, to })
  }

  leaves(carrierLegId: string): void {
    if (this.#alive.has(carrierLegId)) this.#calls.command(carrierLegId, 'hangup', {})
  }

  presses(carrierLegId: string, digit: string): void {
    const queue = this.#queues.get(carrierLegId)
    if (queue === undefined || !this.#alive.has(carrierLegId)) return
    this.#happened(queue, 'call.dtmf.received', { call_control_id: carrierLegId, digit })
  }

  line(life: Life): PhoneLine {
    const options = { name: this.name, connectionId: 'simulator', webhookUrl, requestMs, clock: life } as const
    return telnyxLineOver(this.#http(life), options)
  }

  #http(life: Life): Pick<VendorHttp, 'get' | 'post'> {
    return {
      get: (path) => this.#request(life, path, null),
      post: (path, { body }) => this.#request(life, path, JSON.parse(String(body)) as JsonObject),
    }
  }

  async #request(life: Life, path: string, fields: JsonObject | null): Promise<JsonObject> {
    if (!life.isAlive) return never()
    const command = commandOf(path, fields === null)
    const isOrphan = command.does === 'hangup' && this.#holders.get(command.leg ?? '') !== life
    const fault = this.#faults.ofCommand(isOrphan ? { ...command, does: 'hangup of an orphan' } : command)
    await this.#clock.wait(this.#faults.delayMs(wayMs))
    if (fault === 'unreachable') throw new ProviderError('unreachable', { sent: false })
    if (fault === 'server') throw refused(new Refusal(503, '10007', 'Unexpected error', ''))
    const answer = this.#answer(life, path, fields)
    this.#events.command(
      `${path}${answer instanceof Refusal ? ' is refused' : ''}${fault === 'none' ? '' : `: ${fault}`}`,
    )
    const delayMs = { 'answer late': answerLateMs, 'answer slow': answerSlowMs }[String(fault)]
    await this.#clock.wait(delayMs ?? this.#faults.delayMs(wayMs))
    if (fault === 'answer lost' || !life.isAlive) return never()
    if (answer instanceof Refusal) throw refused(answer)
    return answer
  }

  #answer(life: Life, path: string, fields: JsonObject | null): JsonObject | Refusal {
    const [, , leg, , action] = path.split('/')
    const id = decodeURIComponent(leg ?? '')
    try {
      const [, ofConnection, query] = /^\/connections\/([^/]+)\/active_calls\?(.*)$/.exec(path) ?? []
      if (ofConnection !== undefined)
        return this.#calls.legs.listActive(ofConnection, new URLSearchParams(query)) as JsonObject
      if (fields === null) return { data: this.#calls.legs.retrieve(id) }
      const { stream_url: address, ...rest } = fields
      if (leg === undefined) return { data: this.#dial(life, rest, address) }
      const other = rest['call_control_id']
      if (action === 'answer') this.#holders.set(id, life)
      if (action === 'answer' && typeof address === 'string') this.#streams.set(id, address)
      if (action === 'hangup') this.#events.hangUp(id)
      const answer = this.#calls.command(id, action as Action, rest)
      if (action === 'bridge' && typeof other === 'string') this.#peers.set(id, other).set(other, id)
      return { data: answer }
    } catch (error) {
      if (error instanceof Refusal) return error
      throw error
    }
  }

  #dial(life: Life, fields: JsonObject, address: unknown): object {
    const dialled = this.#calls.dial(fields)
    const id = (dialled as { call_control_id: string }).call_control_id
    this.#holders.set(id, life)
    if (typeof address === 'string') this.#streams.set(id, address)
    return dialled
  }

  #happened(queue: WebhookQueue, type: string, payload: JsonObject): void {
    const id = String(payload['call_control_id'])
    this.#queues.set(id, queue)
    if (type === 'call.initiated') this.#alive.add(id)
    const address = this.#streams.get(id)
    if (type === 'call.answered' && address !== undefined) this.#events.stream(id, address)
    if (type === 'call.hangup') this.#ended(id)
    const occurred_at = new Date(this.#clock.nowMs()).toISOString()
    const event = legEventOf({ id: `event_${++this.#eventIds}`, occurred_at, event_type: type, payload })
    if (event !== null) this.#send(queue, event)
  }

  #ended(id: string): void {
    this.#alive.delete(id)
    const peer = this.#peers.get(id)
    this.#peers.delete(id)
    if (peer !== undefined) this.#hadPeer.add(id)
    if (peer !== undefined) this.#peers.delete(peer)
    this.#events.over(id)
  }

  lostHangup(carrierLegId: string): void {
    const hadPeer = this.#hadPeer.has(carrierLegId)
    this.#faults.happened(hadPeer ? 'lost hangup of one who was connected' : 'lost hangup', carrierLegId)
  }

  #send(queue: WebhookQueue, event: LegEvent): void {
    // This event is never lost, because without it there would be no call.
    const isBeginning = event.type === 'initiated' && event.direction === 'incoming'
    const fault = queue.faults === 'late' ? 'late' : isBeginning ? 'none' : this.#faults.ofEvent()
    const isLost = fault === 'lost' || (queue.faults === 'no_hangup' && event.type === 'hangup')
    if (isLost && event.type === 'hangup') this.lostHangup(event.carrierLegId)
    if (isLost) return
    if (fault === 'late' && event.type === 'hangup') this.#faults.happened('late hangup', event.carrierLegId)
    const deliver = () => void this.#events.deliver(event, null)
    if (fault === 'swapped') return void this.#clock.after(againMs, deliver)
    if (fault === 'late') return void this.#clock.after(lateMs, deliver)
    if (fault === 'doubled') this.#clock.after(againMs, deliver)
    queue.last = queue.last.then(() => this.#clock.wait(this.#faults.delayMs(wayMs))).then(deliver)
  }
}

function commandOf(path: string, asks: boolean): SentCommand {
  const [, of, leg, , action] = path.split('/')
  // A dial command has no leg id yet, and a bridge command concerns two legs.
  if (of === 'calls' && leg === undefined) return { does: 'dial', leg: null }
  if (of !== 'calls' || leg === undefined || action === 'bridge') return { does: 'command', leg: null }
  if (asks) return { does: 'question', leg: decodeURIComponent(leg) }
  return { does: action === 'hangup' ? 'hangup' : 'command', leg: decodeURIComponent(leg) }
}

function refused({ status, body }: Refusal): Error {
  return refusal(
    { status, headers: new AnswerHeaders([]), body: Buffer.from(JSON.stringify(body)) },
    telnyxWire,
    null,
    0,
  )
}
