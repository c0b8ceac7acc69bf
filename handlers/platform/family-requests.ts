/**
 * The bodies that the published SDKs of the hosted product send (`clients: family`), in the words of the contract. They are
 * rewritten before the validator sees them, so that the contract stays as narrow as it is for all other clients.
 */
import type { Operation, Surface, Validate } from '../../runtime/engine/operation.ts'

type Row = Record<string, unknown>
type Rewrite = (body: Row) => void

const rewrites: Readonly<Record<string, Rewrite>> = {
  createAgent: settings,
  updateAgent: settings,
  createSession: settings,
  createPhoneSession: settings,
  updatePhoneNumber: attach,
}

export function withFamilyRequests(surface: Surface): Surface {
  return { ...surface, operations: surface.operations.map(rewritten) }
}

function rewritten(operation: Operation): Operation {
  const rewrite = rewrites[operation.id]
  const { validateBody } = operation
  if (rewrite === undefined || validateBody === null) return operation
  return { ...operation, validateBody: after(rewrite, validateBody) }
}

function after(rewrite: Rewrite, validate: Validate): Validate {
  const both: Validate = (body) => {
    if (isRow(body)) rewrite(body)
    const isValid = validate(body)
    both.errors = validate.errors ?? null
    return isValid
  }
  return both
}

function settings(body: Row): void {
  const { turnHandling, backgroundAudio, maxDurationSeconds } = body
  if (isRow(turnHandling) && typeof turnHandling['turnDetection'] === 'boolean')
    turnHandling['turnDetection'] = turnHandling['turnDetection'] ? 'text' : 'vad'
  if (isRow(backgroundAudio)) for (const clip of Object.values(backgroundAudio)) quieten(clip)
  // The hosted product takes any length, and keeps it between half a minute and four hours.
  if (typeof maxDurationSeconds === 'number')
    body['maxDurationSeconds'] = Math.min(14_400, Math.max(30, maxDurationSeconds))
}

/** There clips are as loud as they were recorded, and 16 makes the quietest audible. Here all have one loudness, that of 1. */
function quieten(clip: unknown): void {
  if (isRow(clip) && typeof clip['volume'] === 'number') clip['volume'] = Math.min(1, clip['volume'])
}

/** `attachPhoneNumber` sends the agent alone, so that the agent answers the calls of the number. */
function attach(body: Row): void {
  if (typeof body['agentId'] === 'string' && Object.keys(body).length === 1) body['direction'] = 'both'
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
