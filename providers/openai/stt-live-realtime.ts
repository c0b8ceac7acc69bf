/**
 * Live transcription: GET /realtime?intent=transcription. The protocol has no message to end a session. The server
 * answers events in order, so at the end we commit the remaining audio, and then clear the audio buffer. After the
 * event `cleared` no new item can appear, so the stream has ended when all existing items have their transcripts.
 */
import type { SttStreamRequest } from '../../domain/ports/stt.ts'
import { classOfCloseCode, protocolError } from '../wire/failures.ts'
import { isObject, type JsonObject, stringAt, stringOf } from '../wire/json.ts'
import type { LiveSttProtocol, LiveSttVendor, ProtocolStream } from '../wire/live-stt.ts'
import type { RealtimeAudio } from './stt-live-audio.ts'
import { RealtimeItems } from './stt-live-items.ts'
import { classOfError } from './wire.ts'

/** Describes a session's protocol. `audio` converts the stream's audio, and is closed when the stream ends. */
export const realtimeVendor = (request: SttStreamRequest, audio: RealtimeAudio): LiveSttVendor => ({
  // The session message names the model, because the vendor refuses a model in the path.
  path: '/realtime?intent=transcription',
  start: JSON.stringify({ type: 'session.update', session: sessionOf(request, audio) }),
  bytesInPerSent: audio.bytesInPerSent,
  protocol: (stream) => new RealtimeProtocol(request, audio, stream),
})

const transcription = 'conversation.item.input_audio_transcription'
const commit = '{"type":"input_audio_buffer.commit"}'
const clear = '{"type":"input_audio_buffer.clear"}'

/** Builds the message without JSON.stringify to save time for each frame. Base64 needs no escaping. */
export const append = (base64: string): string => `{"type":"input_audio_buffer.append","audio":"${base64}"}`

class RealtimeProtocol implements LiveSttProtocol {
  readonly classOfClose = classOfCloseCode
  readonly #audio: RealtimeAudio
  readonly #stream: ProtocolStream
  readonly #items: RealtimeItems
  #isFenced = false
  /** The billed audio time. Null if the vendor does not bill by time. */
  #billedMs: number | null = 0

  constructor(request: SttStreamRequest, audio: RealtimeAudio, stream: ProtocolStream) {
    this.#audio = audio
    this.#stream = stream
    this.#items = new RealtimeItems(request.interimResults, stream)
  }

  audio(bytes: Uint8Array): string | null {
    const base64 = this.#audio.convert(bytes)
    return base64 === '' ? null : append(base64)
  }

  flush(): string {
    return commit
  }

  end(): string {
    const rest = this.#audio.flush()
    if (rest !== '') this.#stream.send(append(rest))
    this.#stream.send(commit)
    return clear
  }

  over(): void {
    this.#audio.close()
  }

  frame(frame: JsonObject): void {
    switch (frame['type']) {
      case 'session.updated':
        return this.#stream.ready()
      case 'input_audio_buffer.speech_started':
        return this.#speechStarted(frame['item_id'], wholeMs(frame['audio_start_ms']))
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
        return this.#stream.fail(classOfError(frame['error']), frame)
      case 'error':
        return this.#error(frame)
    }
  }

  #speechStarted(id: unknown, startMs: number): void {
    this.#items.started(id, startMs)
    this.#stream.speechStarted(startMs)
  }

  #committed(id: unknown): void {
    this.#items.committed(id, Math.round(this.#stream.audioBytes / this.#audio.bytesInPerMs))
    if (this.#items.isTooLong) throw protocolError('too many items without a transcript')
  }

  #cleared(): void {
    this.#isFenced = true
    this.#items.forgetUncommitted()
    this.#finishWhenComplete()
  }

  #completed(frame: JsonObject): void {
    const transcript = stringAt(frame, 'transcript')
    this.#bill(frame['usage'])
    this.#items.completed(frame['item_id'], transcript)
    this.#finishWhenComplete()
  }

  #bill(usage: unknown): void {
    const seconds = isObject(usage) && usage['type'] === 'duration' ? usage['seconds'] : null
    this.#billedMs = this.#billedMs === null || typeof seconds !== 'number' ? null : this.#billedMs + seconds * 1000
  }

  #finishWhenComplete(): void {
    if (!this.#isFenced || !this.#items.isEmpty) return
    const billedMs = this.#billedMs === null || this.#billedMs === 0 ? undefined : Math.round(this.#billedMs)
    this.#stream.finished(billedMs)
  }

  #error(frame: JsonObject): void {
    const { error } = frame
    // The session had already committed the speech itself, and no audio followed, so this error is ignored.
    if (isObject(error) && error['code'] === 'input_audio_buffer_commit_empty') return
    this.#stream.fail(classOfError(error), frame)
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

const wholeMs = (value: unknown): number => (typeof value === 'number' && value > 0 ? Math.round(value) : 0)
