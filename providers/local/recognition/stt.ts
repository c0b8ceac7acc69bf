import { ChunkedBytes } from '../../../audio/chunked-bytes.ts'
import type { Recording } from '../../../audio/format.ts'
import { webmPackets } from '../../../audio/webm.ts'
import { ProviderError } from '../../../domain/ports/provider-error.ts'
import type { Stt, SttRequest, SttStreamRequest, Transcript } from '../../../domain/ports/stt.ts'
import { type ChildPool, ownerOf } from '../children/child-pool.ts'
import { packetPieces } from '../children/packets.ts'
import type { StreamPool } from './stt-live.ts'
import type { StreamInput } from './stt-live-messages.ts'
import type { SttInput, SttOutput } from './stt-messages.ts'

/**
 * The most bytes in an audio message. A child checks for `stop` between two messages, and 64 KiB in low-quality MP3
 * last a minute.
 */
const pieceBytesMax = 64 * 1024
/** The expected recognition time, in seconds for each second of audio. Measured on a busy core: 0.07. */
const expectedPerAudio = 0.1
const timeoutPerAudio = 0.5
/**
 * The pause before an end point: the minimum, the default and the maximum. Shorter pauses occur within words, longer
 * pauses between speakers.
 */
const endpointing = { minMs: 100, usualMs: 480, maxMs: 3000 }

export type SttProgress = { stage: 'stt'; doneMs: number; totalMs: number }

export type LocalSttOptions = {
  pool: ChildPool
  streams: StreamPool
  /** The time limit for a recognition. Half the recording's duration is added. */
  jobTimeoutMs: number
  onProgress?: (progress: SttProgress) => void
}

export function createLocalStt({ pool, streams, jobTimeoutMs, onProgress }: LocalSttOptions): Stt {
  return {
    async transcribe({ recording }: SttRequest, signal: AbortSignal): Promise<Transcript> {
      const { format, durationMs: totalMs } = recording
      const input: SttInput = { format, durationMs: totalMs }
      const job = {
        input,
        owner: ownerOf(signal),
        pieces: pieces(recording),
        expectedMs: totalMs * expectedPerAudio,
        timeoutMs: jobTimeoutMs + totalMs * timeoutPerAudio,
        onProgress: (doneMs: number) => onProgress?.({ stage: 'stt', doneMs, totalMs }),
      }
      const { segments } = (await pool.run(job, signal)) as SttOutput
      return { text: segments.map((segment) => segment.text).join(' '), segments, language: 'en' }
    },
    async open(request, sink, signal) {
      return streams.open(streamInput(request), sink, signal)
    },
  }
}

/**
 * Returns the child's input. Throws ProviderError if an Opus stream has more than two channels, the maximum in one
 * packet. Without a container the channels in several packets cannot be combined.
 */
function streamInput({ audio, interimResults, endpointingMs = endpointing.usualMs }: SttStreamRequest): StreamInput {
  if (audio.encoding === 'opus' && audio.channels > 2) throw new ProviderError('unsupported', { sent: false })
  return {
    audio,
    interimResults,
    endpointingMs: Math.min(endpointing.maxMs, Math.max(endpointing.minMs, endpointingMs)),
  }
}

function pieces({ format, chunks, dataOffset, dataBytes }: Recording): Iterator<Uint8Array> {
  const bytes = new ChunkedBytes(chunks)
  if (format.container === 'webm') return packetPieces(webmPackets(bytes), pieceBytesMax)
  return bytes.pieces(dataOffset, dataOffset + dataBytes, pieceBytesMax)
}
