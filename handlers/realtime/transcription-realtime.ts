/**
 * The realtime transcription protocol of OpenAI's clients, as agent frameworks speak it, over the same streaming recognition as our own channel.
 *
 *   utterance  ─► speech_started ─► delta … ─► speech_stopped ─► committed ─► item.created ─► completed
 *
 * Its deltas can only add to the text, and what is heard can still change: a partial that takes something back is left out, and `completed` has
 * the whole text in any case. Without turn detection the finals of an utterance gather until the client commits.
 */
import type { Caller } from '../../domain/access/organization.ts'
import { Fault } from '../../domain/fault.ts'
import type { Catalog } from '../../domain/routing/catalog.ts'
import { routingOfName } from '../../domain/routing/model-name.ts'
import type { TranscribeStream, TranscriptionListener, TranscriptionSession } from '../../domain/speech/session.ts'
import type { StreamTranscript } from '../../domain/speech/stt-stream.ts'
import type { RealtimeHandlers, TranscriptionRealtimeSession } from '../../generated/realtime/channels.ts'
import { type RealtimeErrorCode, realtimeErrors } from '../../generated/realtime/errors.ts'
import type {
  InputAudioBufferAppend,
  SessionUpdate,
  TranscriptionSessionUpdate,
} from '../../generated/realtime/types.ts'
import type { FrameProblem, Socket, SocketContext } from '../../runtime/ws/socket.ts'
import { codeOfFault } from './codes.ts'
import type { Dated, Deadlines } from './deadlines.ts'
import { defaultSettings, type TranscriptionSettings, updated, updatedOlder } from './transcription-settings.ts'

export type TranscriptionRealtimeDeps = {
  deadlines: Deadlines
  /** Without audio. */
  silenceMs: number
  transcribe: TranscribeStream
  catalog: Catalog
  sessionId(): string
}

export function createTranscriptionRealtime(
  deps: TranscriptionRealtimeDeps,
): RealtimeHandlers<Caller>['transcriptionRealtime'] {
  return (socket, context) => new RealtimeSocket(deps, socket, context)
}

/** How long a commit waits for the last words of its utterance. */
const commitWaitMs = 3000
/** An utterance longer than any endpointing: the client commits. */
const endpointingMaxMs = 10_000

class RealtimeSocket implements TranscriptionRealtimeSession, TranscriptionListener, Dated {
  dueMs: number
  readonly #deps: TranscriptionRealtimeDeps
  readonly #socket: Socket
  readonly #context: SocketContext<Caller>
  readonly #id: string
  #settings: TranscriptionSettings = defaultSettings
  #session: TranscriptionSession | null = null
  #isClosed = false
  #events = 0
  #items = 0
  /** Of the utterance that is being heard. */
  #said = ''
  #parts: string[] = []
  #isSpeaking = false
  #isCommitting = false
  #startMs = 0
  #endMs = 0

  constructor(deps: TranscriptionRealtimeDeps, socket: Socket, context: SocketContext<Caller>) {
    this.#deps = deps
    this.#socket = socket
    this.#context = context
    this.#id = `sess_${deps.sessionId()}`
    const model = context.query.get('model')
    if (model) this.#settings = { ...defaultSettings, model }
    this.dueMs = deps.deadlines.nowMs() + deps.silenceMs
    deps.deadlines.add(this)
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
    this.dueMs = this.#deps.deadlines.nowMs() + this.#deps.silenceMs
    if (!this.#session) this.#open()
    this.#session?.audio(Buffer.from(audio, 'base64'))
  }

  onInputAudioBufferCommit(): void {
    if (!this.#session) return this.#refuse('INVALID_FRAME', 'There is no audio to commit.')
    this.#isCommitting = true
    this.dueMs = this.#deps.deadlines.nowMs() + commitWaitMs
    this.#session.flush()
  }

  onInputAudioBufferClear(): void {
    // What the recogniser has already heard cannot be unheard; it is not told to the client.
    this.#session?.flush()
    this.#forget()
    this.#send({ type: 'input_audio_buffer.cleared' })
  }

  onBytes(): void {
    this.#fail('INVALID_FRAME', 'Audio comes as base64 in input_audio_buffer.append.')
  }

  onRefused({ message }: FrameProblem): void {
    this.#refuse('INVALID_FRAME', message)
  }

  onDrained(): void {
    // Events are few: a reader that falls behind on them is ended by the engine's bound.
  }

  onDue(): void {
    if (!this.#isCommitting) return this.#fail('AUDIO_TIMEOUT')
    this.#complete()
  }

  onSlowReader(): void {
    this.#fail('BACKPRESSURE')
  }

  onShutdown(): void {
    this.#fail('SHUTTING_DOWN')
  }

  onGone(): void {
    this.#close()
  }

  ready(): void {
    // The protocol has no frame that names who listens.
  }

  speechStarted(startMs: number): void {
    if (!this.#isSpeaking) this.#begin(startMs)
  }

  transcript({ text, isFinal, speechFinal, startMs, endMs }: StreamTranscript): void {
    if (!this.#isSpeaking) this.#begin(startMs)
    this.#endMs = endMs
    this.#say([...this.#parts, text].join(' '))
    if (!isFinal) return
    if (text !== '') this.#parts.push(text)
    const isTurn = this.#settings.turns !== null && speechFinal
    if (isTurn || this.#isCommitting) this.#complete()
  }

  ended(): void {
    this.#close()
    this.#socket.close(1000, '')
  }

  failed(fault: Fault): void {
    if (this.#isSpeaking)
      this.#send({
        type: 'conversation.item.input_audio_transcription.failed',
        item_id: this.#itemId(),
        content_index: 0,
        error: errorOf(codeOfFault(fault), fault.detail.message),
      })
    this.#fail(codeOfFault(fault), fault.detail.message)
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
    this.dueMs = this.#deps.deadlines.nowMs() + this.#deps.silenceMs
  }

  #forget(): void {
    this.#said = ''
    this.#parts = []
    this.#isSpeaking = false
    this.#isCommitting = false
  }

  #mayChange(): boolean {
    if (!this.#session) return true
    this.#refuse('INVALID_CONFIG', 'The session cannot be changed once audio has come.')
    return false
  }

  #open(): void {
    const { caller, requestId, channelId, signal } = this.#context
    const { audio, model, language, prompt, keywords, turns } = this.#settings
    const endpointingMs = turns === null ? endpointingMaxMs : turns.silenceMs
    const objective = caller.policy.objective
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
      if (error instanceof Fault) this.#fail(codeOfFault(error), error.detail.message)
      else this.#fail('INTERNAL')
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

  #fail(code: RealtimeErrorCode, message?: string): void {
    if (this.#isClosed) return
    this.#send({ type: 'error', error: errorOf(code, message) })
    this.#close()
    this.#socket.close(realtimeErrors[code].closeCode, code)
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.dueMs = Number.POSITIVE_INFINITY
    this.#deps.deadlines.delete(this)
    this.#session?.leave()
  }

  #send(event: object): void {
    if (this.#isClosed) return
    this.#events += 1
    this.#socket.send(JSON.stringify({ event_id: `event_${this.#events}`, ...event }))
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
