/**
 * Accepts or refuses inbound calls announced by carriers and SIP trunks. A call is answered only when its conversation
 * can begin. Below each step is the SIP code for a refusal:
 *
 *   announced ──► number ──► settings ──► stored, `ringing` ──► limits ──► the event before the call ──► answered
 *                   │ 404       │ 480           │ 480, 503        │ 486
 */
import type { CallRegistry } from '../calls/live/call-registry.ts'
import type { CallStore } from '../calls/store.ts'
import type { LiveCall } from '../conversation/parts/live-call.ts'
import type { PhoneLine, RejectCode } from '../ports/phone-line.ts'
import type { Log } from '../ports/system.ts'
import type { CallPhone } from '../records/call.ts'
import type { CallableNumber, CallableNumbers, CallersOfNumbers } from '../records/callable-number.ts'
import { Fault } from '../records/fault.ts'
import type { PriceOfLeg } from '../records/leg-costs.ts'
import { type Caller, tenantOf } from '../records/organization.ts'
import type { EndReason } from '../records/states/call.ts'
import type { SessionSettings } from '../sessions/pre-call.ts'
import { agentOf, type Preparation, type PrepareDeps, preparationOf, prepared } from '../sessions/prepare.ts'
import type { SessionRequest } from '../sessions/start.ts'
import { type AskBeforeDeps, askBefore } from './ask-before.ts'
import { dispatchedBy } from './dispatch-template.ts'
import { forwardingOf } from './forwarding.ts'
import { callerLeg, newPhoneCall } from './new-call.ts'
import type { PhoneCall } from './phone-call.ts'
import type { Announced, PhoneCalls, TakeInbound } from './phone-calls.ts'

export type InboundDeps = PrepareDeps &
  AskBeforeDeps & {
    numbers: Pick<CallableNumbers, 'findInbound' | 'ofConnection' | 'isInboundReady'>
    callers: CallersOfNumbers
    phones: Pick<PhoneCalls, 'open' | 'catchUp'>
    sessions: Pick<CallRegistry, 'take'>
    priceOf: PriceOfLeg
    calls: Pick<CallStore, 'insertPhoned' | 'reconfigure' | 'countLive'>
    /**
     * Reads a number in a carrier's spelling, from a call to our number `ours`. Returns E.164, or null if it is not a
     * number.
     */
    e164: (text: string, ours?: string) => string | null
    /** Returns true if a carrier's spelling of a dialled number denotes this E.164 number. */
    isDialed: (text: string, e164: string) => boolean
    ids: { session: () => string; leg: () => string }
    ownerId: string
    log: Log
  }

export function createTakeInbound(deps: InboundDeps): TakeInbound {
  return async (line, event) => {
    const { log, callers } = deps
    const carrierLegId = event.carrierLegId
    const number = await numberCalled(deps, line, event)
    const caller = number && (await callers.find(number, number.id))
    if (number === null || caller === null) {
      log.info({ line: line.name, carrierLegId }, 'a call came for a number that nobody has')
      return line.reject({ legId: deps.ids.leg(), carrierLegId }, 404)
    }
    if (caller.organization.isDisabled) {
      log.info({ line: line.name, carrierLegId }, 'a call came for a disabled organization')
      return line.reject({ legId: deps.ids.leg(), carrierLegId }, 404)
    }
    const inbound = await take(deps, caller, number, line, event)
    // The call is not awaited here, because the carrier may repeat the event until this function resolves.
    if (inbound !== null) void begin(deps, inbound)
  }
}

const lastDigits = 4

/**
 * Finds the dialled number. Returns null if it is unknown. A number called over a SIP trunk is searched only among the
 * trunk's numbers, because other organizations may have imported the same number.
 */
async function numberCalled(
  { numbers, e164, isDialed }: InboundDeps,
  line: PhoneLine,
  event: Announced,
): Promise<CallableNumber | null> {
  if (line.name === 'trunk') {
    const digits = event.to.replace(/\D/g, '').slice(-lastDigits)
    const alike = await numbers.ofConnection(event.connectionId ?? '', digits)
    return alike.find((number) => isDialed(event.to, number.e164)) ?? null
  }
  const dialed = e164(event.to)
  if (dialed === null) return null
  return numbers.findInbound(dialed, { line: line.name, organizationId: organizationCalled(line, event) })
}

/**
 * Returns the organization that the connection belongs to, or null. A carrier has one connection for all organizations.
 * The simulator has one connection per organization, and the connection `simulator` for no particular organization.
 */
function organizationCalled({ name }: PhoneLine, { connectionId = name }: Announced): string | null {
  return name === 'simulator' && connectionId !== name ? connectionId : null
}

