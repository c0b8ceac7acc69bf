/**
 * Reads multipart/form-data while it arrives. busboy finds the parts. This class keeps the declared parts in the
 * declared order and hashes their decoded payloads, without headers and boundaries, so a retry with another boundary
 * has the same hash.
 *
 * busboy emits a part's bytes a little after it announces the part, so it may announce the next part first. The hash
 * therefore has a cursor, which passes to the next part only when the current part is complete.
 */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import busboy from 'busboy'
import { type Bytes, Refusal } from '../engine/handler.ts'
import { readJson } from '../engine/json.ts'
import type { Body, Part, Validate } from '../engine/operation.ts'
import { refuseBody } from '../engine/violation.ts'
import type { Content } from './content.ts'

type Received = { part: Part; chunks: Buffer[]; bytes: number; contentType: string; isComplete: boolean }

export class MultipartContent implements Content {
  hash = ''
  readonly #body: Body
  readonly #partBytesMax: number
  readonly #textBytesMax: number
  readonly #parser: busboy.Busboy
  readonly #received: Received[] = []
  readonly #hash = createHash('sha256')
  readonly #cursor = { part: 0, chunk: 0 }
  #refusal: Refusal | null = null
  #settle: (() => void) | null = null

  /** Throws Refusal if the content type has no boundary. */
  constructor(contentType: string, body: Body, partBytesMax: number, textBytesMax: number) {
    this.#body = body
    this.#partBytesMax = partBytesMax
    this.#textBytesMax = textBytesMax
    this.#parser = createParser(contentType, body, textBytesMax)
    this.#parser.on('file', (name, stream, { mimeType }) => this.#guard(() => this.#file(name, stream, mimeType)))
    this.#parser.on('field', (name, value, info) => this.#guard(() => this.#field(name, value, info)))
    this.#parser.on('partsLimit', () => this.#refuse(surplus(body, undefined)))
    // busboy's messages can quote the body.
    this.#parser.on('error', () =>
      this.#refuse(new Refusal('malformed_body', { message: 'the multipart body is cut off or malformed' })),
    )
    this.#parser.on('close', () => this.#settle?.())
  }

  take(chunk: Buffer): void {
    // busboy is a Writable: it queues bytes if it is busy. The queue is bounded, because the receiver counts all chunks
    // first.
    if (!this.#refusal) this.#parser.write(chunk)
    if (this.#refusal) throw this.#refusal
  }

  async finish(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#settle = resolve
      this.#parser.end()
    })
    if (this.#refusal) throw this.#refusal
    const missing = this.#body.parts.find((part) => part.required && !this.#find(part.name))
    if (missing)
      throw new Refusal('invalid_parameter', { param: missing.name, message: `part ${missing.name} is missing` })
    this.hash = this.#hash.digest('hex')
  }

  rawBody(): null {
    return null
  }

  destroy(): void {
    this.#parser.destroy()
    this.#received.length = 0
  }

  read(validate: Validate | null): Record<string, unknown> {
    const hasText = this.#body.parts.some(isText)
    const values: Record<string, unknown> = hasText ? this.#texts(validate) : {}
    const firstJson = this.#body.parts.find(({ kind }) => kind === 'json')
    for (const received of this.#received) {
      const { part, chunks } = received
      if (isText(part)) continue
      values[part.name] =
        part.kind === 'bytes'
          ? asBytes(received)
          : readJson(Buffer.concat(chunks), part === firstJson ? validate : null)
    }
    return values
  }

  /** Returns the text parts by name, checked together. */
  #texts(validate: Validate | null): Record<string, unknown> {
    const texts: Record<string, unknown> = {}
    for (const part of this.#body.parts.filter(isText)) {
      const own = this.#received.filter((received) => received.part === part).map(asText)
      if (own.length > 0) texts[part.name] = part.kind === 'texts' ? own : own[0]
    }
    if (validate && !validate(texts)) throw refuseBody(validate.errors)
    return texts
  }

  #file(name: string | undefined, stream: Readable, contentType: string): void {
    // Without a listener, a truncated body would end the process. The parser reports the error too.
    stream.on('error', () => {})
    if (this.#refusal) return
    const received = this.#begin(name, contentType)
    if (!received) return void stream.resume()
    stream.on('data', (chunk: Buffer) => this.#guard(() => this.#append(received, chunk)))
    stream.on('end', () => this.#complete(received))
  }

  /**
   * Takes a text part. busboy treats a part as text if it has no file name and its type is not
   * application/octet-stream.
   */
  #field(name: string | undefined, value: string, info: busboy.FieldInfo): void {
    if (this.#refusal) return
    const received = this.#begin(name, info.mimeType)
    if (!received) return
    const { part } = received
    if (part.kind === 'bytes') {
      const message = `part ${part.name} must have a file name, or the type application/octet-stream`
      throw new Refusal('invalid_parameter', { param: part.name, message })
    }
    if (info.valueTruncated) throw tooLarge(part, this.#textBytesMax)
    this.#append(received, Buffer.from(value))
    this.#complete(received)
  }

  /** Begins to receive a part. Returns null if the part is undeclared and dropped. */
  #begin(name: string | undefined, contentType: string): Received | null {
    const { parts, partsOrdered, partsOpen } = this.#body
    const part = parts.find((each) => each.name === name)
    if (!part) {
      if (partsOpen) return null
      throw surplus(this.#body, name)
    }
    if (part.kind !== 'texts' && this.#find(part.name)) throw misplaced(part, `part ${part.name} is sent twice`)
    if (partsOrdered) {
      const skipped = parts.slice(0, parts.indexOf(part)).find((each) => each.required && !this.#find(each.name))
      if (skipped) throw misplaced(skipped, `part ${skipped.name} must be sent, and before part ${part.name}`)
      const later = parts.slice(parts.indexOf(part)).find((each) => this.#find(each.name))
      if (later) throw misplaced(part, `part ${part.name} must come before part ${later.name}`)
    }
    const received = { part, chunks: [], bytes: 0, contentType, isComplete: false }
    this.#received.push(received)
    return received
  }

  #append(received: Received, chunk: Buffer): void {
    if (this.#refusal) return
    const { part } = received
    const bytesMax = part.kind === 'bytes' ? this.#partBytesMax : this.#textBytesMax
    received.bytes += chunk.length
    if (received.bytes > bytesMax) throw tooLarge(part, bytesMax)
    received.chunks.push(chunk)
    this.#advanceHash()
  }

  #complete(received: Received): void {
    received.isComplete = true
    this.#advanceHash()
  }

  #advanceHash(): void {
    const cursor = this.#cursor
    for (let at = this.#received[cursor.part]; at; at = this.#received[++cursor.part]) {
      for (let chunk = at.chunks[cursor.chunk]; chunk; chunk = at.chunks[++cursor.chunk]) this.#hash.update(chunk)
      if (!at.isComplete) return
      cursor.chunk = 0
    }
  }

  #find(name: string): Received | undefined {
    return this.#received.find(({ part }) => part.name === name)
  }

  /** Catches errors from `run`, because a throw would leave busboy in an undefined state. */
  #guard(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#refuse(error as Refusal)
    }
  }

  #refuse(refusal: Refusal): void {
    this.#refusal ??= refusal
    // Without this call, busboy would wait for ever for a reader of the refused part.
    this.#parser.destroy()
  }
}

