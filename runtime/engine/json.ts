import { isUtf8 } from 'node:buffer'
import { Refusal } from './handler.ts'
import type { Validate } from './operation.ts'
import { refuseBody } from './violation.ts'

/** The value, with the schema's defaults filled in. Throws Refusal `malformed_body` or `invalid_parameter`. */
export function readJson(bytes: Uint8Array, validate: Validate | null): unknown {
  if (!isUtf8(bytes)) throw new Refusal('malformed_body', { message: 'the JSON is not valid UTF-8' })
  const value = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
  if (validate && !validate(value)) throw refuseBody(validate.errors)
  return value
}

/** Matches `__proto__` in any spelling that JSON allows. A false match only costs the slower parse. */
const suspect = /__proto__|\\u00(?:5f|6f|7[024])/i

/** Throws Refusal `malformed_body`, or `invalid_parameter` for a field that could reach a prototype. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, suspect.test(text) ? refuseProto : undefined)
  } catch (error) {
    if (error instanceof Refusal) throw error
    // The parser's message quotes the text.
    throw new Refusal('malformed_body', { message: 'the body is not valid JSON' })
  }
}

/** As a property it is harmless until the value is merged into another object. No client needs it, so it is refused. */
function refuseProto(key: string, value: unknown): unknown {
  if (key === '__proto__')
    throw new Refusal('invalid_parameter', { param: '/__proto__', message: '/__proto__ is not a known field' })
  return value
}
