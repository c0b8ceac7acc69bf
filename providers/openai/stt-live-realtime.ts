/**
 * Transcription while somebody speaks: GET /realtime?intent=transcription. A session has no word for its end. Events are answered in their order, so
 * the end is a commit of what is left and, as a fence, a clear: after `cleared` no item can come up any more, and the stream has ended when those that
 * there are have their transcripts.
 */
import type { ErrorClass } from '../../domain/ports/provider-error.ts'
import type { SttStream, SttStreamRequest, SttStreamSink } from '../../domain/speech/stt.ts'
import { protocolError } from '../wire/failures.ts'
import { isObject, type JsonObject, stringAt, stringOf } from '../wire/json.ts'
import { SttSocket, type SttSocketParts, type SttVendor } from '../wire/live-stt.ts'
import type { RealtimeAudio } from './stt-live-audio.ts'
import { RealtimeItems } from './stt-live-items.ts'
import { classOfError } from './wire.ts'

/** The model is named in the session: here the vendor refuses it. */
export const realtimePath = '/realtime?intent=transcription'

/** Resolves when the session is what was asked for. The stream closes `audio`. */
export async function openRealtime(
  request: SttStreamRequest,
  audio: RealtimeAudio,
  parts: SttSocketParts,
): Promise<SttStream> {
  const stream = new RealtimeStream(request, audio, parts)
  await stream.opened
  return stream
}

/** Of either kind of session; null for a cut. */
export const classOfClose = (code: number): ErrorClass | null => closeCodes[code] ?? null

const transcription = 'conversation.item.input_audio_transcription'
const commit = '{"type":"input_audio_buffer.commit"}'
const clear = '{"type":"input_audio_buffer.clear"}'

class RealtimeStream implements SttStream, SttVendor {
  readonly #audio: RealtimeAudio
  readonly #sink: SttStreamSink
  readonly #socket: SttSocket
  readonly #items: RealtimeItems
  #bytesIn = 0
  #isFenced = false
  #isClosed = false
  /** Null: the vendor bills something else than time. */
  #billedMs: number | null = 0

  constructor(request: SttStreamRequest, audio: RealtimeAudio, parts: SttSocketParts) {
    this.#audio = audio
    this.#sink = parts.sink
    this.#items = new RealtimeItems(request.interimResults, (transcript) => {
      // Whoever hears one may close the stream for it.
      if (!this.#isClosed) parts.sink.transcript(transcript)
    })
    this.#socket = new SttSocket(parts, this)
    this.#socket.send(JSON.stringify({ type: 'session.update', session: sessionOf(request, audio) }))
  }

  get opened(): Promise<void> {
    return this.#socket.opened
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedBytes * this.#audio.bytesInPerSent
  }

  audio(bytes: Uint8Array): void {
    if (!this.#socket.isListening) return
    this.#bytesIn += bytes.length
    this.#append(this.#audio.convert(bytes))
  }

  flush(): void {
    if (this.#socket.isListening) this.#socket.send(commit)
  }

  end(): void {
    if (!this.#socket.isListening) return
    this.#append(this.#audio.flush())
    this.#socket.send(commit)
    this.#socket.end(clear)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket.close()
    this.#audio.close()
  }

  frame(frame: JsonObject): void {
    switch (frame['type']) {
      case 'session.updated':
        return this.#socket.listens()
      case 'input_audio_buffer.speech_started':
        return this.#started(frame['item_id'], wholeMs(frame['audio_start_ms']))
      case 'input_audio_buffer.speech_stopped':
        return this.#items.stopped(frame['item_id'], wholeMs(frame['audio_end_ms']))
      case 'input_audio_buffer.committed':
        return this.#committed(frame['item_id'])
      case 'input_audio_buffer.cleared':
        return this.#cleared()
      case `${transcription}.delta`:
        return this.#items.delta(frame['item_id'], stringOf(frame['delta']))
      case `${transcription}.completed`:
        return this.#completed(frame)
      case `${transcription}.failed`:
        return this.#socket.fail(classOfError(frame['error']), frame)
      case 'error':
        return this.#refused(frame)
    }
  }

  classOfClose(code: number): ErrorClass | null {
    return classOfClose(code)
  }

  #append(base64: string): void {
    // Base64 needs no escaping: this is what each frame costs.
    if (base64 !== '') this.#socket.send(`{"type":"input_audio_buffer.append","audio":"${base64}"}`)
  }

  #started(id: unknown, startMs: number): void {
    this.#items.started(id, startMs)
    this.#sink.speechStarted(startMs)
  }

  #committed(id: unknown): void {
    this.#items.committed(id, Math.round(this.#bytesIn / this.#audio.bytesInPerMs))
    if (this.#items.isTooLong) throw protocolError('too many items without a transcript')
  }

  #cleared(): void {
    this.#isFenced = true
    this.#items.forgetUncommitted()
    this.#finishWhenTold()
  }

  #completed(frame: JsonObject): void {
    const transcript = stringAt(frame, 'transcript')
    this.#bill(frame['usage'])
    this.#items.completed(frame['item_id'], transcript)
    this.#finishWhenTold()
  }

  #bill(usage: unknown): void {
    const seconds = isObject(usage) && usage['type'] === 'duration' ? usage['seconds'] : null
    this.#billedMs = this.#billedMs === null || typeof seconds !== 'number' ? null : this.#billedMs + seconds * 1000
  }

  #finishWhenTold(): void {
    if (!this.#isFenced || !this.#items.isEmpty) return
    const billedMs = this.#billedMs === null || this.#billedMs === 0 ? undefined : Math.round(this.#billedMs)
    this.#socket.finished(billedMs)
  }

  #refused(frame: JsonObject): void {
    const { error } = frame
    // The session had cut off the speech already, and nothing came since.
    if (isObject(error) && error['code'] === 'input_audio_buffer_commit_empty') return
    this.#socket.fail(classOfError(error), frame)
  }
}

function sessionOf({ model, language, prompt, endpointingMs }: SttStreamRequest, audio: RealtimeAudio): JsonObject {
  const base = language?.split('-')[0]
  return {
    type: 'transcription',
    audio: {
      input: {
        format: audio.format,
        transcription: {
          model,
          ...(base !== undefined && { language: base }),
          ...(prompt !== undefined && { prompt }),
        },
        turn_detection: {
          type: 'server_vad',
          ...(endpointingMs !== undefined && { silence_duration_ms: endpointingMs }),
        },
      },
    },
  }
}

/** RFC 6455 and the registry that it founded; what is not here is a cut. */
const closeCodes: Partial<Record<number, ErrorClass>> = { 1011: 'server', 1012: 'overloaded', 1013: 'overloaded' }

const wholeMs = (value: unknown): number => (typeof value === 'number' && value > 0 ? Math.round(value) : 0)
