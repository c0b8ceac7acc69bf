/**
 * The realtime transcription protocol of OpenAI's clients, as agent frameworks speak it, over the same streaming recognition as our own channel.
 *
 *   utterance  ─► speech_started ─► delta … ─► speech_stopped ─► committed ─► item.created ─► completed
 *
 * Its deltas can only add to the text, and what is heard can still change: a partial that takes something back is left out, and `completed` has
 * the whole text in any case. Without turn detection the finals of an utterance gather until the client commits.
 */
import { frameBytes } from '../../audio/pcm.ts'
import type { Caller } from '../../domain/access/organization.ts'
import type { Catalog } from '../../domain/catalog/catalog.ts'
import type { Fault } from '../../domain/fault.ts'
import { routingOfName } from '../../domain/routing/model-name.ts'
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
import type { Deadlines } from './deadlines.ts'
import { EndingSocket } from './ending-socket.ts'
import { codeOfFault } from './faults.ts'
import { defaultSettings, type TranscriptionSettings, updated, updatedOlder } from './transcription-settings.ts'

export type TranscriptionRealtimeDeps = {
  deadlines: Deadlines
  /** Without audio. */
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

/** An utterance longer than any endpointing: the client commits. */
const endpointingMaxMs = 10_000

class RealtimeSocket extends EndingSocket implements TranscriptionRealtimeSession, TranscriptionSink {
  readonly #deps: TranscriptionRealtimeDeps
  readonly #context: SocketContext<Caller>
  readonly #id: string
  #settings: TranscriptionSettings = defaultSettings
  #session: TranscriptionStream | null = null
  #sessions = 0
  /** Whether the session listens: before that no word of it can come. */
  #isReady = false
  #events = 0
  #items = 0
  /** Bytes that the session was given, and the ms that those before it were: each counts from its own start. */
  #bytes = 0
  #earlierMs = 0
  /** Since the last commit or clear. */
  #hasAudio = false
  /** That wait for their last words. */
  #commits = 0
  /** Of the utterance that is being heard. */
  #said = ''
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
    // A microphone never rests: its audio must not put off the answer to a commit.
    if (this.#commits === 0) this.dueIn(this.#deps.silenceMs)
    if (!this.#session) this.#open()
    this.#hasAudio = true
    this.#bytes += bytes.length
    this.#session?.audio(bytes)
  }

  onInputAudioBufferCommit(): void {
    if (!this.#session || !this.#hasAudio) return this.#refuse('INVALID_FRAME', 'There is no audio to commit.')
    this.#hasAudio = false
    this.#commits += 1
    if (this.#commits === 1) this.#awaitWords()
    this.#session.flush()
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
    // Events are few: a reader that falls behind on them is ended by the engine's bound.
  }

  onDue(): void {
    if (this.#commits === 0) return this.fail('AUDIO_TIMEOUT')
    this.#complete()
  }

  ready(): void {
    // The protocol has no frame that names who listens.
    this.#isReady = true
    if (this.#commits > 0) this.#awaitWords()
  }

  speechStarted(startMs: number): void {
    if (!this.#isSpeaking) this.#begin(this.#earlierMs + startMs)
  }

  transcript({ text, isFinal, speechFinal, startMs, endMs }: StreamTranscript): void {
    this.speechStarted(startMs)
    this.#endMs = this.#earlierMs + endMs
    this.#say([...this.#parts, text].join(' '))
    if (!isFinal) return
    if (text !== '') this.#parts.push(text)
    const isTurn = this.#settings.turns !== null && speechFinal
    if (isTurn || this.#commits > 0) this.#complete()
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
    this.#session?.leave()
    this.#session = null
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

  #say(text: string): void {
    if (!text.startsWith(this.#said) || text === this.#said) return
    const delta = text.slice(this.#said.length)
    this.#said = text
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
    this.#forget()
    this.#commits = Math.max(0, this.#commits - 1)
    if (this.#commits > 0) this.#awaitWords()
    else this.dueIn(this.#deps.silenceMs)
  }

  /** A provider that is still opening has a deadline of its own. */
  #awaitWords(): void {
    if (this.#isReady) this.dueIn(this.#deps.commitMs)
    else this.due = null
  }

  /** What a recogniser was given it will tell, sooner or later: only one that hears nothing of it is sure not to. */
  #drop(): void {
    while (this.#commits > 0) this.#complete()
    this.#hasAudio = false
    this.#earlierMs += this.#heardMs()
    this.leave()
    this.#forget()
    this.dueIn(this.#deps.silenceMs)
  }

  #heardMs(): number {
    const { encoding, channels, sampleRateHz } = this.#settings.audio
    return (this.#bytes * 1000) / (frameBytes({ encoding, channels }) * sampleRateHz)
  }

  #forget(): void {
    this.#said = ''
    this.#parts = []
    this.#isSpeaking = false
  }

  #mayChange(): boolean {
    if (!this.#session) return true
    this.#refuse('INVALID_CONFIG', 'The session cannot be changed once audio has come.')
    return false
  }

  #open(): void {
    const { caller, channelId, signal } = this.#context
    const { audio, model, language, prompt, keywords, turns } = this.#settings
    const endpointingMs = turns === null ? endpointingMaxMs : turns.silenceMs
    const objective = caller.policy.objective
    this.#isReady = false
    this.#bytes = 0
    this.#sessions += 1
    // A request that has been settled is settled: one that follows it has an id of its own.
    const requestId = this.#sessions === 1 ? this.requestId : `${this.requestId}-${this.#sessions}`
    try {
      this.#session = this.#deps.transcribe(
        {
          caller,
          requestId,
          operation: channelId,
          signal,
          routing: routingOfName(this.#deps.catalog, {
            stage: 'stt',
            ...(model && { name: model }),
            ...(objective && { objective }),
          }),
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

  /** The session goes on. */
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
