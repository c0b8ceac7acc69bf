import type { OutputFormat } from '../../audio/format.ts'
import { opusRateHz } from '../../audio/opus.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { Route } from '../../domain/dispatch/request.ts'
import type { Fault } from '../../domain/records/fault.ts'
import type { Caller } from '../../domain/records/organization.ts'
import { charactersOf } from '../../domain/speech/characters.ts'
import type { SpeechSink, SpeechStream, StreamUsage, SynthesizeStream } from '../../domain/speech/stream.ts'
import type { SynthesizeStreamSession } from '../../generated/realtime/channels.ts'
import type { TextFrame, TtsConfig } from '../../generated/realtime/types.ts'
import type { Socket, SocketContext } from '../../runtime/engine/socket.ts'
import type { OpenSession, Revocable } from '../revocable.ts'
import { routingOf } from '../routing.ts'
import { StreamSocket, type StreamSocketDeps } from './stream-socket.ts'

export type SynthesizeSocketDeps = StreamSocketDeps & {
  synthesize: SynthesizeStream
  catalog: Catalog
  region: string
  /** The longest text in one frame. */
  textCharactersMax: number
  sessionId(): string
}

export function synthesizeStream(deps: SynthesizeSocketDeps): OpenSession<Caller, SynthesizeStreamSession & Revocable> {
  return (socket, context) => new SynthesizeSocket(deps, socket, context)
}

class SynthesizeSocket extends StreamSocket implements SynthesizeStreamSession, SpeechSink {
  protected readonly silence = 'text_late'
  readonly #deps: SynthesizeSocketDeps
  readonly #context: SocketContext<Caller>
  #format: OutputFormat = { encoding: 'pcm_s16le', sampleRateHz: 24000, channels: 1 }
  #stream: SpeechStream | null = null
  #isBehind = false
  #isReady = false

  constructor(deps: SynthesizeSocketDeps, socket: Socket, context: SocketContext<Caller>) {
    super(deps, socket, context.requestId)
    this.#deps = deps
    this.#context = context
  }

  onConfig(config: TtsConfig): void {
    if (!this.take('config')) return
    this.restartSilence()
    if (config.timestamps) return this.fail('INVALID_CONFIG', 'No model gives the times of words while it streams.')
    const { encoding = 'pcm_s16le', sampleRate } = config
    this.#format = { encoding, sampleRateHz: sampleRate ?? (encoding === 'opus' ? opusRateHz : 24000), channels: 1 }
    this.#open(config)
  }

  onText({ text, flush }: TextFrame): void {
    if (!this.take('text')) return
    this.restartSilence()
    if (charactersOf(text) > this.#deps.textCharactersMax) return this.fail('TEXT_TOO_LONG')
    if (hasControls(text)) return this.fail('INVALID_TEXT')
    this.#stream?.text(text)
    if (flush) this.#stream?.flush()
  }

  onFlush(): void {
    if (this.take('flush')) this.#stream?.flush()
  }

  onClear(): void {
    if (!this.take('clear')) return
    this.restartSilence()
    this.#stream?.clear()
  }

  onEnd(): void {
    if (this.take('end')) this.#stream?.end()
  }

  /** Refuses binary frames, because the contract for this channel has no such frames from the client. */
  onBytes(): void {
    this.take('invalid')
  }

  /**
   * Gives the client more time in two cases. If a client reads slowly, it still plays older speech; if it is too slow,
   * the WebSocket engine closes its socket with BACKPRESSURE. If a client waits for speech, it need not send text, and
   * the domain limits this wait.
   */
  override onDue(): void {
    if (this.#isBehind || this.#stream?.owesSpeech) this.restartSilence()
    else super.onDue()
  }

  onDrained(): void {
    this.#isBehind = false
    this.restartSilence()
    this.#stream?.resume()
  }

  ready({ provider, model }: Route): void {
    if (!this.take('ready')) return
    this.#isReady = true
    const { encoding, sampleRateHz: sampleRate } = this.#format
    const { region } = this.#deps
    const frame = { type: 'ready', sessionId: this.#deps.sessionId(), provider, model, region, encoding, sampleRate }
    this.socket.send(JSON.stringify(frame))
  }

  audio(bytes: Uint8Array): boolean {
    // The client need not send text while it receives speech.
    this.restartSilence()
    const isSent = this.socket.sendBytes(bytes)
    if (!isSent) this.#isBehind = true
    return isSent
  }

  cleared(charactersSent: number): void {
    this.socket.send(`{"type":"cleared","charactersSent":${charactersSent}}`)
  }

  ended(usage: StreamUsage): void {
    if (!this.take('ended')) return
    this.socket.send(JSON.stringify({ type: 'end', usage }))
    this.finish()
  }

  failed(fault: Fault): void {
    // After a provider has opened, only the client's text can be the cause of this fault.
    if (this.#isReady && fault.kind === 'nothing_to_send') this.fail('INVALID_TEXT')
    else this.failWith(fault)
  }

  protected leave(): void {
    this.#stream?.leave()
    this.#stream = null
  }

  #open(config: TtsConfig): void {
    const { caller, requestId, channelId, signal, trace, logFields } = this.#context
    const { voice, language, instructions, speed } = config
    try {
      this.#stream = this.#deps.synthesize(
        {
          caller,
          requestId,
          operation: channelId,
          signal,
          trace,
          logFields,
          routing: routingOf(this.#deps.catalog, 'tts', caller, config),
          outputFormat: this.#format,
          ...(voice && voice !== 'auto' && { voice }),
          ...(language && { language }),
          ...(instructions && { instructions }),
          ...(speed !== undefined && { speed }),
        },
        this,
      )
    } catch (error) {
      this.failWith(error)
    }
  }
}

/**
 * Returns true if the text has control characters, which are never speech. Tab and line breaks are allowed as space.
 */
function hasControls(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the function looks for them
  return /[\u0000-\u0008\u000e-\u001f]/.test(text)
}
