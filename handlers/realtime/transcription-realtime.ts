/**
 * The realtime transcription protocol of OpenAI's clients, as agent frameworks speak it, over the same streaming recognition as our channel.
 *
 *   utterance  ─► speech_started ─► delta … ─► speech_stopped ─► committed ─► item.created ─► completed
 *
 * A delta can only add to the text, but an interim transcript can still change. So an interim transcript that takes back some text sends no
 * delta; `completed` has the whole text. Without turn detection the final transcripts of an utterance are gathered until the client commits.
 */
import { frameBytes } from '../../audio/pcm.ts'
import type { Caller } from '../../domain/access/organization.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { Fault } from '../../domain/fault.ts'
import type { TranscribeStream, TranscriptionSink, TranscriptionStream } from '../../domain/speech/stream.ts'
import type { StreamTranscript } from '../../domain/speech/stt.ts'
import type { RealtimeHandlers, TranscriptionRealtimeSession } from '../../generated/realtime/channels.ts'
import { type RealtimeErrorCode, realtimeErrors } from '../../generated/realtime/errors.ts'
import type {
  InputAudioBufferAppend,
  SessionUpdate,
  TranscriptionSessionUpdate,
} from '../../generated/realtime/types.ts'
import type { FrameProblem, Socket, SocketContext } from '../../runtime/engine/socket.ts'
import { messageOf } from '../faults/table.ts'
import { routingOf } from '../routing.ts'
import type { Deadlines } from './deadlines.ts'
import { EndingSocket } from './ending-socket.ts'
import { codeOfFault } from './faults.ts'
import { defaultSettings, type TranscriptionSettings, updated, updatedOlder } from './transcription-settings.ts'

export type TranscriptionRealtimeDeps = {
  deadlines: Deadlines
  /** The longest time without audio. */
  silenceMs: number
  /** How long a commit waits for the last words of its utterance. */
  commitMs: number
  transcribe: TranscribeStream
  catalog: Catalog
  sessionId(): string
}

export function transcriptionRealtime(
  deps: TranscriptionRealtimeDeps,
): RealtimeHandlers<Caller>['transcriptionRealtime'] {
  return (socket, context) => new RealtimeSocket(deps, socket, context)
}

/** Longer than any utterance: only the client ends one, with a commit. */
const endpointingMaxMs = 10_000

class RealtimeSocket extends EndingSocket implements TranscriptionRealtimeSession, TranscriptionSink {
  readonly #deps: TranscriptionRealtimeDeps
  readonly #context: SocketContext<Caller>
  readonly #id: string
  #settings: TranscriptionSettings = defaultSettings
  #stream: TranscriptionStream | null = null
  #streams = 0
  /** Whether a provider has opened the stream. Before that no transcript can come. */
  #isReady = false
  #events = 0
  #items = 0
  /** The bytes sent to this stream, and the ms of audio in earlier streams. Each stream counts its times from its start. */
  #bytes = 0
  #earlierMs = 0
  /** Whether audio has come since the last commit or clear. */
  #hasAudio = false
  /** The commits that wait for their last words. */
  #commits = 0
  /** The text of this utterance that was sent as deltas. */
  #sentText = ''
  #parts: string[] = []
  #isSpeaking = false
  #startMs = 0
  #endMs = 0

  constructor(deps: TranscriptionRealtimeDeps, socket: Socket, context: SocketContext<Caller>) {
    super(deps.deadlines, socket, context.requestId, deps.silenceMs)
    this.#deps = deps
    this.#context = context
    this.#id = `sess_${deps.sessionId()}`
    const model = context.query.get('model')
    if (model) this.#settings = { ...defaultSettings, model }
    this.#send({ type: 'session.created', session: this.#sessionObject() })
  }

