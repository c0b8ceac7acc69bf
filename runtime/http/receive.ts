import { Refusal } from '../engine/handler.ts'
import type { Head } from '../engine/head.ts'
import type { Body } from '../engine/operation.ts'
import type { Content } from './content.ts'
import type { Engine } from './engine.ts'
import type { HttpExchange } from './http-exchange.ts'
import { MultipartContent } from './multipart.ts'
import { RawContent } from './raw-content.ts'
import { noMemory, Receiver, type ReceiverLimits, tooLarge } from './receiver.ts'

/**
 * Begins to receive the body. Must be called before the first await. Returns null if there is no body, and the
 * operation requires no body. A refusal is returned, not thrown, because an invalid API key must be refused first, and
 * checking the key may take a while.
 */
export function receive(engine: Engine, exchange: HttpExchange, body: Body, head: Head): Receiver | Refusal | null {
  try {
    return begin(engine, exchange, body, head)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

function begin(engine: Engine, exchange: HttpExchange, body: Body, head: Head): Receiver | null {
  const { limits } = engine.options
  if (!head.hasBody) {
    if (!body.required) return null
    throw new Refusal('malformed_body', { message: 'a body is required' })
  }
  const encoding = head.contentEncoding.toLowerCase()
  if (encoding !== '' && encoding !== 'identity') {
    throw new Refusal('unsupported_media', { param: 'Content-Encoding', message: 'the body must be sent uncompressed' })
  }
  const type = mediaType(head.contentType)
  const isNamed = body.types.includes(type)
  if (!isNamed && !body.types.some((range) => covers(range, type))) throw unsupported(body)
  const isMultipart = isNamed && type === 'multipart/form-data'
  const jsonBytesMax = exchange.endpoint?.operation.scope == null ? limits.keylessBytesMax : limits.jsonBytesMax
  const payloadBytesMax = body.limit === 'audio' ? limits.audioBytesMax : jsonBytesMax
  const textBytesMax = Math.min(textPartBytesMax, limits.jsonBytesMax)
  const bytesMax = isMultipart ? payloadBytesMax + textBytesMax + framingBytes : payloadBytesMax
  if ((head.contentLength ?? 0) > bytesMax) throw tooLarge(payloadBytesMax)
  if (!exchange.admitsBody(head.contentLength ?? 0)) throw noMemory()
  const content = isMultipart
    ? new MultipartContent(head.contentType, body, payloadBytesMax, textBytesMax)
    : new RawContent(head.contentType, isNamed && type === 'application/json')
  const { bodySpeed } = exchange.transport
  return connect(engine, exchange, content, {
    bytesMax,
    payloadBytesMax,
    pauseMs: Math.min(limits.bodyTimeoutMs, bodySpeed.pauseMs),
    startMs: bodySpeed.startMs,
    bytesPerSMin: Math.max(limits.bodyBytesPerSMin, bodySpeed.bytesPerSMin),
  })
}

/**
 * Connects a new receiver with its exchange, with the transport (which delivers its bytes) and with the watch for slow
 * bodies.
 */
function connect(engine: Engine, exchange: HttpExchange, content: Content, limits: ReceiverLimits): Receiver {
  const receiver = new Receiver(exchange, content, limits, engine.stalls, engine.options.clock)
  exchange.receiver = receiver
  engine.stalls.add(receiver)
  exchange.transport.onData((chunk, last) => receiver.receive(chunk, last))
  return receiver
}

/**
 * The maximum number of bytes of a JSON part or form field beside a recording. The prompt for an hour's speech has 60
 * KB.
 */
const textPartBytesMax = 1_048_576

/** Room for boundaries and part headers, in bytes. */
const framingBytes = 65_536

/** Returns the media type in lower case, without parameters. */
function mediaType(contentType: string): string {
  const semicolon = contentType.indexOf(';')
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase()
}

/**
 * True if the media range covers the type. A body without a type has unknown bytes, so only the widest range covers it.
 * RFC 9110, 8.3.
 */
function covers(range: string, type: string): boolean {
  return range === '*/*' || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)))
}

function unsupported({ types }: Body): Refusal {
  return new Refusal('unsupported_media', { param: 'Content-Type', message: `the body must be ${types.join(' or ')}` })
}