type Inbound = {
  caller: Caller
  number: CallableNumber
  phone: PhoneCall
  live: LiveCall
  request: SessionRequest
  preparation: Preparation
  /** False if the number's settings cannot be used. The call is then stored with substitute settings and refused. */
  isUsable: boolean
}

/** Stores the call. Returns null if the carrier has announced its leg before. */
async function take(
  deps: InboundDeps,
  caller: Caller,
  number: CallableNumber,
  line: PhoneLine,
  event: Announced,
): Promise<Inbound | null> {
  const { ids, clock, e164 } = deps
  const tenant = tenantOf(caller)
  const read = (text: string) => e164(text, number.e164)
  const forwarding = forwardingOf(event.forwarding, number.e164, read)
  const phone: CallPhone = {
    direction: 'inbound',
    from: event.from === null ? null : read(event.from),
    to: number.e164,
    forwardedFrom: forwarding?.number ?? null,
    phoneNumberId: number.id,
    legId: ids.leg(),
  }
  const id = ids.session()
  const nowMs = clock.nowMs()
  const agent = number.agentId === null ? null : await agentOf(deps, tenant, number.agentId).catch(() => null)
  const occasion = { callId: id, nowMs, direction: 'inbound', phone, unset: new Set<string>() }
  const preparation = await preparationOf(deps, tenant, { occasion, transport: 'phone', agent })
  const toolNames = preparation.tools.map(({ tool }) => tool.name)
  const template = number.dispatchMetadataTemplate
  const { request: dispatched, tags } = dispatchedBy(template, agent?.settings ?? null, phone, toolNames)
  const request = { ...dispatched, agentId: agent?.id ?? null }
  const usable = await settingsOf(deps, caller, preparation, request)
  const settings = usable ?? (await plainSettings(deps, preparation))
  const made = { ...tenant, id, phone, settings, nowMs, keyId: number.id, ownerId: deps.ownerId, webhookTags: tags }
  const call = newPhoneCall({ ...made, kind: 'inbound', agentId: number.agentId })
  const { connectionId } = number
  const leg = { ...callerLeg(call, line.name, deps.priceOf), carrierLegId: event.carrierLegId, connectionId }
  if (!(await deps.calls.insertPhoned(call, settings.secrets, leg))) return null
  const live = { call, secrets: settings.secrets }
  const opened = deps.phones.open(live, leg, line)
  const source = forwarding === null ? {} : { forwarding_source: forwarding.source }
  opened.record.line('carrier.initiated', { direction: 'inbound', ...source })
  opened.ringing()
  deps.phones.catchUp(opened)
  return { caller, number, phone: opened, live, request, preparation, isUsable: usable !== null }
}

/**
 * Returns null if no provider can serve the settings, or if they break a rule that has changed since they were stored.
 */
async function settingsOf(
  deps: InboundDeps,
  caller: Caller,
  preparation: Preparation,
  request: SessionRequest,
): Promise<SessionSettings | null> {
  try {
    const settings = await prepared(deps, preparation, request)
    deps.routes.require(caller, settings.pipeline)
    deps.routes.warmUp(caller, settings.pipeline)
    return settings
  } catch (err) {
    deps.log.warn({ err, agentId: preparation.agent?.id }, 'a call cannot be answered with the settings of its number')
    return null
  }
}

/** Makes substitute settings for a call that will be refused, because its record must show settings. */
function plainSettings(deps: InboundDeps, preparation: Preparation): Promise<SessionSettings> {
  return prepared(deps, { ...preparation, agent: null, tools: [] }, { intent: { language: 'en' } })
}

async function begin(deps: InboundDeps, inbound: Inbound): Promise<void> {
  const { phone, live, caller } = inbound
  try {
    const refused = phone.isOver ? null : await refusalOf(deps, inbound)
    if (refused !== null) return phone.refuse(...refused)
    if (phone.isOver) return
    phone.hold(await deps.sessions.take(live, caller, phone))
    if (phone.isOver) return
    const configured = await askBefore(deps, inbound, phone.record, live)
    if (phone.isOver) return
    phone.configure(configured)
    await phone.answer()
  } catch (error) {
    if (phone.isOver) return
    if (isFull(error)) phone.refuse('concurrency_exhausted', 486)
    else phone.defect(error)
  }
}

/** Returns true if the organization or this process has reached its session limit. */
const isFull = (error: unknown) =>
  error instanceof Fault && (error.kind === 'too_many_at_once' || error.kind === 'overloaded')

async function refusalOf(
  { numbers, credit }: InboundDeps,
  { number, isUsable, caller }: Inbound,
): Promise<[EndReason, RejectCode] | null> {
  if (!isUsable || !(await numbers.isInboundReady(number))) return ['not_ready', 480]
  if (caller.test || (await credit.refusal(caller)) === null) return null
  return ['credit_exhausted', 503]
}
