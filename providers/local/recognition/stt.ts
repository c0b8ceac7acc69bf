import { ChunkedBytes } from '../../../audio/chunked-bytes.ts'
import type { Recording } from '../../../audio/format.ts'
import { webmPackets } from '../../../audio/webm.ts'
import { ProviderError } from '../../../domain/ports/provider-error.ts'
import type { Stt, SttRequest, SttStreamRequest, Transcript } from '../../../domain/ports/stt.ts'
import { type ChildPool, ownerOf } from '../children/child-pool.ts'
import { packetPieces } from '../children/packets.ts'
import type { Recognizer } from './recognizer.ts'
import type { StreamPool } from './stt-live.ts'
import type { StreamInput } from './stt-live-messages.ts'
import type { SttInput, SttOutput } from './stt-messages.ts'

/**
 * The maximum number of bytes in an audio message. A child checks for `stop` between two messages, and 64 KiB in
 * low-quality MP3 last a minute.
 */
const pieceBytesMax = 64 * 1024
const timeoutPerAudio = 0.5
/**
 * The pause before an end point: the minimum, the default and the maximum. Shorter pauses occur within words, longer
 * pauses between speakers.
 */
const endpointing = { minMs: 100, usualMs: 480, maxMs: 3000 }

export type SttProgress = { stage: 'stt'; doneMs: number; totalMs: number }

/** A recognizer with its child processes. */
export type RunningRecognizer = { recognizer: Recognizer; pool: ChildPool; streams: StreamPool }

export type LocalSttOptions = {
  recognizers: readonly RunningRecognizer[]
  /** The time limit for a recognition. Half the recording's duration is added. */
  jobTimeoutMs: number
  onProgress?: (progress: SttProgress) => void
}

export function createLocalStt({ recognizers, jobTimeoutMs, onProgress }: LocalSttOptions): Stt {
  const running = (model: string): RunningRecognizer => {
    const match = recognizers.find(({ recognizer }) => recognizer.model === model)
    if (!match) throw new ProviderError('unsupported', { sent: false })
    return match
  }
  return {
    async transcribe({ model, recording, language: requested }: SttRequest, signal: AbortSignal): Promise<Transcript> {
      const { pool, recognizer } = running(model)
      const language = requested ?? null
      const { format, durationMs: totalMs } = recording
      const input: SttInput = { format, durationMs: totalMs, language }
      const job = {
        input,
        owner: ownerOf(signal),
        pieces: pieces(recording),
        expectedMs: totalMs * recognizer.expectedPerAudio,
        timeoutMs: jobTimeoutMs + totalMs * timeoutPerAudio,
        onProgress: (doneMs: number) => onProgress?.({ stage: 'stt', doneMs, totalMs }),
      }
      const { segments } = (await pool.run(job, signal)) as SttOutput
      return transcriptOf(segments, language ?? onlyLanguage(recognizer))
    },
    async open(request, sink, signal) {
      return running(request.model).streams.open(streamInput(request), sink, signal)
    },
  }
}

/** Returns the only language that the recognizer knows, if there is only one. */
function onlyLanguage({ languages }: Recognizer): string | null {
  return languages.length === 1 ? (languages[0] ?? null) : null
}

/** The recording's language is the language that was spoken for the longest time. */
function transcriptOf(segments: SttOutput['segments'], expected: string | null): Transcript {
  const spokenMs = new Map<string, number>()
  for (const { language, startMs, endMs } of segments)
    spokenMs.set(language, (spokenMs.get(language) ?? 0) + endMs - startMs)
  const [most] = [...spokenMs].sort(([, a], [, b]) => b - a)
  const language = most?.[0] ?? expected
  return {
    text: segments.map(({ text }) => text).join(' '),
    segments: segments.map(({ text, startMs, endMs }) => ({ text, startMs, endMs })),
    ...(language !== null && { language }),
  }
}

/**
 * Returns the child's input. Throws ProviderError if an Opus stream has more than two channels, the maximum in one
 * packet. Without a container the channels in several packets cannot be combined.
 */
function streamInput({
  audio,
  language,
  interimResults,
  endpointingMs = endpointing.usualMs,
}: SttStreamRequest): StreamInput {
  if (audio.encoding === 'opus' && audio.channels > 2) throw new ProviderError('unsupported', { sent: false })
  return {
    audio,
    language: language ?? null,
    interimResults,
    endpointingMs: Math.min(endpointing.maxMs, Math.max(endpointing.minMs, endpointingMs)),
  }
}

function pieces({ format, chunks, dataOffset, dataBytes }: Recording): Iterator<Uint8Array> {
  const bytes = new ChunkedBytes(chunks)
  if (format.container === 'webm') return packetPieces(webmPackets(bytes), pieceBytesMax)
  return bytes.pieces(dataOffset, dataOffset + dataBytes, pieceBytesMax)
}
