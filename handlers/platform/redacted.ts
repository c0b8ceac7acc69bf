/**
 * Removes known credentials from a call's data. The platform API's responses show no credential, but metadata, words
 * and tool results may. Users choose these texts, so the time must be linear in a text's length.
 */
import { credentialPrefix } from '../../domain/access/users.ts'
import { excessOf } from '../../runtime/engine/json.ts'

const mark = '[redacted]'
const secretName =
  /(^|[_\- a-z])(secrets?|passwords?|passphrase|authorization|credentials?|cookies?|(api|private)[_-]?keys?|token)$/i
const nameCharactersMax = 128

/**
 * Matches credentials. The pattern for a JWT also matches a JWT's start without the rest. Such a start stays in the
 * text, and the search continues after it. Otherwise a text with many starts would be read to its end for each start.
 */
const secretText = new RegExp(
  [
    String.raw`\bsk_(?:live|test)_\w+`,
    String.raw`\b(?:${Object.values(credentialPrefix).join('|')})[\w-]{20,}`,
    String.raw`\bwhsec_[\w+/=]+`,
    String.raw`\bv1\.[\w-]{20,}(?:\.[\w-]+)*`,
    String.raw`\bsk-[\w-]{16,}`,
    String.raw`\b[Bb]earer\s+[\w.~+/=-]+`,
    String.raw`\beyJ[\w-]+(?<rest>\.[\w-]+\.[\w-]*)?`,
  ].join('|'),
  'g',
)

/** Returns the whole value without credentials. */
export function redacted(value: unknown, name = '', parent = ''): unknown {
  const changed = redactedField(value, name, parent)
  if (Array.isArray(changed)) return changed.map((item) => redacted(item))
  if (typeof changed !== 'object' || changed === null) return changed
  const fields = Object.entries(changed).map(([field, each]) => [redactedText(field), redacted(each, field, name)])
  return Object.fromEntries(fields)
}

/** Like `redacted`, but does not look into arrays and objects, because the caller visits their fields one by one. */
export function redactedField(value: unknown, name: string, parent: string): unknown {
  if (isSecret(value, name, parent)) return mark
  return typeof value === 'string' ? redactedText(value) : value
}

/**
 * Returns true if the field `name` contains a secret. A number in a field `token` is a count. In a JSON Schema, a field
 * `password` below `properties` only describes a password.
 */
function isSecret(value: unknown, name: string, parent: string): boolean {
  if (name === '' || name.length > nameCharactersMax || !secretName.test(name)) return false
  if (typeof value === 'number') return !/token$/i.test(name)
  if (typeof value === 'object') return value !== null && parent !== 'properties'
  return typeof value === 'string' && value !== ''
}

/**
 * A longer text is redacted as a whole, because searching it would delay other requests. The texts of calls are
 * shorter.
 */
const textCharactersMax = 262_144

function redactedText(text: string): string {
  if (text.length > textCharactersMax) return mark
  return redactedJson(text) ?? redactedFields(text).replace(secretText, markIfWhole)
}

function markIfWhole(match: string, ...rest: unknown[]): string {
  const groups = rest.at(-1) as { rest: string | undefined }
  return match.startsWith('eyJ') && groups.rest === undefined ? match : mark
}

/** A longer text is not parsed as JSON, but searched like any other text. */
const jsonCharactersMax = 65_536
const jsonValuesMax = 20_000

/** Returns null if the text is no JSON object or array, or has no secret. */
function redactedJson(text: string): string | null {
  if (!/^\s{0,16}[[{]/.test(text) || text.length > jsonCharactersMax || excessOf(text, jsonValuesMax)) return null
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  const shown = JSON.stringify(redacted(value))
  return shown === JSON.stringify(value) ? null : shown
}

/** Fields in a text that is no JSON as a whole, such as a tool's result that was cut. The last value may be open. */
const fieldInText = /"([^"\\]{1,128})"(\s{0,8}:\s{0,8})"((?:[^"\\]+|\\[^])*)/g

function redactedFields(text: string): string {
  return text.replace(fieldInText, (match, name: string, between: string, value: string) =>
    isSecret(value, name, '') ? `"${name}"${between}"${mark}` : match,
  )
}
