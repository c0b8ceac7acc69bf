/**
 * The realtime transcription protocol of OpenAI's clients and agent frameworks, over the streaming recognition that our
 * own channel uses too.
 *
 * Published clients interpret every `error` event as the session's end, and reconnect after a close. So a client gets
 * an error event only for its own mistakes. If a provider is lost or the server stops, the socket closes with 1013 or
 * 1012, without an error event.
 *
 * A session keeps its socket until the client leaves, even without audio. Its recognition stream ends earlier: when the
 * audio pauses or the settings change. The next audio opens another stream, while the earlier stream still completes
 * its items.
 */
import { Fault } from '../../domain/records/fault.ts'
import type { CheckTranscribeStream } from '../../domain/speech/stream.ts'
import type { TranscriptionRealtimeSession } from '../../generated/realtime/channels.ts'
import { type RealtimeErrorCode, realtimeErrors } from '../../generated/realtime/errors.ts'
import type {
  InputAudioBufferAppend,
  InputAudioBufferCommit,
  SessionUpdate,
  TranscriptionSessionUpdate,
} from '../../generated/realtime/types.ts'
import type { FrameProblem, Socket, SocketContext } from '../../runtime/engine/socket.ts'
import { messageOf } from '../faults/table.ts'
import { otherOperation } from '../realtime-conversations.ts'
import type { OpenSession, Revocable } from '../revocable.ts'
import type { SocketCaller } from './admit.ts'
import { failureOf, mistakeEvent, sessionOf } from './compatible-events.ts'
import type { Deadlines } from './deadlines.ts'
import { EndingSocket } from './ending-socket.ts'
import { codeOfFault } from './faults.ts'
import { RecognitionStreams, type RecognitionStreamsDeps } from './recognition-streams.ts'
import type { ItemSocket, TranscribedItems } from './transcribed-items.ts'
import { defaultSettings, isSame, type TranscriptionSettings, updated, updatedOlder } from './transcription-settings.ts'

export type TranscriptionRealtimeDeps = RecognitionStreamsDeps & {
  deadlines: Deadlines
  /** A recognition stream ends after this time without audio. */
  silenceMs: number
  /** The longest wait for an utterance's last transcript after a commit. */
  commitMs: number
  check: CheckTranscribeStream
  sessionId(): string
}

export function transcriptionRealtime(
  deps: TranscriptionRealtimeDeps,
): OpenSession<SocketCaller, TranscriptionRealtimeSession & Revocable> {
  return (socket, context) => new RealtimeSocket(deps, socket, context)
}

/** If a client sends nothing for this long, its audio counts as paused, and the last utterance is ended. */
const pauseMs = 3000

class RealtimeSocket extends EndingSocket implements TranscriptionRealtimeSession, ItemSocket {
  isBeta = false
  readonly #deps: TranscriptionRealtimeDeps
  readonly #context: SocketContext<SocketCaller>
  readonly #id: string
  #settings: TranscriptionSettings = defaultSettings
  readonly #streams: RecognitionStreams
  #eventsCount = 0
  #itemsCount = 0
  #lastItemId: string | null = null
  /** True if audio has come since the client's last commit or clear event. */
  #hasAudio = false
  /** True if the utterance was ended because the client sent nothing for a while. */
  #isPaused = false
  /** The last mistake's message, to report a repeated mistake once. It is cleared by the client's next valid event. */
  #lastMistake = ''

