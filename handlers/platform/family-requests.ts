/**
 * Rewrites requests from the hosted product's published SDKs (`clients: family`, see docs/moving.md) into the
 * contract's form. This happens before validation, so the contract stays narrow for all other clients.
 */
import type { Operation, Surface, Validate } from '../../runtime/engine/operation.ts'

type Row = Record<string, unknown>
type Rewrite = (value: Row) => void

const bodies: Readonly<Record<string, Rewrite>> = {
  createAgent: readSettings,
  updateAgent: readSettings,
  createSession: readSettings,
  createPhoneSession: readSettings,
  purchasePhoneNumber: readTemplate,
  importPhoneNumber: readTemplate,
  updatePhoneNumber: readTemplate,
  saveBusinessVerificationDraft: dropEmptyTexts,
}

const queries: Readonly<Record<string, Rewrite>> = { listWebhookDeliveries: readEvent }

export function withFamilyRequests(surface: Surface): Surface {
  return { ...surface, operations: surface.operations.map(rewritten) }
}

function rewritten(operation: Operation): Operation {
  const { id, validateBody, validateParams } = operation
  const [ofBody, ofQuery] = [bodies[id], queries[id]]
  return {
    ...operation,
    ...(ofBody && validateBody && { validateBody: rewriting(ofBody, validateBody) }),
    ...(ofQuery &&
      validateParams && { validateParams: rewriting(({ query }) => inRow(query, ofQuery), validateParams) }),
  }
}

/** Makes a validator that rewrites the value before it validates the value. */
function rewriting(rewrite: Rewrite, validate: Validate): Validate {
  const rewritingFirst: Validate = (value) => {
    inRow(value, rewrite)
    const isValid = validate(value)
    rewritingFirst.errors = validate.errors ?? null
    return isValid
  }
  return rewritingFirst
}

function readSettings(settings: Row): void {
  const { turnHandling, backgroundAudio, maxDurationSeconds } = settings
  if (isRow(turnHandling) && typeof turnHandling['turnDetection'] === 'boolean')
    turnHandling['turnDetection'] = turnHandling['turnDetection'] ? 'text' : 'vad'
  if (isRow(backgroundAudio)) for (const clip of Object.values(backgroundAudio)) inRow(clip, quieten)
  // The hosted product accepts any length and moves it into the range from half a minute to four hours, so we do too.
  if (typeof maxDurationSeconds === 'number')
    settings['maxDurationSeconds'] = Math.min(14_400, Math.max(30, Math.round(maxDurationSeconds)))
}

/**
 * Limits a clip's volume to 1. In the hosted product a volume up to 16 makes quiet clips louder, because it plays clips
 * as loud as they were recorded. Here all clips have the same loudness, which is that of volume 1.
 */
function quieten(clip: Row): void {
  if (typeof clip['volume'] === 'number') clip['volume'] = Math.min(1, clip['volume'])
}

/**
 * Rewrites the session settings in a phone number's `dispatchMetadataTemplate`. The number starts sessions with them.
 */
function readTemplate({ dispatchMetadataTemplate }: Row): void {
  inRow(dispatchMetadataTemplate, readSettings)
}

/**
 * Removes fields with an empty text. The SDKs send them for empty form fields, but the contract leaves such fields out.
 */
function dropEmptyTexts(form: Row): void {
  for (const [name, value] of Object.entries(form)) {
    if (value === '') delete form[name]
    inRow(value, dropEmptyTexts)
  }
}

/** Renames an event: the hosted product calls rich messages `imessage`. */
function readEvent(query: Row): void {
  const { event } = query
  if (typeof event === 'string') query['event'] = event.replace(/^imessage\./, 'rmsg.')
}

function inRow(value: unknown, rewrite: Rewrite): void {
  if (isRow(value)) rewrite(value)
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