  onSessionUpdate({ session }: SessionUpdate): void {
    if (!this.#mayChange()) return
    this.#settings = updated(this.#settings, session)
    this.#send({ type: 'session.updated', session: { ...session, ...this.#sessionObject() } })
  }

  onTranscriptionSessionUpdate({ session }: TranscriptionSessionUpdate): void {
    if (!this.#mayChange()) return
    this.#settings = updatedOlder(this.#settings, session)
    this.#send({ type: 'transcription_session.updated', session: { ...session, id: this.#id } })
  }

  onInputAudioBufferAppend({ audio }: InputAudioBufferAppend): void {
    const bytes = Buffer.from(audio, 'base64')
    // A microphone sends without a pause, and its audio must not delay the answer to a commit.
    if (this.#commits === 0) this.dueIn(this.#deps.silenceMs)
    if (!this.#stream) this.#open()
    this.#hasAudio = true
    this.#bytes += bytes.length
    this.#stream?.audio(bytes)
  }

  onInputAudioBufferCommit(): void {
    if (!this.#stream || !this.#hasAudio) return this.#refuse('INVALID_FRAME', 'There is no audio to commit.')
    this.#hasAudio = false
    this.#commits += 1
    if (this.#commits === 1) this.#awaitWords()
    this.#stream.flush()
  }

  onInputAudioBufferClear(): void {
    if (this.#hasAudio) this.#drop()
    this.#send({ type: 'input_audio_buffer.cleared' })
  }

  onBytes(): void {
    this.fail('INVALID_FRAME', 'Audio comes as base64 in input_audio_buffer.append.')
  }

  onRefused({ message }: FrameProblem): void {
    this.#refuse('INVALID_FRAME', message)
  }

  onDrained(): void {
    // Events are few. The engine ends a reader that falls behind on them.
  }

  onDue(): void {
    if (this.#commits === 0) return this.fail('AUDIO_TIMEOUT')
    this.#complete()
  }

  ready(): void {
    // The protocol has no frame that names the provider.
    this.#isReady = true
    if (this.#commits > 0) this.#awaitWords()
  }

  speechStarted(startMs: number): void {
    if (!this.#isSpeaking) this.#begin(this.#earlierMs + startMs)
  }

  transcript({ text, isFinal, speechFinal, startMs, endMs }: StreamTranscript): void {
    this.speechStarted(startMs)
    this.#endMs = this.#earlierMs + endMs
    this.#sendDelta([...this.#parts, text].join(' '))
    if (!isFinal) return
    if (text !== '') this.#parts.push(text)
    const endsUtterance = this.#settings.turns !== null && speechFinal
    if (endsUtterance || this.#commits > 0) this.#complete()
  }

  ended(): void {
    this.finish()
  }

  failed(fault: Fault): void {
    if (this.#isSpeaking)
      this.#send({
        type: 'conversation.item.input_audio_transcription.failed',
        item_id: this.#itemId(),
        content_index: 0,
        error: errorOf(codeOfFault[fault.kind], messageOf(fault.data)),
      })
    this.failWith(fault)
  }

  protected errorFrame(code: RealtimeErrorCode, message: string): object {
    return this.#event({ type: 'error', error: errorOf(code, message) })
  }

  protected leave(): void {
    this.#stream?.leave()
    this.#stream = null
  }

  #begin(startMs: number): void {
    this.#isSpeaking = true
    this.#startMs = startMs
    this.#endMs = startMs
    if (this.#settings.turns !== null)
      this.#send({
        type: 'input_audio_buffer.speech_started',
        audio_start_ms: Math.round(startMs),
        item_id: this.#itemId(),
      })
  }

  #sendDelta(text: string): void {
    if (!text.startsWith(this.#sentText) || text === this.#sentText) return
    const delta = text.slice(this.#sentText.length)
    this.#sentText = text
    this.#send({
      type: 'conversation.item.input_audio_transcription.delta',
      item_id: this.#itemId(),
      content_index: 0,
      delta,
    })
  }

  #complete(): void {
    const itemId = this.#itemId()
    const previous = this.#items === 0 ? null : `item_${this.#items}`
    if (this.#settings.turns !== null && this.#isSpeaking)
      this.#send({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: Math.round(this.#endMs), item_id: itemId })
    this.#send({ type: 'input_audio_buffer.committed', item_id: itemId, previous_item_id: previous })
    this.#send({ type: 'conversation.item.created', previous_item_id: previous, item: itemOf(itemId) })
    this.#send({
      type: 'conversation.item.input_audio_transcription.completed',
      item_id: itemId,
      content_index: 0,
      transcript: this.#parts.join(' '),
      usage: { type: 'duration', seconds: Math.max(0, this.#endMs - this.#startMs) / 1000 },
    })
    this.#items += 1
    this.#resetUtterance()
    this.#commits = Math.max(0, this.#commits - 1)
    if (this.#commits > 0) this.#awaitWords()
    else this.dueIn(this.#deps.silenceMs)
  }

  /** While a provider opens, the domain has a deadline for it. */
  #awaitWords(): void {
    if (this.#isReady) this.dueIn(this.#deps.commitMs)
    else this.due = null
  }

  /** A transcript of audio that was already sent can still arrive, so clear leaves the stream and the next audio opens a new one. */
  #drop(): void {
    while (this.#commits > 0) this.#complete()
    this.#hasAudio = false
    this.#earlierMs += this.#sentMs()
    this.leave()
    this.#resetUtterance()
    this.dueIn(this.#deps.silenceMs)
  }

  #sentMs(): number {
    const { encoding, channels, sampleRateHz } = this.#settings.audio
    return (this.#bytes * 1000) / (frameBytes({ encoding, channels }) * sampleRateHz)
  }

  #resetUtterance(): void {
    this.#sentText = ''
    this.#parts = []
    this.#isSpeaking = false
  }

  #mayChange(): boolean {
    if (!this.#stream) return true
    this.#refuse('INVALID_CONFIG', 'The session cannot be changed once audio has come.')
    return false
  }

  #open(): void {
    const { caller, channelId, signal } = this.#context
    const { audio, model, language, prompt, keywords, turns } = this.#settings
    const endpointingMs = turns === null ? endpointingMaxMs : turns.silenceMs
    this.#isReady = false
    this.#bytes = 0
    this.#streams += 1
    // Each stream is settled as a request, so a later one needs another id.
    const requestId = this.#streams === 1 ? this.requestId : `${this.requestId}-${this.#streams}`
    try {
      this.#stream = this.#deps.transcribe(
        {
          caller,
          requestId,
          operation: channelId,
          signal,
          routing: routingOf(this.#deps.catalog, 'stt', caller, { ...(model && { model }) }),
          audio,
          interimResults: true,
          words: false,
          replay: false,
          ...(language && { language }),
          ...(prompt && { prompt }),
          ...(keywords && { keywords }),
          ...(endpointingMs !== undefined && { endpointingMs }),
        },
        this,
      )
    } catch (error) {
      this.failWith(error)
    }
  }

  #sessionObject() {
    return { id: this.#id, object: 'realtime.transcription_session', type: 'transcription' }
  }

  #itemId(): string {
    return `item_${this.#items + 1}`
  }

  /** Sends an error and keeps the socket open. */
  #refuse(code: RealtimeErrorCode, message: string): void {
    this.#send({ type: 'error', error: errorOf(code, message) })
  }

  #send(event: object): void {
    if (!this.isClosed) this.socket.send(JSON.stringify(this.#event(event)))
  }

  #event(event: object): object {
    this.#events += 1
    return { event_id: `event_${this.#events}`, ...event }
  }
}

function errorOf(code: RealtimeErrorCode, message?: string) {
  const row = realtimeErrors[code]
  const type = row.closeCode === 1008 ? 'invalid_request_error' : 'server_error'
  return { type, code, message: message ?? row.message, param: null, event_id: null }
}

function itemOf(id: string) {
  return {
    id,
    object: 'realtime.item',
    type: 'message',
    status: 'completed',
    role: 'user',
    content: [{ type: 'input_audio', transcript: null }],
  }
}