function createParser(contentType: string, { parts, partsOpen }: Body, textBytesMax: number): busboy.Busboy {
  const partsMax = partsOpen || parts.some(({ kind }) => kind === 'texts') ? openPartsMax : parts.length
  try {
    return busboy({
      headers: { 'content-type': contentType },
      // Each limit is the allowed number plus one, because busboy reports a limit when it is reached.
      limits: { parts: partsMax + 1, fieldSize: textBytesMax + 1 },
    })
  } catch {
    throw new Refusal('malformed_body', { param: 'Content-Type', message: 'multipart/form-data needs a boundary' })
  }
}

/**
 * The maximum number of parts if the contract leaves their number open. No client sends nearly as many. Each part costs
 * a header with up to 16 KiB.
 */
const openPartsMax = 64

function isText({ kind }: Part): boolean {
  return kind === 'text' || kind === 'texts'
}

function asText({ part, chunks }: Received): string {
  const bytes = Buffer.concat(chunks)
  if (!isUtf8(bytes)) throw new Refusal('malformed_body', { param: part.name, message: 'the text is not valid UTF-8' })
  return bytes.toString('utf8')
}

function asBytes({ chunks, bytes, contentType }: Received): Bytes {
  return { chunks, bytes, contentType }
}

/** Makes the refusal for an unexpected part. Its name comes from the client and can have any length, so it is cut. */
function surplus({ parts, partsOpen }: Body, name: string | undefined): Refusal {
  const names = parts.map((part) => part.name).join(', ')
  const message = partsOpen ? `a form may have ${openPartsMax} parts` : `the parts are ${names} and no other`
  return new Refusal('invalid_parameter', { param: (name ?? 'body').slice(0, 256), message })
}

function misplaced({ name }: Part, message: string): Refusal {
  return new Refusal('invalid_parameter', { param: name, message })
}

function tooLarge({ name }: Part, bytesMax: number): Refusal {
  return new Refusal('payload_too_large', { param: name, message: `part ${name} is larger than ${bytesMax} bytes` })
}
