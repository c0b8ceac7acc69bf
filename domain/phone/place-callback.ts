/**
 * Places a callback's call, unless another process has placed it and then died. The call goes out from one of the
 * organization's numbers, with the callback's agent. Without an agent, the settings come from the callback's session.
 */
import type { PlaceCallback } from '../callbacks/callbacks.ts'
import type { Placing } from '../callbacks/moves.ts'
import type { CallbackStore } from '../callbacks/store.ts'
import type { CallableNumber, CallableNumbers, CallersOfNumbers, PhoneLines } from '../records/callable-number.ts'
import { type Callback, configuredNumberOf, type PlacingFailure } from '../records/callback.ts'
import { Fault } from '../records/fault.ts'
import type { Pipeline, PipelineTool } from '../records/pipeline.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import type { NewTool } from '../records/tool.ts'
import type { SessionRequest } from '../sessions/start.ts'
import type { DialPhone } from './outbound.ts'

export type PlaceCallbackDeps = {
  callbacks: Pick<CallbackStore, 'find' | 'attempt'>
  numbers: Pick<CallableNumbers, 'outboundFor' | 'outboundNamed'>
  lines: PhoneLines
  callers: CallersOfNumbers
  dial: DialPhone
}

export function createPlaceCallback(deps: PlaceCallbackDeps): PlaceCallback {
  return async (callback) => {
    const before = await deps.callbacks.attempt(callback)
    if (before !== null) return before.isDialed ? before : { failure: 'carrier_error' }
    const whole = await deps.callbacks.find(callback, callback.id)
    if (whole === null) return { failure: 'carrier_error' }
    const number = await numberOf(deps, callback, whole.pipeline)
    const caller = number && (await deps.callers.find(callback, number.id))
    if (number === null || caller === null || caller.organization.isDisabled) return { failure: 'no_phone_number' }
    const { agentId } = callback
    const own = agentId === null ? { ...settingsOf(whole.pipeline), isRendered: true } : { agentId }
    const metadata = { ...whole.metadata, callbackId: callback.id }
    const { webhookTags } = whole
    const numbers = { to: callback.toNumber, from: number.e164 }
    try {
      const dialed = await deps.dial(caller, {
        ...own,
        ...(callback.lease && { sessionId: callback.lease.id }),
        ...numbers,
        metadata,
        webhookTags,
        note: callback.instructions,
        leavesUnset: true,
      })
      return { sessionId: dialed.id, phoneNumberId: number.id, fromNumber: number.e164 }
    } catch (error) {
      const failure = failureOf(error)
      if (failure === null) throw error
      return failure
    }
  }
}

/**
 * Chooses the number to call from: the number in the tool's configuration if it may place calls, else the agent's
 * oldest number, else the organization's oldest number.
 */
async function numberOf(
  { numbers, lines }: PlaceCallbackDeps,
  callback: Callback,
  pipeline: Pipeline,
): Promise<CallableNumber | null> {
  const named = configuredNumberOf(pipeline)
  const hasLine = (number: CallableNumber) => lines.of(number) !== null
  const preferred = named === undefined ? null : await numbers.outboundNamed(callback, named, hasLine)
  if (preferred !== null) return preferred
  const choice = await numbers.outboundFor(callback, callback.agentId, null, hasLine)
  return typeof choice === 'string' ? null : choice
}

/** Converts an error to a callback's failure. Returns null for any other error, because it is a defect. */
function failureOf(error: unknown): Extract<Placing, { failure: PlacingFailure }> | null {
  if (error instanceof Fault) {
    if (error.kind === 'credit_too_low') return { failure: 'insufficient_credits' }
    return error.kind === 'too_many_at_once' || error.kind === 'overloaded' ? { failure: 'concurrency' } : null
  }
  if (!(error instanceof ResourceFault)) return null
  const { data } = error
  if (data.kind === 'number_not_ready') return { failure: 'no_phone_number' }
  if (data.kind !== 'not_dialed') return null
  const { why, sessionId } = data
  return {
    failure: 'carrier_error',
    ...(why !== 'no_number' && { why }),
    ...(sessionId !== undefined && { sessionId }),
  }
}

/** Makes a request from the session's settings. Its texts are rendered already and may contain variable values. */
function settingsOf(pipeline: Pipeline): SessionRequest {
  const { firstMessage, firstMessageMode: mode } = pipeline
  // The first message may have rendered to an empty text. A request must not have the mode `message` without a text.
  const firstMessageMode = firstMessage === null && mode === 'message' ? null : mode
  const unset = { transport: null, agentName: null, extractionFields: null, tools: null }
  const settings = { ...pipeline, ...unset, firstMessageMode }
  return { ...withoutNulls(settings), tools: pipeline.tools.flatMap(toolOf) }
}

/** Leaves out null values: a pipeline's unset values are null, but in a request they must be absent. */
function withoutNulls(settings: object): SessionRequest {
  const text = JSON.stringify(settings, (_name, value: unknown) => value ?? undefined)
  return JSON.parse(text) as SessionRequest
}

/**
 * Converts a tool for the request. A session's tool secrets are deleted at its end, so a tool with a secret is left
 * out.
 */
function toolOf({ source, ...tool }: PipelineTool): NewTool[] {
  if (source.kind !== 'webhook') return [{ ...tool, source }]
  const { hasSecret, authHeaders, ...open } = source
  return hasSecret || authHeaders !== null ? [] : [{ ...tool, source: open }]
}
