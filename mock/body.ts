/** Reads a request's body within limits, and a form's parts as values for the schema of the form. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import busboy from 'busboy'
import type { Media } from './documents.ts'

/**
 * The maximum number of bytes in a body. A real server's limits are settings; their defaults are lower for most
 * operations.
 */
const bodyBytesMax = 64 * 1024 * 1024
const partsMax = 64
const textPartBytesMax = 1024 * 1024

export class BodyTooLarge extends Error {}
/** The form is cut off, or its content type has no boundary. */
export class MalformedForm extends Error {}

/** Reads the whole body. Throws BodyTooLarge. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bodyBytesMax) throw new BodyTooLarge(`the body is larger than ${bodyBytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** A form's values by part, and the parts' names in the order of their arrival. */
export type Form = { values: Record<string, unknown>; order: string[] }

/**
 * Reads a form. A part with bytes has the value ''. A part with JSON has its value, if the JSON is valid. Throws
 * MalformedForm.
 */
export async function readForm(bytes: Buffer, contentType: string, media: Media): Promise<Form> {
  const order: string[] = []
  const texts = new Map<string, Promise<unknown>[]>()
  const take = (name: string, value: Promise<unknown>) => {
    order.push(name)
    // If the body is cut off, parse() reports it before this value is awaited.
    value.catch(() => {})
    texts.set(name, [...(texts.get(name) ?? []), value])
  }
  await parse(bytes, contentType, (name, part) => take(name, valueOf(part, media.encoding?.[name]?.contentType)))
  const values: Record<string, unknown> = {}
  for (const [name, waiting] of texts) {
    const all = await Promise.all(waiting)
    const isList = media.schema?.properties?.[name]?.type === 'array' || all.length > 1
    values[name] = isList ? all : all[0]
  }
  return { values, order }
}

function parse(bytes: Buffer, contentType: string, take: (name: string, part: string | Readable) => void) {
  const limits = { parts: partsMax, fieldSize: textPartBytesMax, fileSize: bodyBytesMax }
  return new Promise<void>((resolve, reject) => {
    const fail = () => reject(new MalformedForm('the multipart body is cut off or malformed'))
    try {
      const parser = busboy({ headers: { 'content-type': contentType }, limits })
      const takeFile = (name: string, part: Readable) => {
        // A body that ends inside a file breaks the file's stream too. Without this listener it would end the process.
        part.on('error', fail)
        take(name, part)
      }
      parser.on('field', take).on('file', takeFile).on('close', resolve).on('error', fail).on('partsLimit', fail)
      parser.end(bytes)
    } catch {
      fail()
    }
  })
}

async function valueOf(part: string | Readable, contentType: string | undefined): Promise<unknown> {
  if (contentType === 'application/json') return jsonOrText(typeof part === 'string' ? part : await text(part))
  if (typeof part === 'string') return part
  part.resume()
  return ''
}

export function jsonOrText(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
