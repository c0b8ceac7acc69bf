/** Acts as a stream's client: it sends audio at a pace, and records each transcript with its arrival time. */
import type { Provider } from '../../domain/ports/provider.ts'
import type { ProviderError } from '../../domain/ports/provider-error.ts'
import type { StreamTranscript, SttStream, SttStreamRequest } from '../../domain/ports/stt.ts'

export const telephone = { encoding: 'pcm_s16le', sampleRateHz: 8000, channels: 1 } as const
/** 20 ms of audio, in bytes. */
export const frameBytes = 320
const bytesPerMs = 16

export type TimedTranscript = StreamTranscript & { atMs: number }
export type Listening = {
  stream: SttStream
  transcripts: TimedTranscript[]
  starts: { startMs: number; atMs: number }[]
  /** Resolves with "ended" or the failure's class. */
  over: Promise<string>
  leave: () => void
}

export async function listen(provider: Provider, wanted: Partial<SttStreamRequest> = {}): Promise<Listening> {
  const leaving = new AbortController()
  const transcripts: TimedTranscript[] = []
  const starts: Listening['starts'] = []
  let end: (how: string) => void = () => {}
  const over = new Promise<string>((resolve) => (end = resolve))
  const request = { model: 'moonshine-tiny-en', audio: telephone, interimResults: true, words: false, ...wanted }
  const sink = {
    speechStarted: (startMs: number) => starts.push({ startMs, atMs: performance.now() }),
    transcript: (transcript: StreamTranscript) => transcripts.push({ ...transcript, atMs: performance.now() }),
    ended: () => end('ended'),
    failed: (error: ProviderError) => end(error.errorClass),
  }
  const stream = await provider.ports.speech!.stt!.open!(request, sink, leaving.signal)
  return { stream, transcripts, starts, over, leave: () => leaving.abort() }
}

/** Sends audio as fast as the stream accepts it. At most `aheadMs` wait in the stream. */
export async function feed(stream: SttStream, samples: Uint8Array, { aheadMs = 1000, bytes = frameBytes } = {}) {
  for (let at = 0; at < samples.length; at += bytes) {
    stream.audio(samples.subarray(at, at + bytes))
    while (stream.bufferedBytes > aheadMs * bytesPerMs) await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** Sends audio at the pace of speech. Returns the time of the first sample, on the same clock as `atMs`. */
export async function speakInto(stream: SttStream, samples: Uint8Array): Promise<number> {
  const startedMs = performance.now()
  for (let at = 0; at < samples.length; at += frameBytes) {
    const dueMs = startedMs + (at + frameBytes) / bytesPerMs
    const waitMs = dueMs - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    stream.audio(samples.subarray(at, at + frameBytes))
  }
  return startedMs
}

export const silence = (ms: number) => new Uint8Array(ms * bytesPerMs)

export function finalText(transcripts: readonly TimedTranscript[]): string {
  return transcripts.flatMap(({ isFinal, text }) => (isFinal && text !== '' ? [text] : [])).join(' ')
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
