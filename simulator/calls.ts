/** Starts the simulated carrier's calls, and handles the commands for legs in the carrier's API (version 2). */
import { randomUUID } from 'node:crypto'
import { FarEnd, type Voice } from './far-ends/far-end.ts'
import { callerPlanOf, type NumberPlan, planOf } from './far-ends/magic-numbers.ts'
import {
  type Fields,
  type Header,
  headers,
  integer,
  loopbackUrl,
  oneOf,
  phoneNumber,
  text,
  textOrNull,
} from './fields.ts'
import { cancelled, Leg, type LegDeps, normalClearing, type ReceivedAudio } from './leg.ts'
import { Legs } from './legs.ts'
import type { Speech } from './media/clip.ts'
import type { SimulatorClock } from './media/clock.ts'
import { invalid, refusedDial, refusedRefer, wrongState } from './refusal.ts'
import { bridgeFields, streamFields } from './stream-fields.ts'
import type { Webhooks } from './webhooks.ts'

const sharedConnection = 'simulator'
/** If an incoming call is not answered within this time, its caller hangs up. */
const callerPatienceMs = 60_000
const detectionMs = 2500
const digitsMax = 100
const digitMs = 200

export type IncomingCall = {
  /** The caller's number. Null if the caller withholds the number. */
  from: string | null
  to: string
  /** The id for the called number's organization. Absent if the call comes over the shared connection. */
  organizationId?: string
  /** The INVITE's headers, such as Diversion and History-Info. */
  headers?: readonly Header[]
  /** The carrier's fields about forwarding: `forwarded_from`, `original_to`, `redirecting_number`. */
  forwarding?: Readonly<Record<string, string>>
  /** The caller says one of these lines at each pause by the other party. */
  lines?: readonly string[]
  /** The base language in which the lines are spoken. If absent, English. */
  language?: string
  /** If the call is not answered within this time, the caller hangs up. */
  patienceMs?: number
}

export type CallsDeps = {
  clock: SimulatorClock
  voice: Voice
  recognize: ((speech: Speech, legId: string) => Promise<string>) | null
  webhooks: Pick<Webhooks, 'send'>
  /** The URL for events about incoming calls, and about legs whose command names no URL. */
  webhookUrl: string
  received: ReceivedAudio | null
  newLegId: () => string
}

export class Calls {
  readonly legs: Legs
  readonly #deps: CallsDeps

  constructor(deps: CallsDeps) {
    this.#deps = deps
    this.legs = new Legs(deps.clock)
  }

  dial(fields: Fields): object {
    const to = phoneNumber(fields, 'to')
    const commandId = textOrNull(fields, 'command_id')
    const existingId = commandId === null ? undefined : this.legs.dialledBy(commandId)
    if (existingId !== undefined) return this.legs.retrieve(existingId)
    const plan = planOf(to)
    this.#askFarEnd(textOrNull(fields, 'link_to'))
    const details = this.#outgoing(fields, to, plan)
    const stream = streamFields(fields)
    const ringingS = integer(fields, 'timeout_secs', { usual: 30, min: 5, max: 600 })
    const limitS = integer(fields, 'time_limit_secs', { usual: 14_400, min: 30, max: 14_400 })
    const detects = detectionOf(fields)
    if (plan.dialled.ends === 'refused') throw refusedDial(plan.dialled.status)
    const leg = this.legs.add(new Leg(details, this.#farEndOf(plan), this.#legDeps(), commandId))
    this.#ring(leg, plan, ringingS * 1000, () => {
      this.#answer(leg, stream)
      leg.whileAnswered(limitS * 1000, () => leg.end({ cause: 'time_limit', by: 'unknown', sipCode: 200 }))
      if (detects)
        leg.whileAnswered(detectionMs, () => leg.emit('call.machine.detection.ended', { result: plan.machine }))
    })
    return this.legs.retrieve(leg.id)
  }

