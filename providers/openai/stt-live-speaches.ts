/**
 * Live transcription by a Speaches server: GET /realtime, with OpenAI's events but different rules.
 *
 * - The query contains the model and the language, and a session accepts only s16le at 24 kHz.
 * - Only the server can end an utterance; if we commit during speech, the server ends the session. So a flush sends
 *   silence instead, slightly more than the three seconds examined by the server.
 * - The server sends an utterance's whole text at once. Its times count from the previous utterance's end.
 * - If audio arrives faster than real time, the server ends an utterance twice, and then reports an error about the
 *   second end.
 * - At the stream's end a `clear` cannot be used as in OpenAI's protocol, because it can remove audio before the server
 *   transcribes it. So we send silence and then an empty update. The server answers messages in order, so after its
 *   answer to the update no new utterance appears.
 */
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { SttStreamRequest } from '../../domain/ports/stt.ts'
import { classOfCloseCode, protocolError } from '../wire/failures.ts'
import { isObject, type JsonObject } from '../wire/json.ts'
import type { LiveSttProtocol, LiveSttVendor, ProtocolStream } from '../wire/live-stt.ts'
import type { RealtimeAudio } from './stt-live-audio.ts'
import { RealtimeItems } from './stt-live-items.ts'
import { append } from './stt-live-realtime.ts'
import { ServerClock, silenceMs } from './stt-live-speaches-clock.ts'
import { classOfError } from './wire.ts'

/** Throws ProviderError `unsupported` for a prompt, because the session would ignore the prompt. */
export function refusePrompt({ prompt }: SttStreamRequest): void {
  if (prompt !== undefined) throw new ProviderError('unsupported', { sent: false, cause: 'a prompt' })
}

/** Describes a session's protocol. `audio` converts the stream's audio, and is closed when the stream ends. */
export const speachesVendor = (request: SttStreamRequest, audio: RealtimeAudio): LiveSttVendor => ({
  path: speachesPath(request),
  bytesInPerSent: audio.bytesInPerSent,
  protocol: (stream) => new SpeachesProtocol(request, audio, stream),
})

function speachesPath({ model, language }: SttStreamRequest): string {
  const query = new URLSearchParams({ intent: 'transcription', model })
  const base = language?.split('-')[0]
  if (base !== undefined) query.set('language', base)
  return `/realtime?${query.toString()}`
}

const transcription = 'conversation.item.input_audio_transcription'
const fence = '{"type":"session.update","session":{}}'

/** One millisecond of s16le at 24 kHz is 48 bytes, or 64 characters in base64. */
const silence = append('A'.repeat(silenceMs * 64))
const unsentMax = 2 * silence.length

class SpeachesProtocol implements LiveSttProtocol {
  readonly classOfClose = classOfCloseCode
  readonly #audio: RealtimeAudio
  readonly #stream: ProtocolStream
  readonly #items: RealtimeItems
  readonly #clock: ServerClock
  /** The message to configure the session; null if the request matches the session's defaults. */
  readonly #update: string | null
  #isEnding = false
  #isFenced = false
  /** True if no audio was sent since the last silence. */
  #isSilent = true
  #stoppedId: unknown = null
  #committedId: unknown = null
  /** The number of expected error events, still to be ignored. */
  #errorsToIgnore = 0

  constructor(request: SttStreamRequest, audio: RealtimeAudio, stream: ProtocolStream) {
    this.#audio = audio
    this.#stream = stream
    this.#update = updateOf(request)
    this.#clock = new ServerClock(audio.bytesInPerMs)
    this.#items = new RealtimeItems(request.interimResults, stream)
  }

  audio(bytes: Uint8Array): string | null {
    this.#clock.sent(bytes.length)
    return this.#append(this.#audio.convert(bytes))
  }

  flush(): string | null {
    // A silence is 200 kB, so a flush after every word could overload the connection. If two silences are still unsent,
    // a flush does nothing: the next flush, or the stream's end, ends this utterance too.
    return this.#stream.unsentBytes <= unsentMax ? this.#silence() : null
  }

