/** Streams the audio in a response's body: raw samples, or a WAV file's samples. */
import { AudioError } from '../../audio/error.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { Speech } from '../../domain/ports/tts.ts'
import type { StreamedAnswer } from '../../runtime/outbound/answer.ts'
import { protocolError, rejectAsProviderError, toProviderError } from './failures.ts'
import { readStreamedWav } from './streamed-wav.ts'

const headerBytesMax = 65_536

/**
 * Reads the format from the WAV header and streams the samples after the header. The first audio chunk always contains
 * samples, because the header does not count as audio.
 */
export async function readWav(answer: StreamedAnswer): Promise<Speech> {
  const body = answer.body[Symbol.asyncIterator]()
  let start: Buffer = Buffer.alloc(0)
  try {
    while (start.length < headerBytesMax) {
      const next = await body.next()
      if (next.done) throw endedEarly(start)
      start = Buffer.concat([start, next.value])
      const header = readStreamedWav(start)
      if (header) return { format: header.format, audio: audioOf(answer, start.subarray(header.dataOffset)) }
    }
    throw protocolError('no samples')
  } catch (error) {
    await discardAnswer(answer)
    throw error instanceof AudioError ? protocolError(error.message) : toProviderError(error)
  }
}

const endedEarly = (start: Buffer): ProviderError =>
  start.length === 0 ? new ProviderError('empty', { sent: true }) : protocolError('ended within the WAV header')

/**
 * Returns the body's chunks. Errors become ProviderError. This is not a generator: a generator does not close the
 * connection if its reader stops before the first `next`.
 */
export function audioOf(answer: StreamedAnswer, first?: Uint8Array): AsyncIterable<Uint8Array> {
  const body = answer.body[Symbol.asyncIterator]()
  let pending = first?.length ? first : null
  const iterator: AsyncIterator<Uint8Array> = {
    next() {
      if (!pending) return body.next().catch(rejectAsProviderError)
      const value = pending
      pending = null
      return Promise.resolve({ value, done: false })
    },
    async return() {
      await body.return?.()
      return { value: undefined, done: true }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

export async function discardAnswer(answer: StreamedAnswer): Promise<void> {
  await answer.body[Symbol.asyncIterator]().return?.()
}