  /** Starts a call from a simulated caller to us, and returns the leg's id. */
  receive(call: IncomingCall): string {
    const { from, to, headers: inviteHeaders = [], forwarding = {}, patienceMs = callerPatienceMs } = call
    // Each organization has a separate connection. The connection's id is the organization's id.
    const connectionId = call.organizationId ?? sharedConnection
    const { lines, language = 'en' } = call
    const plan = callerPlanOf(from ?? '', lines ? { lines, language } : null)
    const details = {
      direction: 'incoming' as const,
      from: from ?? 'anonymous',
      to,
      connectionId,
      callSessionId: randomUUID(),
      clientState: null,
      webhookUrl: this.#deps.webhookUrl,
      faults: plan.webhooks ?? null,
      headers: inviteHeaders,
      forwarding,
    }
    const leg = this.legs.add(new Leg(details, this.#farEndOf(plan), this.#legDeps()))
    void leg.farEnd.prepare()
    leg.initiate()
    leg.whileRinging(patienceMs, () => leg.end(cancelled('caller')))
    return leg.id
  }

  /** Handles a command for a leg. A repeated command has no effect. */
  command(id: string, action: Action, fields: Fields): object {
    const leg = this.legs.find(id)
    const clientState = textOrNull(fields, 'client_state')
    if (!leg.isNewCommand(textOrNull(fields, 'command_id'))) return { result: 'ok' }
    if (action !== 'hangup' && clientState !== null) leg.clientState = clientState
    this.#act(leg, action, fields)
    return { result: 'ok' }
  }

  /** Ends all calls. */
  close(): void {
    this.legs.close((leg) => leg.end(normalClearing('unknown')))
  }

  #act(leg: Leg, action: Action, fields: Fields): void {
    switch (action) {
      case 'answer':
        if (leg.details.direction !== 'incoming' || leg.state !== 'ringing')
          throw wrongState('Only an incoming call that rings can be answered.')
        return this.#answer(leg, streamFields(fields))
      case 'reject':
        return this.#reject(leg, fields)
      case 'hangup': {
        const by = leg.details.direction === 'incoming' ? 'callee' : 'caller'
        return leg.end(leg.state === 'ringing' ? cancelled(by) : normalClearing(by))
      }
      case 'bridge':
        return this.#bridge(leg, fields)
      case 'transfer':
        return this.#transfer(leg, fields)
      case 'send_dtmf':
        return this.#sendDigits(leg, fields)
      case 'streaming_start': {
        requireAnswered(leg)
        const stream = streamFields(fields)
        if (!stream) throw invalid('stream_url')
        if (leg.hasStream) throw wrongState('The call has a stream.')
        return void leg.startStream(stream)
      }
      case 'streaming_stop':
        requireAnswered(leg)
        return leg.stopStream()
    }
  }

  #reject(leg: Leg, fields: Fields): void {
    const cause = oneOf(fields, 'cause', ['CALL_REJECTED', 'USER_BUSY'], 'CALL_REJECTED')
    if (leg.details.direction !== 'incoming' || leg.state !== 'ringing')
      throw wrongState('Only an incoming call that rings can be rejected.')
    const isBusy = cause === 'USER_BUSY'
    leg.end({ cause: isBusy ? 'user_busy' : 'call_rejected', by: 'callee', sipCode: isBusy ? 486 : 603 })
  }

