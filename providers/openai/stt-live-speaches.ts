/**
 * Transcription while somebody speaks, by a Speaches server: GET /realtime, with OpenAI's events but rules of its own.
 *
 * - The model and the language stand in the query, and a session hears 24 kHz s16le only.
 * - The server alone ends an utterance; a commit while somebody speaks makes it drop the session. So one that is to end now is followed by as much
 *   silence as the server looks back on.
 * - It tells an utterance as a whole, with times that count from the end of the one before.
 * - Audio that comes faster than it listens makes it end an utterance twice, and then complain of the second one.
 * - A clear can take away what it is about to transcribe. An update without content changes nothing and is answered in order: sent behind the silence, it
 *   is the fence after which no utterance comes up any more.
 */
import { type ErrorClass, ProviderError } from '../../domain/ports/provider-error.ts'
import type { SttStream, SttStreamRequest } from '../../domain/speech/stt.ts'
import { protocolError } from '../wire/failures.ts'
import { isObject, type JsonObject } from '../wire/json.ts'
import { SttSocket, type SttSocketParts, type SttVendor } from '../wire/live-stt.ts'
import type { RealtimeAudio } from './stt-live-audio.ts'
import { RealtimeItems } from './stt-live-items.ts'
import { classOfClose } from './stt-live-realtime.ts'
import { ServerClock, silenceMs } from './stt-live-speaches-clock.ts'
import { classOfError } from './wire.ts'

/** Throws ProviderError `unsupported` for a prompt, which the session would drop. */
export function speachesPath({ model, language, prompt }: SttStreamRequest): string {
  if (prompt !== undefined) throw new ProviderError('unsupported', { sent: false, cause: 'a prompt' })
  const query = new URLSearchParams({ intent: 'transcription', model })
  const base = language?.split('-')[0]
  if (base !== undefined) query.set('language', base)
  return `/realtime?${query.toString()}`
}

/** Resolves when the session is what was asked for. The stream closes `audio`. */
export async function openSpeaches(
  request: SttStreamRequest,
  audio: RealtimeAudio,
  parts: SttSocketParts,
): Promise<SttStream> {
  const stream = new SpeachesStream(request, audio, parts)
  await stream.opened
  return stream
}

const transcription = 'conversation.item.input_audio_transcription'
const fence = '{"type":"session.update","session":{}}'
const append = (base64: string) => `{"type":"input_audio_buffer.append","audio":"${base64}"}`

/** s16le at 24 kHz is 48 bytes a millisecond, in base64 64 characters. */
const silence = append('A'.repeat(silenceMs * 64))
const unreadMax = 2 * silence.length

class SpeachesStream implements SttStream, SttVendor {
  readonly #audio: RealtimeAudio
  readonly #socket: SttSocket
  readonly #items: RealtimeItems
  /** What makes the session what was asked for; null: it is already. */
  readonly #update: string | null
  #isClosed = false
  #isEnding = false
  #isFenced = false
  /** Nothing came since the last silence. */
  #isSilent = true
  readonly #clock: ServerClock
  #stoppedId: unknown = null
  #committedId: unknown = null
  /** To come, of what does not matter. */
  #complaints = 0

  constructor(request: SttStreamRequest, audio: RealtimeAudio, parts: SttSocketParts) {
    this.#audio = audio
    this.#update = updateOf(request)
    this.#clock = new ServerClock(audio.bytesInPerMs)
    this.#socket = new SttSocket(parts, this)
    this.#items = new RealtimeItems(request.interimResults, (transcript) => this.#socket.telling.transcript(transcript))
  }

  get opened(): Promise<void> {
    return this.#socket.opened
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedBytes * this.#audio.bytesInPerSent
  }

  audio(bytes: Uint8Array): void {
    if (!this.#socket.isListening) return
    this.#clock.sent(bytes.length)
    this.#append(this.#audio.convert(bytes))
  }

  flush(): void {
    if (!this.#socket.isListening) return
    // Two hundred kilobytes for each: whoever flushes after every word would fill the line, so the next flush, or the end, ends this turn too.
    if (this.#socket.bufferedBytes <= unreadMax) this.#silence()
  }

  #silence(): void {
    if (this.#isSilent) return
    this.#isSilent = true
    this.#clock.silenced()
    this.#socket.send(silence)
  }

  end(): void {
    if (!this.#socket.isListening) return
    this.#append(this.#audio.flush())
    this.#silence()
    this.#isEnding = true
    this.#socket.end(fence)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket.close()
    this.#audio.close()
  }

  frame(frame: JsonObject): void {
    const { type, item_id: id } = frame
    switch (type) {
      case 'session.created':
        return this.#created()
      case 'session.updated':
        return this.#updated()
      case 'input_audio_buffer.speech_started':
        return this.#started(id, this.#clock.started(id, frame['audio_start_ms']))
      case 'input_audio_buffer.speech_stopped':
        return this.#stopped(id, this.#clock.stopped(id, frame['audio_end_ms']))
      case 'input_audio_buffer.committed':
        return this.#committed(id)
      case `${transcription}.completed`:
        return this.#completed(id, frame['transcript'])
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
    if (base64 === '') return
    this.#isSilent = false
    this.#socket.send(append(base64))
  }

  #created(): void {
    if (this.#update === null) return this.#socket.listens()
    // It complains of a field that it does not let go without, and does the rest.
    this.#complaints = 1
    this.#socket.send(this.#update)
  }

  #updated(): void {
    if (!this.#isEnding) {
      this.#complaints = 0
      return this.#socket.listens()
    }
    this.#isFenced = true
    this.#items.forgetUncommitted()
    this.#finishWhenTold()
  }

  #started(id: unknown, startMs: number): void {
    this.#items.started(id, startMs)
    this.#socket.telling.speechStarted(startMs)
  }

  /** What has stopped will be committed: also when the fence is passed before that is told. */
  #stopped(id: unknown, endMs: number): void {
    if (id === this.#stoppedId) return
    this.#stoppedId = id
    this.#items.stopped(id, endMs)
    this.#items.committed(id, endMs)
    if (this.#items.isTooLong) throw protocolError('too many items without a transcript')
  }

  #committed(id: unknown): void {
    if (id === this.#committedId) this.#complaints++
    this.#committedId = id
  }

  #completed(id: unknown, transcript: unknown): void {
    if (typeof transcript !== 'string') throw protocolError('no transcript')
    this.#items.completed(id, transcript)
    this.#finishWhenTold()
  }

  #finishWhenTold(): void {
    if (this.#isFenced && this.#items.isEmpty) this.#socket.finished()
  }

  #refused(frame: JsonObject): void {
    const { error } = frame
    if (this.#complaints === 0 || !isObject(error) || error['type'] !== 'invalid_request_error')
      return this.#socket.fail(classOfError(error), frame)
    this.#complaints--
  }
}

/** As long as the server can look back on, with some speech in front of it. */
const endpointMsMax = 2500

/** It takes these together or none of them; but for the first they are its own defaults. */
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
