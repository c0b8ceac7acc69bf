/**
 * The carrier's WebSocket to a media stream's URL. Text frames hold RTP payloads as base64. The server's audio waits in
 * a queue and is played in real time.
 */
import { randomUUID } from 'node:crypto'
import { Playout } from '../audio/line-playout.ts'
import { openSocket } from '../runtime/outbound/open-socket.ts'
import type { OutboundSocket } from '../runtime/outbound/socket.ts'
import { isFields } from './fields.ts'
import { bytesOfFrame, codecs, frameMs, type LineFormat, samplesOfFrame } from './media/clip.ts'

export type StreamRequest = {
  url: string
  /** The audio format for sending to the server. */
  format: LineFormat
  /** The server's audio format. Null if the server may send only files, because the simulator does not play files. */
  playedFormat: LineFormat | null
  token: string | null
}

export type StreamLeg = {
  call_control_id: string
  call_session_id: string
  from: string
  to: string
  client_state: string | null
}

const openMs = 5000
const frameBytesMax = 2 * 1024 * 1024
/** The limit for sent audio not yet read by the server: ten seconds. */
const bufferedBytesMax = 500 * 1024
const markCharsMax = 256
/** Base64 for 30 s of audio, the carrier's maximum in a frame. */
const payloadCharsMax = Math.ceil((30 * 32_000 * 4) / 3)

export class MediaStream {
  readonly id = randomUUID()
  readonly request: StreamRequest
  readonly #leg: StreamLeg
  readonly #playout = new Playout()
  readonly #bytes: Buffer
  readonly #samples: Int16Array
  readonly #silence: string
  #socket: OutboundSocket | null = null
  #isClosed = false
  #sequence = 0
  #chunk = 0

  constructor(request: StreamRequest, leg: StreamLeg, silence: string) {
    this.request = request
    this.#leg = leg
    this.#silence = silence
    const played = request.playedFormat ?? request.format
    this.#bytes = Buffer.alloc(bytesOfFrame(played))
    this.#samples = new Int16Array(samplesOfFrame(played))
  }

  /** Opens the socket. Rejects if the server refuses it. `ended` is called when the server has closed it. */
  async open(ended: () => void): Promise<void> {
    const { url, token } = this.request
    const socket = await openSocket({
      url,
      headers: token === null ? [] : ['authorization', `Bearer ${token}`],
      protocols: [],
      connectMs: openMs,
      openMs,
      frameBytesMax,
      bufferedBytesMax,
    })
    if (this.#isClosed) return socket.close()
    this.#socket = socket
    socket.listen({ text: (text) => this.#receive(text), binary: () => this.#refuse(100_002), closed: () => ended() })
    this.#send({ event: 'connected', version: '1.0.0' })
    this.#send({ event: 'start', sequence_number: this.#next(), start: this.#start(), stream_id: this.id })
  }

  get isOpen(): boolean {
    return this.#socket?.isOpen === true
  }

  /** Sends 20 ms from the far end as base64, or silence for null. */
  sendAudio(payload: string | null): void {
    const chunk = ++this.#chunk
    // The frame is built without JSON.stringify to save time, because only the numbers and the payload change.
    this.#socket?.send(
      `{"event":"media","sequence_number":"${this.#next()}","media":{"track":"inbound","chunk":"${chunk}","timestamp":"${chunk * frameMs}","payload":"${payload ?? this.#silence}"},"stream_id":"${this.id}"}`,
    )
  }

  sendDigit(digit: string, occurredAt: string): void {
    const dtmf = { digit }
    this.#send({ event: 'dtmf', stream_id: this.id, occurred_at: occurredAt, sequence_number: this.#next(), dtmf })
  }

  /**
   * Returns the server's next 20 ms, valid until the next call, or null for silence. Reports passed marks to the
   * server.
   */
  play(): Int16Array | null {
    const count = this.#playout.take(this.#bytes)
    this.#returnMarks()
    const { playedFormat } = this.request
    if (count === 0 || playedFormat === null) return null
    const samples = codecs[playedFormat.encoding].decode(this.#bytes, count, this.#samples)
    return samples === this.#samples.length ? this.#samples : this.#samples.fill(0, samples)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const { call_control_id } = this.#leg
    this.#send({ event: 'stop', sequence_number: this.#next(), stop: { call_control_id }, stream_id: this.id })
    this.#socket?.close()
  }

  #receive(text: string): void {
    let frame: unknown
    try {
      frame = JSON.parse(text)
    } catch {
      return this.#refuse(100_003)
    }
    if (!isFields(frame)) return this.#refuse(100_003)
    const { event, media, mark } = frame
    if (event === 'clear') {
      this.#playout.clear()
      this.#returnMarks()
    } else if (event === 'media' && isFields(media)) this.#queue(media['payload'])
    else if (event === 'mark' && isFields(mark)) this.#mark(mark['name'])
    else this.#refuse(100_003)
  }

  #queue(payload: unknown): void {
    const isAudio = typeof payload === 'string' && payload.length > 0 && payload.length <= payloadCharsMax
    if (!isAudio || this.request.playedFormat === null) return this.#refuse(100_004)
    const bytes = Buffer.from(payload, 'base64')
    const { bytesPerSample } = codecs[this.request.playedFormat.encoding]
    if (bytes.length === 0 || bytes.length % bytesPerSample !== 0) return this.#refuse(100_004)
    if (!this.#playout.add(bytes)) this.#refuse(100_005)
  }

  #mark(name: unknown): void {
    if (typeof name !== 'string' || name.length > markCharsMax) return this.#refuse(100_003)
    if (!this.#playout.mark(name)) return this.#refuse(100_005)
    this.#returnMarks()
  }

  #returnMarks(): void {
    for (let name = this.#playout.due(); name !== null; name = this.#playout.due()) {
      this.#send({ event: 'mark', stream_id: this.id, sequence_number: this.#next(), mark: { name } })
    }
  }

  #refuse(code: keyof typeof errorTitles): void {
    const title = errorTitles[code]
    this.#send({ event: 'error', stream_id: this.id, payload: { code, title, detail: 'The frame was not taken.' } })
  }

  #start(): object {
    const { encoding, sampleRateHz } = this.request.format
    const { client_state, ...leg } = this.#leg
    return {
      user_id: 'simulator',
      ...leg,
      tags: [],
      ...(client_state !== null && { client_state }),
      media_format: { encoding, sample_rate: sampleRateHz, channels: 1 },
    }
  }

  #next(): string {
    return String(++this.#sequence)
  }

  #send(frame: object): void {
    this.#socket?.send(JSON.stringify(frame))
  }
}

const errorTitles = {
  100_002: 'unknown_error',
  100_003: 'malformed_frame',
  100_004: 'invalid_media',
  100_005: 'rate_limit_reached',
} as const
