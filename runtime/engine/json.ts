import { isUtf8 } from 'node:buffer'
import { loopTurn } from '../../audio/loop-turn.ts'
import { Refusal } from './handler.ts'
import type { Validate } from './operation.ts'
import { cutPointer, escapeToken, refuseBody } from './violation.ts'

/** Returns the value, with the schema's defaults filled in. Throws Refusal `malformed_body` or `invalid_parameter`. */
export function readJson(bytes: Uint8Array, validate: Validate | null): unknown {
  return validated(parseJson(textOf(bytes)), validate)
}

/**
 * Reads a large text like `readJson`, with decoding, checking and parsing each in a separate turn of the event loop.
 * With 8 MB, decoding and `requireSimple` take up to 30 ms each. `JSON.parse` takes 13 ms and stays in this thread,
 * because copying the value from a worker would take as long. If several organizations send large texts, the
 * organizations are served alternately.
 */
export async function readLargeJson(bytes: Uint8Array, validate: Validate | null, owner: string): Promise<unknown> {
  await loopTurn(1, owner)
  const text = textOf(bytes)
  await loopTurn(1, owner)
  requireSimple(text)
  await loopTurn(1, owner)
  const value = parse(text)
  await loopTurn(1, owner)
  if (isSuspect(text)) refuseProto(value)
  return validated(value, validate)
}

function textOf(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new Refusal('malformed_body', { message: 'the JSON is not valid UTF-8' })
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

function validated(value: unknown, validate: Validate | null): unknown {
  if (validate && !validate(value)) throw refuseBody(validate.errors)
  return value
}

/**
 * Parses a JSON text. Throws Refusal `malformed_body` if it is not JSON, and `invalid_parameter` if it would take long
 * to handle or has a property `__proto__`.
 */
export function parseJson(text: string): unknown {
  requireSimple(text)
  const value = parse(text)
  if (isSuspect(text)) refuseProto(value)
  return value
}

/**
 * The maximum number of levels in a value. The contracts need fewer than 20. Deeper values would overflow the stack in
 * recursive functions such as validators.
 */
const depthMax = 64
/**
 * The maximum number of objects, arrays, fields and items in a value. A conversation of ten thousand turns has 30,000.
 */
const valuesMax = 50_000

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c

/** Checks the text before it is parsed, because a value with a few million levels stops the event loop for a second. */
function requireSimple(text: string): void {
  const excess = excessOf(text, valuesMax)
  if (excess !== null) throw new Refusal('invalid_parameter', { message: `the JSON has more than ${excess}` })
}

/** Returns null if the JSON text has at most 64 levels and `valuesMax` values, else the exceeded limit in words. */
export function excessOf(text: string, valuesMax: number): string | null {
  if (text.length <= depthMax) return null
  const strings = new Strings(text)
  let depth = 0
  let values = 1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = strings.endOf(at)
    else if (code === comma) values++
    else if ((code | 0x20) === 0x7b) {
      // The character is `[` or `{`.
      values++
      if (++depth > depthMax) return `${depthMax} levels`
    } else if ((code | 0x20) === 0x7d) depth--
  }
  return values > valuesMax ? `${valuesMax} values` : null
}

/**
 * Finds the ends of strings in a JSON text. Most strings are short. A long string is searched by `indexOf`, at a tenth
 * of the cost. The next quote and the next backslash are remembered until the search has passed them, so no text is
 * searched twice.
 */
class Strings {
  readonly #text: string
  #nextQuote = -1
  #nextBackslash = -1

  constructor(text: string) {
    this.#text = text
  }

  /** Returns the closing quote's position for the string with its opening quote at `start`. */
  endOf(start: number): number {
    const text = this.#text
    for (let at = start + 1; ; ) {
      for (const stop = at + shortString; at < stop; at++) {
        const code = text.charCodeAt(at)
        // At the text's end `charCodeAt` returns NaN.
        if (code === quote || Number.isNaN(code)) return at
        if (code === backslash) at++
      }
      if (this.#nextQuote < at) this.#nextQuote = position(text.indexOf('"', at))
      if (this.#nextBackslash < at) this.#nextBackslash = position(text.indexOf('\\', at))
      if (this.#nextQuote < this.#nextBackslash || this.#nextBackslash === Infinity) return this.#nextQuote
      at = this.#nextBackslash
    }
  }
}

const shortString = 256

function position(index: number): number {
  return index === -1 ? Infinity : index
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message quotes the text, so it is not passed on.
    throw new Refusal('malformed_body', { message: 'the body is not valid JSON' })
  }
}

/**
 * True if `__proto__` may be in the text, in any spelling allowed by JSON. A false positive only costs a search through
 * the parsed value.
 */
function isSuspect(text: string): boolean {
  return text.includes('__proto__') || (text.includes('\\u00') && escaped.test(text))
}

const escaped = /\\u00(?:5f|6f|7[024])/i

/**
 * Refuses the property `__proto__` at every depth. It does no harm until the value is merged into another object, but
 * no client needs it.
 */
function refuseProto(value: unknown): void {
  const place = placeOfProto(value)
  if (place === null) return
  const param = cutPointer(place)
  throw new Refusal('invalid_parameter', { param, message: `${param} is not a known field` })
}

/**
 * Returns the JSON pointer of the first property `__proto__`, or null. The pointer is put together on the way back from
 * the property, because a text can have 100,000 names.
 */
function placeOfProto(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null
  if (Object.hasOwn(value, '__proto__')) return '/__proto__'
  for (const name of Object.keys(value)) {
    const place = placeOfProto((value as Record<string, unknown>)[name])
    if (place !== null) return `/${escapeToken(name)}${place}`
  }
  return null
}
