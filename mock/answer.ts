/** Makes answers from the contract's examples: status, headers, and a body with the selected media type. */
import { preferredType } from '../runtime/http/accept.ts'
import { tone, toneWav, UnsupportedFormat } from './audio.ts'
import { contracts, type DeclaredAnswer, type Media, type Operation, type Surface } from './documents.ts'

export type Answer = {
  status: number
  headers: Record<string, string>
  /** Text, bytes, or an event stream's frames. Null for an answer without content. */
  body: string | Uint8Array | readonly string[] | null
}
/** A request's parts by which the answer is selected. `example` is the example's name in the header Prefer, or null. */
export type Selection = { body: unknown; accept: string; example: string | null }

const eventStream = 'text/event-stream'
/** The speech's sample rate if the request does not name a rate, as on a real server. */
const speechRateHz = 24_000
const speechMs = 1000
/**
 * With this rate and duration a recording has as many bytes as the examples for Content-Length and Content-Range say.
 */
const recordingRateHz = 16_000
const recordingMs = 2000

/**
 * Makes the answer with this status. Returns null if the contract does not declare the status or the example. Throws
 * UnsupportedFormat.
 */
export function answerOf(surface: Surface, operation: Operation, status: string, selection: Selection): Answer | null {
  const declared = ownOf(operation.responses, status)
  if (declared === undefined) return null
  const answer = { status: Number(status), headers: headersOf(declared) }
  if (declared.content === undefined) return { ...answer, body: null }
  const [type, example] = choose(operation, declared.content, selection)
  if (example !== null && ownOf(declared.content[type]?.examples ?? {}, example) === undefined) return null
  const isSuccess = Number(status) < 300
  const content = contentOf(type, selection.body, () => {
    const options = { code: Number(status), mediaType: type, ...(example !== null && { example }) }
    const { mock: mocked } = surface.backend.mockResponseForOperation(operation.operationId, options) as {
      mock: unknown
    }
    return (isSuccess ? contracts[operation.operationId] : undefined) ?? mocked
  })
  const { body, contentType = type } = content
  return { ...answer, headers: { ...answer.headers, 'Content-Type': contentType }, body }
}

/** Returns the operation's first declared 2xx status. */
export function successOf({ responses }: Operation): string {
  return Object.keys(responses).find((status) => status.startsWith('2')) ?? '200'
}

/** Selects the media type and the example: by the preferred example, by `response_format`, else the first ones. */
function choose(
  operation: Operation,
  content: Record<string, Media>,
  { body, accept, example }: Selection,
): [type: string, example: string | null] {
  const types = Object.keys(content)
  const withExample = (name: string) => types.find((type) => ownOf(content[type]?.examples ?? {}, name) !== undefined)
  const [first = ''] = types
  if (example !== null) return [withExample(example) ?? first, example]
  if (types.includes(eventStream) && wantsEvents(operation, body, accept)) return [eventStream, null]
  const format = fieldsOf(body)['response_format']
  if (typeof format !== 'string') return [first, null]
  const type = withExample(format)
  if (type === undefined) throw new UnsupportedFormat(format)
  return [type, format]
}

/** The contract names the body's field that selects an event stream, or the header Accept. */
function wantsEvents(operation: Operation, body: unknown, accept: string): boolean {
  const { responses, 'x-stream-switch': field, 'x-stream-value': value = true } = operation
  if (field !== undefined && field !== 'Accept') return fieldsOf(body)[field] === value
  const types = Object.keys(responses['200']?.content ?? {})
  return types.length === 1 || preferredType(accept, ['application/json', eventStream]) === eventStream
}

/** Returns the value with this name. A name from a client can be `constructor`, which every object inherits. */
export function ownOf<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

type MadeContent = { body: NonNullable<Answer['body']>; contentType?: string }

function contentOf(type: string, request: unknown, example: () => unknown): MadeContent {
  if (type === 'application/octet-stream') {
    const { encoding = 'pcm_s16le', sample_rate_hz: rateHz = speechRateHz } = fieldsOf(fieldsOf(request)['audio'])
    return { body: tone(String(encoding), Number(rateHz), speechMs) }
  }
  const rateHz = Number(fieldsOf(request)['sample_rate'] ?? speechRateHz)
  if (type === 'audio/pcm') return { body: tone('pcm_s16le', rateHz, speechMs), contentType: `${type};rate=${rateHz}` }
  if (type === 'audio/wav')
    return { body: request === undefined ? toneWav(recordingRateHz, recordingMs) : toneWav(rateHz, speechMs) }
  const value = example()
  if (type === eventStream) return { body: String(value).match(/.+?\n\n/gs) ?? [] }
  return { body: typeof value === 'string' ? value : JSON.stringify(value) }
}

/** Returns the required headers with their examples. The length is counted when the answer is sent. */
function headersOf({ headers = {} }: DeclaredAnswer): Record<string, string> {
  const required = Object.entries(headers).filter(
    ([name, { required }]) => required === true && name !== 'Content-Length',
  )
  return Object.fromEntries(required.map(([name, { example }]) => [name, String(example)]))
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
