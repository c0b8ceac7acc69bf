/** Reads why Telnyx refused a registration. The reasons are shown to the customer and never logged. */
import type { ReviewError } from '../../domain/ports/sms-registry.ts'
import { isObject, type JsonObject, objectsOf, trimmed } from '../wire/json.ts'
import { profileFieldOf } from './sms-profiles.ts'

const reviewErrorsMax = 20
const messageCharactersMax = 512

/**
 * Refusals with these statuses are about the operator's account, the request rate or a time limit, and not about the
 * profile.
 */
const notOfProfile: readonly number[] = [401, 402, 403, 408, 429]

/**
 * Reads the three refusal forms: `{errors: [{title, detail, source}]}`, one such error alone, and
 * `{detail: [{loc, msg}]}` for status 422.
 */
export function reviewErrorsIn(status: number, body: unknown): ReviewError[] {
  if (status < 400 || status >= 500 || notOfProfile.includes(status) || !isObject(body)) return []
  const errors = [...objectsOf(body['errors']), ...objectsOf(body['detail'])]
  const entries = errors.length > 0 ? errors : [body]
  return entries.slice(0, reviewErrorsMax).flatMap(reviewError)
}

/**
 * Reads a brand's or campaign's `failureReasons`. They are one text, or a list with `{description, fields}` from the
 * registry behind Telnyx.
 */
export function failureReasonsIn(row: JsonObject): ReviewError[] {
  const reasons = row['failureReasons']
  const list: unknown[] = Array.isArray(reasons) ? reasons : [reasons]
  return list
    .map((reason) => (isObject(reason) ? reason : { description: reason }))
    .slice(0, reviewErrorsMax)
    .flatMap(reviewError)
}

function reviewError(error: JsonObject): ReviewError[] {
  const message = ['detail', 'msg', 'description', 'title']
    .map((name) => shown(error[name]))
    .find((text) => text !== '')
  return message === undefined ? [] : [{ field: fieldIn(error), message }]
}

/**
 * Returns the field in our profile that the error is about: the innermost known name in a path such as
 * `/body/companyName` or `['body', 'sample1']`.
 */
function fieldIn({ source, loc, fields }: JsonObject): string | null {
  const pointer = isObject(source) ? trimmed(source['pointer']) || trimmed(source['parameter']) : ''
  const names: unknown[] = [loc, fields].find((list) => Array.isArray(list)) ?? pointer.split('/')
  return names.reduce<string | null>((field, name) => profileFieldOf(String(name)) ?? field, null)
}

function shown(text: unknown): string {
  const line = trimmed(text)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .trim()
  return [...line.slice(0, 2 * messageCharactersMax)].slice(0, messageCharactersMax).join('')
}
