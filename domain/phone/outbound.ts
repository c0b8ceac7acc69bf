/**
 * Calls a phone. All checks happen before the carrier receives the dial command. Then the carrier's answer is awaited.
 */
import type { CallRegistry } from '../calls/live/call-registry.ts'
import type { CallStore } from '../calls/store.ts'
import type { LiveCall } from '../conversation/parts/live-call.ts'
import { type LegRef, type PhoneLine, PhoneLineError } from '../ports/phone-line.ts'
import { type CallPhone, roomNameOf } from '../records/call.ts'
import type { CallableNumber, CallableNumbers, PhoneLines } from '../records/callable-number.ts'
import type { PriceOfLeg } from '../records/leg-costs.ts'
import { whyNotDialed } from '../records/not-dialed.ts'
import { type Caller, tenantOf } from '../records/organization.ts'
import { type Issue, ResourceFault, refuseIssues } from '../records/resource-fault.ts'
import { issuesOfRequest, type SessionRules } from '../sessions/check.ts'
import {
  agentOf,
  type Preparation,
  type PrepareDeps,
  preparationOf,
  prepared,
  requireCredit,
  requireSeat,
} from '../sessions/prepare.ts'
import type { SessionRequest } from '../sessions/start.ts'
import { type AnsweringOptions, answeringIssues, answerPlanOf, planOnLine } from './answer-plan.ts'
import { type AskBeforeDeps, askBefore } from './ask-before.ts'
import { reasonOfHangup } from './hangup.ts'
import { callerLeg, newPhoneCall } from './new-call.ts'
import type { PhoneCall } from './phone-call.ts'
import type { PhoneCalls } from './phone-calls.ts'

export type OutboundDeps = PrepareDeps &
  AskBeforeDeps & {
    numbers: Pick<CallableNumbers, 'outboundFor'>
    lines: PhoneLines
    phones: Pick<PhoneCalls, 'open'>
    sessions: Pick<CallRegistry, 'take'>
    priceOf: PriceOfLeg
    calls: Pick<CallStore, 'insertPhoned' | 'reconfigure' | 'countLive'>
    /** Makes ids: a UUIDv7, and `leg_…`. */
    ids: { session: () => string; leg: () => string }
    /** Returns true if an E.164 text can be a phone's number. */
    isPhoneNumber: (text: string) => boolean
    /** This process's name. */
    ownerId: string
  }

export type PhoneSessionRequest = Omit<SessionRequest, 'transport' | 'identity' | 'ttlSeconds'> & {
  /** A phone number in E.164 form, like `from`. */
  to: string
  from?: string | null
  telephony?: TelephonyOptions | null
  /** A note for the LLM, added before the conversation begins. Clients cannot set it. */
  note?: string | null
  /** The number to call from, if it is a rich-message number. Clients cannot set it. */
  rmsgNumber?: CallableNumber
  /** The session's id. Clients cannot set it. */
  sessionId?: string
  /** If true, variables without a value are left empty, because no client waits for an error. Clients cannot set it. */
  leavesUnset?: boolean
  /** True if an earlier session rendered the texts, so they are not templates any more. Clients cannot set it. */
  isRendered?: boolean
}

export type TelephonyOptions = AnsweringOptions & {
  region?: string | null
  /** The ringing time in seconds. */
  ringingTimeout?: number | null
}

export type DialedCall = { id: string; test: boolean; legId: string; roomName: string; to: string; from: string }
/** Throws Fault and ResourceFault. The ResourceFault is `not_dialed` if the carrier does not accept the call. */
export type DialPhone = (caller: Caller, request: PhoneSessionRequest) => Promise<DialedCall>

const ringingDefaultS = 60
/** If the carrier has not answered the dial command within this time, the call counts as not dialled. */
const dialMs = 5_000
/**
 * The carrier ends a leg after the ringing time. If the carrier does not, this server ends the call this much later.
 */
const ringingGraceMs = 1_000
/**
 * The time limit for every leg, the longest that carriers accept. The agent's limit is not used here: the carrier
 * applies the limit even after a transfer, and two connected people may talk as long as they like. A timer in the
 * conversation enforces the agent's limit. If no process holds the leg any more, the leg is hung up as an orphan.
 */
