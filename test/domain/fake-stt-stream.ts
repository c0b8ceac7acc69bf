import type { Route } from '../../domain/dispatch/request.ts'
import type { Model } from '../../domain/ports/model.ts'
import type { ProviderError } from '../../domain/ports/provider-error.ts'
import type { StreamTranscript, SttStream, SttStreamRequest, SttStreamSink } from '../../domain/ports/stt.ts'
import type { CancelSignal } from '../../domain/ports/system.ts'
import type { Fault } from '../../domain/records/fault.ts'
import type { StreamUsage, TranscribeStreamInput, TranscriptionSink } from '../../domain/speech/stream.ts'
import { createTranscribeStream, type TranscribeStreamLimits } from '../../domain/speech/transcribe-stream.ts'
import { bench, hang, model, order, provider } from './fakes.ts'

export const pcm16 = { encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 } as const
/** One frame: 20 ms of 16 kHz samples. */
export const frame = new Uint8Array(640).fill(1)
const streams: TranscribeStreamLimits = { openMs: 500, totalMs: 3_600_000, pendingBytesMax: 6500, aheadMsMax: 1000 }
export const prices = [{ unit: 'audio_hour' as const, microUsd: 3_600_000, source: 's', asOf: 'd' }]

/** Acts as the speech-to-text provider of one stream, and records its request and its sink. */
class FakeStream implements SttStream {
  readonly request: SttStreamRequest
  readonly sink: SttStreamSink
  readonly signal: CancelSignal
  readonly taken: number[][] = []
  readonly calls: string[] = []
  bytes = 0
  bufferedBytes = 0
  onAudio: (() => void) | null = null
  keepsAudio = true

  constructor(request: SttStreamRequest, sink: SttStreamSink, signal: CancelSignal) {
    this.request = request
    this.sink = sink
    this.signal = signal
  }

  audio(bytes: Uint8Array): void {
    this.bytes += bytes.length
    if (this.keepsAudio) this.taken.push([...bytes])
    this.onAudio?.()
  }
  flush(): void {
    this.calls.push('flush')
  }
  end(): void {
    this.calls.push('end')
  }
  close(): void {
    this.calls.push('close')
  }
}

class RecordedEvents implements TranscriptionSink {
  readonly events: string[] = []
  readonly transcripts: StreamTranscript[] = []
  route: Route | null = null
  ignored: readonly string[] = []
  usage: StreamUsage | null = null
  fault: Fault | null = null
  onReady: (() => void) | null = null

  ready(route: Route, ignored: readonly string[]): void {
    this.events.push(`ready ${route.provider}`)
    this.route = route
    this.ignored = ignored
    this.onReady?.()
  }
  speechStarted(startMs: number): void {
    this.events.push(`speech ${startMs}`)
  }
  transcript(transcript: StreamTranscript): void {
    this.events.push(transcript.text)
    this.transcripts.push(transcript)
  }
  ended(usage: StreamUsage): void {
    this.events.push('ended')
    this.usage = usage
  }
  failed(fault: Fault): void {
    this.events.push(`failed ${fault.kind}`)
    this.fault = fault
  }
}

export function words(text: string, over: Partial<StreamTranscript> = {}): StreamTranscript {
  return { utterance: 0, text, isFinal: true, speechFinal: true, startMs: 0, endMs: 20, ...over }
}

type Opening = 'opens' | 'hangs' | ProviderError

export function setup(openings: Opening[], over: Partial<Model> = {}, limits: Partial<TranscribeStreamLimits> = {}) {
  const opened: FakeStream[] = []
  const asked: string[] = []
  const providers = openings.map((opening, i) => {
    const id = 'abc'[i] ?? ''
    const open = (request: SttStreamRequest, sink: SttStreamSink, signal: CancelSignal): Promise<SttStream> => {
      asked.push(id)
      if (opening === 'hangs') return hang()
      if (opening !== 'opens') return Promise.reject(opening)
      const stream = new FakeStream(request, sink, signal)
      opened.push(stream)
      return Promise.resolve(stream)
    }
    return provider(id, [model('stt', over)], { stt: { open, transcribe: () => hang() } })
  })
  const all = bench(providers)
  const sink = new RecordedEvents()
  const start = createTranscribeStream({ ...all.deps, streams: { ...streams, ...limits } })
  const begin = (extra: Partial<TranscribeStreamInput> = {}) => {
    const { caller, requestId, signal } = order()
    const unkeyed = { caller, requestId, signal, operation: 'transcribeStream' }
    const asked = { routing: { mode: 'auto', objective: 'balanced' }, audio: pcm16 } as const
    return start({ ...unkeyed, ...asked, interimResults: true, words: false, replay: false, ...extra }, sink)
  }
  const stream = (at = 0): FakeStream => {
    const found = opened[at]
    if (!found) throw new Error(`stream ${at} was not opened`)
    return found
  }
  return { ...all, asked, opened, sink, begin, stream }
}