  #bridge(leg: Leg, fields: Fields): void {
    const other = this.legs.find(text(fields, 'call_control_id'))
    requireAnswered(leg)
    requireAnswered(other)
    if (leg === other || leg.peer || other.peer) throw wrongState('One of the calls is bridged.')
    const { stays } = bridgeFields(fields)
    leg.bridge(other, stays)
    other.bridge(leg, false)
  }

  /** Dials a number. When the call is answered, connects the new leg with this leg. */
  #transfer(leg: Leg, fields: Fields): void {
    requireAnswered(leg)
    const to = phoneNumber(fields, 'to')
    const plan = planOf(to)
    const ringingS = integer(fields, 'timeout_secs', { usual: 30, min: 5, max: 600 })
    const { stays } = bridgeFields(fields)
    const details = this.#outgoing(
      { from: leg.details.to, connection_id: leg.details.connectionId, ...fields },
      to,
      plan,
    )
    if (plan.dialled.ends === 'refused') throw refusedDial(plan.dialled.status)
    const targetState = textOrNull(fields, 'target_leg_client_state')
    const joined = { ...details, clientState: targetState, callSessionId: leg.details.callSessionId }
    const target = this.legs.add(new Leg(joined, this.#farEndOf(plan), this.#legDeps()))
    leg.dials(target)
    this.#ring(target, plan, ringingS * 1000, () => {
      this.#answer(target, null)
      if (leg.state !== 'answered' || leg.peer) return target.end(normalClearing('caller'))
      leg.bridge(target, stays)
      target.bridge(leg, false)
    })
  }

  #sendDigits(leg: Leg, fields: Fields): void {
    requireAnswered(leg)
    const digits = text(fields, 'digits')
    if (digits.length > digitsMax || !/^[0-9A-DwW*#]+$/.test(digits)) throw invalid('digits')
    let atMs = 0
    for (const digit of digits) {
      // In the digits a `w` is a pause with half a second, a `W` a pause with a whole second.
      if (digit !== 'w' && digit !== 'W') leg.whileAnswered(atMs, () => leg.farEnd.pressed(digit))
      atMs += digit === 'w' ? 500 : digit === 'W' ? 1000 : digitMs
    }
  }

  /**
   * Throws if the far end refuses the request to call another number (REFER). `linkedTo` is the far end's leg id in a
   * transfer over a simulated trunk, and null for any other call.
   */
  #askFarEnd(linkedTo: string | null): void {
    if (linkedTo === null) return
    const { direction, from, to } = this.legs.find(linkedTo).details
    if (planOf(direction === 'incoming' ? from : to).refusesRefer) throw refusedRefer()
  }

  #outgoing(fields: Fields, to: string, plan: NumberPlan) {
    return {
      direction: 'outgoing' as const,
      from: phoneNumber(fields, 'from'),
      to,
      connectionId: text(fields, 'connection_id'),
      callSessionId: randomUUID(),
      clientState: textOrNull(fields, 'client_state'),
      webhookUrl: loopbackUrl(fields, 'webhook_url', ['http:']) ?? this.#deps.webhookUrl,
      faults: plan.webhooks ?? null,
      headers: [...headers(fields, 'custom_headers'), ...headers(fields, 'sip_headers')],
      forwarding: {},
    }
  }

  /**
   * Lets the leg ring, as planned for the number. `answered` is called when the far end answers the call. The far end's
   * first text is synthesized by then.
   */
  #ring(leg: Leg, { dialled }: NumberPlan, ringingMs: number, answered: () => void): void {
    leg.initiate()
    leg.whileRinging(ringingMs, () => leg.end({ cause: 'timeout', by: 'unknown', sipCode: 487 }))
    if (dialled.ends === 'hangup') {
      const { afterMs, cause, sipCode } = dialled
      leg.whileRinging(afterMs, () => leg.end({ cause, by: 'callee', sipCode }))
    }
    if (dialled.ends !== 'answered') return
    const prepared = leg.farEnd.prepare()
    leg.whileRinging(dialled.afterMs, () => void prepared.then(() => leg.state === 'ringing' && answered()))
  }

  #answer(leg: Leg, stream: ReturnType<typeof streamFields>): void {
    leg.answer(stream)
    this.legs.play(leg)
  }

  #farEndOf(plan: NumberPlan): FarEnd {
    const { clock, voice, recognize } = this.#deps
    return new FarEnd(plan.behaviour(), { clock, voice, recognize, losesAudio: plan.losesAudio ?? false })
  }

  #legDeps(): LegDeps {
    const { clock, webhooks, received, newLegId } = this.#deps
    return { clock, webhooks, received, newId: newLegId, ended: (leg) => this.legs.ended(leg) }
  }
}

export const actions = [
  'answer',
  'reject',
  'hangup',
  'bridge',
  'transfer',
  'send_dtmf',
  'streaming_start',
  'streaming_stop',
] as const
export type Action = (typeof actions)[number]

const detections = ['disabled', 'detect', 'detect_beep', 'detect_words', 'greeting_end', 'premium'] as const
const detectionOf = (fields: Fields) =>
  oneOf(fields, 'answering_machine_detection', detections, 'disabled') !== 'disabled'

function requireAnswered(leg: Leg): void {
  if (leg.state !== 'answered') throw wrongState('The call is not answered.')
}