const timeLimitS = 14_400

export function createDialPhone(deps: OutboundDeps): DialPhone {
  return async (
    caller,
    { to, from = null, rmsgNumber, telephony, note, sessionId, leavesUnset = false, isRendered = false, ...request },
  ) => {
    const tenant = tenantOf(caller)
    const { organizationId } = tenant
    const rules = isRendered ? withoutTemplates(deps.rules) : deps.rules
    refuseIssues([
      ...numberIssues(deps, { to, from }),
      ...(await issuesOfRequest(request, rules, organizationId)),
      ...answeringIssues(telephony, deps.rules.agent.checkTemplate),
    ])
    const agentId = request.agentId ?? null
    const number = rmsgNumber ?? (await numberOf(deps, caller, agentId, from))
    const agent = await agentOf(deps, tenant, agentId)
    if (number === 'not_ready') throw new ResourceFault({ kind: 'number_not_ready' })
    const line = deps.lines.of(number)
    if (line === null) throw new ResourceFault({ kind: 'number_not_ready' })
    const id = sessionId ?? deps.ids.session()
    const phone: CallPhone = {
      direction: 'outbound',
      from: number.e164,
      to,
      forwardedFrom: null,
      phoneNumberId: number.id,
      legId: deps.ids.leg(),
    }
    const nowMs = deps.clock.nowMs()
    const occasion = { callId: id, nowMs, direction: 'outbound', phone, unset: leavesUnset ? new Set<string>() : null }
    const preparation = await preparationOf(deps, tenant, { occasion, transport: 'phone', agent, isRendered })
    const settings = await prepared(deps, preparation, request)
    const variables = request.variables ?? {}
    const { render } = deps.rules
    const rendered = { settings: settings.pipeline, agent, variables, occasion, organizationId, render }
    const answerPlan = planOnLine(await answerPlanOf(telephony ?? {}, agent, rendered), line.name)
    await requireCredit(deps, caller)
    await requireSeat(deps, caller, preparation.organization?.maxSessions ?? null)
    deps.routes.require(caller, settings.pipeline)
    deps.routes.warmUp(caller, settings.pipeline)
    const made = { ...tenant, id, phone, settings, nowMs, keyId: caller.keyId, ownerId: deps.ownerId }
    const webhookTags = request.webhookTags ?? {}
    const kind = rmsgNumber === undefined ? 'outbound' : 'rmsg'
    const call = newPhoneCall({ ...made, kind, agentId: agent?.id ?? null, webhookTags })
    const ringingMs = (telephony?.ringingTimeout ?? ringingDefaultS) * 1000
    const outbound = { caller, request, preparation, line, ringingMs, region: telephony?.region ?? null }
    const live = {
      ...{ call, secrets: settings.secrets, ...(answerPlan && { answerPlan }), ...(note && { note }) },
      // A trunk has no regions, so the requested region is recorded as ignored.
      ...(number.connectionId !== null && telephony?.region && { ignoredRegion: telephony.region }),
    }
    await place(deps, outbound, live, number)
    return { id, test: call.test, legId: phone.legId, roomName: roomNameOf(call), to, from: number.e164 }
  }
}

/** Makes rules that check no templates: rendered texts may contain template marks by chance. */
const withoutTemplates = (rules: SessionRules): SessionRules => ({
  ...rules,
  agent: { ...rules.agent, checkTemplate: () => null },
})

function numberIssues({ isPhoneNumber }: OutboundDeps, numbers: { to: string; from: string | null }): Issue[] {
  return Object.entries(numbers).flatMap(([name, number]): Issue[] =>
    number === null || isPhoneNumber(number) ? [] : [{ path: [name], problem: { kind: 'number_invalid' } }],
  )
}

/**
 * Chooses the number to call from. `not_ready` is returned and thrown later, because a missing agent or setting must be
 * reported before this conflict.
 */
