/**
 * A Speaches server on 127.0.0.1: GET /realtime as in its source. Only the server cuts speech into items, by the last
 * three seconds. If the client commits or clears within an item, the session is dropped, like at the real server.
 */
import type { Cell, SeenRequest, VendorStub } from '../suite/matrix.ts'
import { pause, type StubSocket, slowMs, startStub, transcriptOf } from '../suite/stub-server.ts'
import { refusalOf } from './stub-answers.ts'

export function startSpeachesStub(options: { tls?: { key: string; cert: string } } = {}): Promise<VendorStub> {
  return startStub({
    ...options,
    protocol: 'realtime',
    refuseUpgrade(request, cell) {
      const { pathname, searchParams } = new URL(request.path, 'http://stub')
      if (pathname !== '/v1/realtime') return { status: 404 }
      // A missing parameter is refused like a wrong key: before the upgrade.
      if (!searchParams.has('model')) return { status: 403 }
      return cell === 'hang' ? 'hang' : refusalOf(request, cell)
    },
    socket: (socket, request, cell) => new Session(socket, request, cell).begin(),
  })
}

type TurnDetection = { create_response?: boolean; prefix_padding_ms?: number; silence_duration_ms?: number } & Threshold
type Threshold = { threshold?: number }
type ClientEvent = { type: string; audio?: string; session?: { turn_detection?: TurnDetection } }

const bytesPerMs = 48
const lookBackMs = 3000

class Session {
  readonly #socket: StubSocket
  readonly #request: SeenRequest
  readonly #cell: Cell
  #items = 0
  #audio: Buffer = Buffer.alloc(0)
  #isSpeaking = false
  #silenceMs = 550
  #work = Promise.resolve()

  constructor(socket: StubSocket, request: SeenRequest, cell: Cell) {
    this.#socket = socket
    this.#request = request
    this.#cell = cell
  }

  begin(): void {
    this.#socket.listen({ text: (text) => this.#hear(JSON.parse(text) as ClientEvent) })
    if (this.#cell === 'empty') return this.#socket.close(1000)
    this.#send('session.created', { session: { object: 'realtime.session' } })
    if (this.#cell === 'header_only') this.#socket.close(1000)
  }

  #send(type: string, fields: object): void {
    this.#socket.send({ type, event_id: 'event_1', ...fields })
  }

  #complain(type: string, message: string): void {
    this.#send('error', { error: { type, message, code: null, param: null, event_id: null } })
  }

  #hear({ type, audio = '', session }: ClientEvent): void {
    switch (type) {
      case 'session.update':
        return this.#update(session?.turn_detection)
      case 'input_audio_buffer.append':
        return this.#append(Buffer.from(audio, 'base64'))
      default:
        if (this.#isSpeaking) this.#socket.cut()
    }
  }

  /**
   * Handles `session.update`. An incomplete update changes nothing. A complete update always has a field that this
   * server refuses with an error event.
   */
  #update(turn: TurnDetection | undefined): void {
    const fields = [turn?.create_response, turn?.prefix_padding_ms, turn?.silence_duration_ms, turn?.threshold]
    if (turn && fields.every((field) => field !== undefined)) {
      this.#complain('invalid_request_error', 'prefix_padding_ms is not supported')
      this.#silenceMs = turn.silence_duration_ms ?? 0
    }
    this.#send('session.updated', { session: {} })
  }

  #append(bytes: Buffer): void {
    this.#request.audio = Buffer.concat([this.#request.audio, bytes])
    this.#audio = Buffer.concat([this.#audio, bytes])
    const seen = this.#audio.subarray(-lookBackMs * bytesPerMs)
    const sound = lastSound(seen)
    if (!this.#isSpeaking) {
      if (sound >= 0) this.#started(this.#audio.findIndex((byte) => byte !== 0))
      return
    }
    const silentMs = (seen.length - 1 - sound) / bytesPerMs
    const isLong = this.#audio.length > lookBackMs * bytesPerMs
    if (sound < 0 || (isLong && silentMs >= this.#silenceMs)) this.#stopped()
  }

  #started(at: number): void {
    this.#isSpeaking = true
    this.#send('input_audio_buffer.speech_started', {
      item_id: this.#itemId,
      audio_start_ms: Math.floor(at / bytesPerMs),
    })
    // This is the middle of the session, because the stub has answered all audio so far.
    if (this.#cell === 'cut') this.#socket.cut()
    else if (this.#cell === 'reset') this.#socket.reset()
    else if (this.#cell === 'garbage') this.#socket.send('{"type": "conv')
    else if (this.#cell === 'error_mid')
      this.#complain('server_error', `it says no to ${this.#request.headers['authorization']}`)
  }

  #stopped(): void {
    const item_id = this.#itemId
    const audio = this.#audio
    const ms = Math.floor(audio.length / bytesPerMs)
    this.#items++
    this.#audio = Buffer.alloc(0)
    this.#isSpeaking = false
    this.#send('input_audio_buffer.speech_stopped', { item_id, audio_end_ms: ms })
    this.#work = this.#work.then(async () => {
      // The transcript comes some time after the end of the audio.
      await new Promise(setImmediate)
      this.#send('input_audio_buffer.committed', { item_id, previous_item_id: null })
      this.#send('conversation.item.created', { item: { id: item_id }, previous_item_id: null })
      if (this.#cell === 'slow_first_byte') await pause(slowMs)
      const transcript = `${transcriptOf(withoutSilence(audio))}\n`
      const usage = { type: 'duration', seconds: ms / 1000 }
      this.#send(`${transcription}.completed`, { item_id, content_index: 0, transcript, usage })
    })
  }

  get #itemId(): string {
    return `item_${this.#items}`
  }
}

const transcription = 'conversation.item.input_audio_transcription'

/** Returns the audio without the silence around the speech. */
export function withoutSilence(audio: Buffer): Buffer {
  const from = audio.findIndex((byte) => byte !== 0)
  return from < 0 ? Buffer.alloc(0) : audio.subarray(from, lastSound(audio) + 1)
}

const lastSound = (audio: Buffer): number => audio.findLastIndex((byte) => byte !== 0)