  constructor(deps: TranscriptionRealtimeDeps, socket: Socket, context: SocketContext<SocketCaller>) {
    super(deps.deadlines, socket, context.requestId, deps.silenceMs)
    this.due = null
    this.#deps = deps
    this.#context = context
    this.#streams = new RecognitionStreams(deps, context, this)
    this.#id = `sess_${deps.sessionId()}`
    if (context.caller.wantsConversation) {
      this.fail('INVALID_CONFIG', noConversation, noConversationReason)
      return
    }
    this.#settings = this.#firstSettings()
    this.send({ type: 'session.created', session: this.#session() })
  }

  onSessionUpdate({ session, event_id }: SessionUpdate): void {
    if (!this.#change(updated(this.#settings, session), event_id)) return
    this.send({ type: 'session.updated', session: this.#session() })
  }

  onTranscriptionSessionUpdate({ session, event_id }: TranscriptionSessionUpdate): void {
    this.isBeta = true
    if (!this.#change(updatedOlder(this.#settings, session), event_id)) return
    this.send({ type: 'transcription_session.updated', session: { ...session, id: this.#id } })
  }

  onInputAudioBufferAppend({ audio, event_id: eventId }: InputAudioBufferAppend): void {
    if (audio === '') return
    const bytes = Buffer.from(audio, 'base64')
    if (bytes.length === 0)
      return this.#refuse({ code: 'INVALID_FRAME', message: 'The audio is not base64.', param: 'audio', eventId })
    this.#lastMistake = ''
    const items = this.#streams.current ?? this.#open()
    if (items === null) return
    this.#hasAudio = true
    this.#isPaused = false
    // While a commit waits for its transcript, audio does not extend the deadline. Otherwise a microphone, which sends
    // without a pause, would put off the deadline for ever.
    if (!items.waitsForCommit) this.itemsChanged(items)
    this.#streams.audio(bytes)
  }

  onInputAudioBufferCommit({ event_id: eventId }: InputAudioBufferCommit): void {
    const items = this.#streams.current
    if (!items || !this.#hasAudio) {
      const message = 'There is no audio to commit.'
      return this.#refuse({ code: 'input_audio_buffer_commit_empty', message, eventId })
    }
    this.#lastMistake = ''
    this.#commit(items)
  }

  onInputAudioBufferClear(): void {
    this.#lastMistake = ''
    if (this.#hasAudio) {
      this.#streams.dropCurrent()
      this.#forgetAudio()
    }
    this.send({ type: 'input_audio_buffer.cleared' })
  }

  onBytes(): void {
    this.fail('INVALID_FRAME', 'Audio comes as base64 in input_audio_buffer.append.')
  }

  onRefused(problem: FrameProblem): void {
    const message = isOfConversation(problem) ? `${problem.message}. ${noConversation}` : problem.message
    this.#refuse({ code: 'INVALID_FRAME', message })
  }

  onDrained(): void {
    // Nothing to do: events are few, and if the client reads them too slowly, the WebSocket engine closes the socket.
  }

  onDue(): void {
    const items = this.#streams.current
    if (items === null) return
    if (items.waitsForCommit) return items.complete()
    if (items.isSpeaking && !this.#isPaused && this.#settings.turns !== null) {
      this.#isPaused = true
      this.#streams.flush(items)
      return this.itemsChanged(items)
    }
    // Audio without a commit must stay with its stream, so the stream does not end yet.
    if (this.#settings.turns === null && this.#hasAudio) this.due = null
    else this.#endCurrent()
  }

  send(event: object): void {
    if (!this.isClosed) this.socket.send(JSON.stringify(this.#event(event)))
  }

  newItemId(): string {
    this.#itemsCount += 1
    return `item_${this.#itemsCount}`
  }

  committed(itemId: string): string | null {
    const before = this.#lastItemId
    this.#lastItemId = itemId
    return before
  }

  itemsChanged(items: TranscribedItems): void {
    if (items !== this.#streams.current || this.isClosed) return
    if (items.waitsForCommit && !items.isReady) this.due = null
    else if (items.waitsForCommit) this.dueIn(this.#deps.commitMs)
    else this.dueIn(items.isSpeaking && !this.#isPaused ? pauseMs : this.#deps.silenceMs)
  }

  itemsEnded(items: TranscribedItems): void {
    if (items === this.#streams.current) this.#forgetAudio()
    this.#streams.remove(items)
  }

  itemsFailed(items: TranscribedItems, fault: Fault): void {
    const code = codeOfFault[fault.kind]
    const isCurrent = items === this.#streams.current
    if (isCurrent && isMistake(code)) return this.failWith(fault)
    items.failItem(failureOf(code, messageOf(fault.data)))
    this.#streams.remove(items)
    if (isCurrent) this.failWith(fault)
  }

  /** Writes an error frame for a client's mistake. Returns null for any other failure. */
  protected errorFrame(code: RealtimeErrorCode, message: string): object | null {
    return isMistake(code) ? this.#event({ type: 'error', error: failureOf(code, message) }) : null
  }

  /** Returns 1013 for a lost provider. The code means "try again", and published clients reconnect. */
  protected override closeCodeOf(code: RealtimeErrorCode): number {
    return code === 'UPSTREAM' ? 1013 : super.closeCodeOf(code)
  }

  protected leave(): void {
    this.#streams.leave()
  }

  #commit(items: TranscribedItems): void {
    this.#hasAudio = false
    items.commit()
    this.itemsChanged(items)
    this.#streams.flush(items)
  }

  /**
   * Returns the settings at the start. They need no check: the model in the URL was checked before the upgrade, and the
   * token's settings when the token was made.
   */
  #firstSettings(): TranscriptionSettings {
    const { caller, query } = this.#context
    const settings = caller.tokenSession ? updated(defaultSettings, caller.tokenSession) : defaultSettings
    const model = query.get('model')
    return model ? { ...settings, model } : settings
  }

  /** Changes the settings. Returns false if they were refused. The earlier settings then stay in force. */
  #change(settings: TranscriptionSettings, eventId: string | undefined): boolean {
    if (isSame(settings, this.#settings)) return true
    try {
      this.#deps.check(this.#streams.inputOf(settings))
    } catch (error) {
      const mistake = this.#mistakeOf(error)
      if (mistake !== null) {
        this.#refuse({ ...mistake, eventId })
        return false
      }
    }
    this.#lastMistake = ''
    this.#endCurrent()
    this.#settings = settings
    return true
  }

  /** Returns the client's mistake. Null for a fault that may be over when the audio arrives. */
  #mistakeOf(error: unknown): { code: RealtimeErrorCode; message: string } | null {
    if (!(error instanceof Fault)) throw error
    const code = codeOfFault[error.kind]
    return isMistake(code) ? { code, message: messageOf(error.data) ?? realtimeErrors[code].message } : null
  }

  /** Ends the stream after its last transcripts. Without turn detection, the remaining audio is committed first. */
  #endCurrent(): void {
    const items = this.#streams.current
    if (items === null) return
    if (this.#hasAudio && this.#settings.turns === null) items.commit()
    this.#forgetAudio()
    this.#streams.endCurrent()
  }

  #forgetAudio(): void {
    this.#hasAudio = false
    this.due = null
  }

  /** Opens a stream. Returns null if the stream failed at once and the socket has closed. */
  #open(): TranscribedItems | null {
    try {
      const items = this.#streams.open(this.#settings)
      return this.isClosed ? null : items
    } catch (error) {
      this.failWith(error)
      return null
    }
  }

  #session() {
    return sessionOf(this.#id, this.#settings)
  }

  /**
   * Sends an error and keeps the socket open. If a client repeats the same mistake, for example binary audio, it gets
   * one error.
   */
  #refuse(mistake: Parameters<typeof mistakeEvent>[0]): void {
    if (mistake.message === this.#lastMistake) return
    this.#lastMistake = mistake.message
    this.send(mistakeEvent(mistake))
  }

  #event(event: object): object {
    this.#eventsCount += 1
    return { event_id: `event_${this.#eventsCount}`, ...event }
  }
}

const noConversation = `This socket only transcribes speech. ${otherOperation}`
/** Some clients show only the close frame's reason, so it must say enough. A reason may have at most 123 bytes. */
const noConversationReason = 'only transcription; a conversation is POST /v1/sessions'

/**
 * Returns true if a client expects a model that speaks: the published clients use one socket for transcription and for
 * conversations.
 */
function isOfConversation({ type, field }: FrameProblem): boolean {
  return /^(conversation|response)\./.test(type ?? '') || field?.pointer === '/session/type'
}

function isMistake(code: RealtimeErrorCode): boolean {
  return realtimeErrors[code].closeCode === 1008
}
