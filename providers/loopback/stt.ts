import type { Recording } from '../../audio/format.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { Stt } from '../../domain/ports/stt.ts'
import { LoopbackStream } from './stt-live.ts'

const echoedBytes = 24

/** Returns a transcript at once. Its text is the samples' first 24 bytes in base64. */
export const loopbackStt: Stt = {
  transcribe({ recording, options }) {
    const text = firstBytes(recording).toString('base64')
    const spoken = { text, startMs: 0, endMs: recording.durationMs }
    return Promise.resolve({
      text,
      segments: text === '' ? [] : [spoken],
      ...(options.wordTimestamps && { words: text === '' ? [] : [spoken] }),
      billedMs: recording.durationMs,
    })
  },
  open(request, sink, signal) {
    if (signal.aborted) {
      return Promise.reject(new ProviderError('cancelled', { sent: false, cause: signal.reason }))
    }
    return Promise.resolve(new LoopbackStream(request, sink, signal))
  },
}

function firstBytes({ chunks, dataOffset }: Recording): Buffer {
  const pieces: Uint8Array[] = []
  let at = 0
  for (const chunk of chunks) {
    const from = Math.max(dataOffset - at, 0)
    if (from < chunk.length) pieces.push(chunk.subarray(from, dataOffset + echoedBytes - at))
    at += chunk.length
    if (at >= dataOffset + echoedBytes) break
  }
  return Buffer.concat(pieces)
}