  end(): string {
    for (const message of [this.#append(this.#audio.flush()), this.#silence()])
      if (message !== null) this.#stream.send(message)
    this.#isEnding = true
    return fence
  }

  over(): void {
    this.#audio.close()
  }

  frame(frame: JsonObject): void {
    const { type, item_id: id } = frame
    switch (type) {
      case 'session.created':
        return this.#sessionCreated()
      case 'session.updated':
        return this.#sessionUpdated()
      case 'input_audio_buffer.speech_started':
        return this.#speechStarted(id, this.#clock.started(id, frame['audio_start_ms']))
      case 'input_audio_buffer.speech_stopped':
        return this.#speechStopped(id, this.#clock.stopped(id, frame['audio_end_ms']))
      case 'input_audio_buffer.committed':
        return this.#committed(id)
      case `${transcription}.completed`:
        return this.#completed(id, frame['transcript'])
      case `${transcription}.failed`:
        return this.#stream.fail(classOfError(frame['error']), frame)
      case 'error':
        return this.#error(frame)
    }
  }

  #append(base64: string): string | null {
    if (base64 === '') return null
    this.#isSilent = false
    return append(base64)
  }

  #silence(): string | null {
    if (this.#isSilent) return null
    this.#isSilent = true
    this.#clock.silenced()
    return silence
  }

  #sessionCreated(): void {
    if (this.#update === null) return this.#stream.ready()
    // The server reports an error about a required field with a fixed value, but applies the other fields. So this
    // error is ignored.
    this.#errorsToIgnore = 1
    this.#stream.send(this.#update)
  }

  #sessionUpdated(): void {
    if (!this.#isEnding) {
      this.#errorsToIgnore = 0
      return this.#stream.ready()
    }
    this.#isFenced = true
    this.#items.forgetUncommitted()
    this.#finishWhenComplete()
  }

  #speechStarted(id: unknown, startMs: number): void {
    this.#items.started(id, startMs)
    this.#stream.speechStarted(startMs)
  }

  /**
   * Records the speech's end. The server will commit this speech, even if it answers our last update before it reports
   * the commit.
   */
  #speechStopped(id: unknown, endMs: number): void {
    if (id === this.#stoppedId) return
    this.#stoppedId = id
    this.#items.stopped(id, endMs)
    this.#items.committed(id, endMs)
    if (this.#items.isTooLong) throw protocolError('too many items without a transcript')
  }

  #committed(id: unknown): void {
    if (id === this.#committedId) this.#errorsToIgnore++
    this.#committedId = id
  }

  #completed(id: unknown, transcript: unknown): void {
    if (typeof transcript !== 'string') throw protocolError('no transcript')
    this.#items.completed(id, transcript)
    this.#finishWhenComplete()
  }

  #finishWhenComplete(): void {
    if (this.#isFenced && this.#items.isEmpty) this.#stream.finished()
  }

  #error(frame: JsonObject): void {
    const { error } = frame
    if (this.#errorsToIgnore === 0 || !isObject(error) || error['type'] !== 'invalid_request_error')
      return this.#stream.fail(classOfError(error), frame)
    this.#errorsToIgnore--
  }
}

/**
 * The longest end-point silence. The server examines only the last three seconds, so with a longer silence they would
 * contain no speech.
 */
const endpointMsMax = 2500

/**
 * Returns the message to configure the session. The server requires all fields in `turn_detection`. All except the
 * first have the server's default values.
 */
function updateOf({ endpointingMs }: SttStreamRequest): string | null {
  if (endpointingMs === undefined) return null
  const turn_detection = {
    silence_duration_ms: Math.min(Math.round(endpointingMs), endpointMsMax),
    type: 'server_vad',
    threshold: 0.9,
    prefix_padding_ms: 0,
    create_response: false,
  }
  return JSON.stringify({ type: 'session.update', session: { turn_detection } })
}