async function numberOf(
  { numbers, lines }: OutboundDeps,
  caller: Caller,
  agentId: string | null,
  from: string | null,
): Promise<CallableNumber | 'not_ready'> {
  const number = await numbers.outboundFor(tenantOf(caller), agentId, from, (each) => lines.of(each) !== null)
  if (number === 'none') throw invalidFrom('number_none_ready')
  if (number === 'not_own') throw invalidFrom('number_missing')
  return number
}

const invalidFrom = (kind: 'number_none_ready' | 'number_missing') =>
  new ResourceFault({ kind: 'invalid', issues: [{ path: ['from'], problem: { kind } }] })

type Outbound = {
  caller: Caller
  request: SessionRequest
  preparation: Preparation
  line: PhoneLine
  ringingMs: number
  region: string | null
}

async function place(deps: OutboundDeps, outbound: Outbound, live: LiveCall, number: CallableNumber): Promise<void> {
  const { line, caller } = outbound
  const { call, secrets } = live
  const { connectionId } = number
  const leg = { ...callerLeg(call, line.name, deps.priceOf), carrierLegId: null, connectionId }
  await deps.calls.insertPhoned(call, secrets, leg)
  const phone = deps.phones.open(live, leg, line)
  try {
    phone.hold(await deps.sessions.take(live, caller, phone))
  } catch (error) {
    phone.end('concurrency_exhausted')
    throw error
  }
  if (phone.isOver) return phone.record.stored()
  phone.record.reached('dialing')
  await dial(deps, outbound, phone, live, number)
  void configure(deps, outbound, phone, live)
  await phone.record.stored()
}

async function dial(
  { clock }: OutboundDeps,
  { line, ringingMs, region }: Outbound,
  phone: PhoneCall,
  { call: { id, phone: numbers }, answerPlan }: LiveCall,
  { e164, connectionId }: CallableNumber,
): Promise<void> {
  const ringing = ringingMs + ringingGraceMs
  const controller = new AbortController()
  let cancelTimer = () => {}
  const inTime = new Promise<LegRef>((resolve, reject) => {
    cancelTimer = clock.after(dialMs, () => {
      // An event has already shown that the carrier is dialling, so only the answer to the dial command is late.
      if (phone.ref !== null) return resolve(phone.ref)
      const late = new PhoneLineError('timeout')
      controller.abort(late)
      reject(late)
    })
  })
  const leg = {
    legId: phone.leg.id,
    ...(connectionId !== null && { connectionId }),
    from: e164,
    to: numbers?.to ?? '',
    ringingTimeoutS: ringingMs / 1000,
    timeLimitS,
    region,
    detectsMachine: answerPlan?.mode === 'carrier' ? ('carrier' as const) : null,
    media: phone.expectStream(),
    headers: {},
    commandId: phone.leg.id,
  }
  try {
    const { carrierLegId } = await Promise.race([line.dial(leg, controller.signal), inTime])
    phone.dialed(carrierLegId, ringing)
  } catch (error) {
    if (!(error instanceof PhoneLineError)) {
      phone.end('carrier_error')
      throw error
    }
    // The answer to the dial command is lost, but an event contained the leg's id. So the carrier is dialling, and the
    // call continues.
    if (phone.ref !== null && error.kind === 'timeout') return phone.dialed(phone.ref.carrierLegId, ringing)
    const { sipCode } = error
    phone.end(sipCode === null ? 'carrier_error' : reasonOfHangup(sipCode, ''), undefined, sipCode)
    await phone.record.stored()
    throw new ResourceFault({ kind: 'not_dialed', why: whyNotDialed(error, false), sessionId: id })
  } finally {
    cancelTimer()
  }
}

/**
 * Sends `call.pre_call` to the webhook endpoint while the phone rings, because the endpoint's answer may change the
 * settings. The conversation begins after this answer.
 */
async function configure(
  deps: OutboundDeps,
  { caller, request, preparation }: Outbound,
  phone: PhoneCall,
  live: LiveCall,
): Promise<void> {
  try {
    phone.configure(await askBefore(deps, { caller, request, preparation }, phone.record, live))
  } catch (error) {
    phone.defect(error)
  }
}
