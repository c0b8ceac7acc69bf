import { ChunkedBytes } from '../../audio/chunked-bytes.ts'
import { AudioError } from '../../audio/error.ts'
import { opusRateHz } from '../../audio/opus.ts'
import { isWav, readWavStart } from '../../audio/wav.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { Route } from '../../domain/dispatch/request.ts'
import type { StreamAudio, StreamTranscript } from '../../domain/ports/stt.ts'
import type { Fault } from '../../domain/records/fault.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type {
  StreamUsage,
  TranscribeStream,
  TranscriptionSink,
  TranscriptionStream,
} from '../../domain/speech/stream.ts'
import type { TranscribeStreamSession } from '../../generated/realtime/channels.ts'
import type { SttConfig } from '../../generated/realtime/types.ts'
import type { Socket, SocketContext } from '../../runtime/engine/socket.ts'
import type { OpenSession, Revocable } from '../revocable.ts'
import { routingOf } from '../routing.ts'
import { StreamSocket, type StreamSocketDeps } from './stream-socket.ts'

export type TranscribeSocketDeps = StreamSocketDeps & {
  transcribe: TranscribeStream
  catalog: Catalog
  region: string
  sessionId(): string
}

export function transcribeStream(deps: TranscribeSocketDeps): OpenSession<Caller, TranscribeStreamSession & Revocable> {
  return (socket, context) => new TranscribeSocket(deps, socket, context)
}

class TranscribeSocket extends StreamSocket implements TranscribeStreamSession, TranscriptionSink {
  #stream: TranscriptionStream | null = null
  #isFirst = true
  /** The client's requested language. */
  #language: string | null = null
  protected readonly silence = 'audio_late'
  readonly #deps: TranscribeSocketDeps
  readonly #context: SocketContext<Caller>
  readonly #sessionId: string
  #config: SttConfig | null = null
  /** True after a WAV header has opened the stream again. This happens at most once. */
  #isReopened = false
  #audio: StreamAudio = { encoding: 'pcm_s16le', sampleRateHz: 16000, channels: 1 }

  constructor(deps: TranscribeSocketDeps, socket: Socket, context: SocketContext<Caller>) {
    super(deps, socket, context.requestId)
    this.#deps = deps
    this.#context = context
    this.#sessionId = deps.sessionId()
  }

  onConfig(config: SttConfig): void {
    if (!this.take('config')) return
    this.restartSilence()
    this.#config = config
    const { encoding = 'pcm_s16le', sampleRate, channels } = config
    const language = languageOf(config)
    this.#language = language ?? null
    const usualHz = encoding === 'opus' ? opusRateHz : 16000
    this.#audio = { encoding, sampleRateHz: sampleRate ?? usualHz, channels: channels ?? 1 }
    // For a WAV, the header decides which providers can read the audio. So the stream opens after the header.
    if (config.contentType !== 'audio/wav') this.#open()
  }

  onBytes(bytes: Uint8Array): void {
    if (!this.take('audio')) return
    this.restartSilence()
    if (this.#isFirst) this.#begin(bytes)
    else this.#stream?.audio(bytes)
  }

  onFlush(): void {
    if (this.take('flush')) this.#stream?.flush()
  }

  onEnd(): void {
    if (!this.take('end')) return
    if (this.#stream) this.#stream.end()
    else this.ended({ durationMs: 0, costMicroUsd: 0 })
  }

  onDrained(): void {
    // Nothing to do: transcripts are few, and if the client reads them too slowly, the WebSocket engine closes the
    // socket.
  }

  ready({ provider, model }: Route, ignored: readonly string[]): void {
    if (!this.take('ready')) return
    const { encoding, sampleRateHz: sampleRate } = this.#audio
    const { region } = this.#deps
    const frame = { type: 'ready', sessionId: this.#sessionId, provider, model, region, encoding, sampleRate }
    this.socket.send(JSON.stringify(ignored.length > 0 ? { ...frame, ignored } : frame))
  }

  speechStarted(startMs: number): void {
    this.socket.send(`{"type":"speech_started","startMs":${Math.round(startMs)}}`)
  }

  transcript(transcript: StreamTranscript): void {
    this.socket.send(transcriptFrame(transcript, this.#language))
  }

  ended(usage: StreamUsage): void {
    if (!this.take('ended')) return
    this.socket.send(JSON.stringify({ type: 'end', usage }))
    this.finish()
  }

  failed(fault: Fault): void {
    this.failWith(fault)
  }

  protected leave(): void {
    this.#stream?.leave()
    this.#stream = null
  }

  /** Handles the first bytes, which may be a WAV header. The header has precedence over the config. */
  #begin(bytes: Uint8Array): void {
    this.#isFirst = false
    const samples = isWav(new ChunkedBytes([bytes])) ? this.#readHeader(bytes) : bytes
    if (samples === null) return
    if (!this.#stream) this.#open()
    this.#stream?.audio(samples)
  }

  #readHeader(bytes: Uint8Array): Uint8Array | null {
    try {
      const header = readWavStart(bytes)
      if (header === null) return this.#refuseHeader('The WAV header must be whole within the first frame.')
      const { encoding, sampleRateHz, channels } = header.format
      if (encoding !== 'pcm_s16le' && encoding !== 'mulaw' && encoding !== 'alaw')
        return this.#refuseHeader('A stream takes WAV as 16 bit samples, mu-law or A-law.')
      this.#reopenAs({ encoding, sampleRateHz, channels })
      return bytes.subarray(header.dataOffset)
    } catch (error) {
      if (error instanceof AudioError) return this.#refuseHeader(error.message)
      throw error
    }
  }

  #refuseHeader(message: string): null {
    this.fail('INVALID_CONFIG', message)
    return null
  }

  /**
   * Opens the provider again if the header names another format than the config. The provider has no audio yet, so
   * nothing is lost.
   */
  #reopenAs(audio: StreamAudio): void {
    const { encoding, sampleRateHz, channels } = this.#audio
    const isSame = encoding === audio.encoding && sampleRateHz === audio.sampleRateHz && channels === audio.channels
    if (isSame) return
    this.#isReopened = this.#stream !== null
    this.leave()
    this.#audio = audio
  }

  #open(): void {
    const config = this.#config
    if (!config) return
    const { caller, requestId, channelId, signal, trace, logFields } = this.#context
    const { endpointingMs, prompt } = config
    const keywords = config.keywords ?? config.sttOptions?.keywords
    const language = languageOf(config)
    try {
      this.#stream = this.#deps.transcribe(
        {
          caller,
          // The second stream gets another id and so a separate ledger row, because the first stream reached a provider
          // too.
          requestId: this.#isReopened ? `${requestId}-2` : requestId,
          operation: channelId,
          signal,
          trace,
          logFields,
          routing: routingOf(this.#deps.catalog, 'stt', caller, config),
          audio: this.#audio,
          interimResults: config.interimResults ?? true,
          words: config.words ?? false,
          replay: config.replay ?? false,
          ...(language && { language }),
          ...(endpointingMs !== undefined && { endpointingMs }),
          ...(keywords?.length && { keywords }),
          ...(prompt && { prompt }),
        },
        this,
      )
    } catch (error) {
      this.failWith(error)
    }
  }
}

const languageOf = ({ language, sttOptions, intent }: SttConfig) => language ?? sttOptions?.language ?? intent?.language

/**
 * Writes a transcript. `language` is the client's language. If a provider detects a language, the detected language is
 * shown instead.
 */
function transcriptFrame(transcript: StreamTranscript, language: string | null): string {
  const { utterance, text, isFinal, speechFinal, startMs, endMs, confidence, words } = transcript
  return JSON.stringify({
    type: 'transcript',
    id: `utt_${utterance}`,
    text,
    isFinal,
    speechFinal,
    startMs: Math.round(startMs),
    endMs: Math.round(endMs),
    language: transcript.language ?? language,
    confidence,
    words: words?.map(rounded),
  })
}

/** Rounds a word's times, because the contract has whole milliseconds. */
function rounded({ startMs, endMs, ...word }: NonNullable<StreamTranscript['words']>[number]) {
  return { ...word, startMs: Math.round(startMs), endMs: Math.round(endMs) }
}
