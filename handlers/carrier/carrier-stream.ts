/**
 * The socket on which a carrier streams the audio for one call leg. It is the transport for the leg's conversation.
 *
 *   opened ──start──► live ──stop, or the socket closes──► closed
 *
 * Payloads are decoded into one array for all streams. This is safe, because receivers may use the samples only until
 * the function call returns.
 */
import { FrameResampler } from '../../audio/frame-resampler.ts'
import type { StreamFailure } from '../../domain/ports/leg-media.ts'
import type { MediaSink, MediaTransport } from '../../domain/ports/media.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import type { CarrierMediaSession } from '../../generated/carrier/channels.ts'
import type { DtmfFrame, ErrorFrame, MarkFrame, MediaInFrame, StartFrame } from '../../generated/carrier/types.ts'
import type { FrameProblem, Socket } from '../../runtime/engine/socket.ts'
import type { Dated, Deadlines } from '../realtime/deadlines.ts'
import { AudioPace } from '../session/pace.ts'
import { ChunkOrder } from './chunk-order.ts'
import type { OpenedLeg } from './expected-legs.ts'
import { SentAudio } from './sent-audio.ts'
import { formatIn, type LineFormat, requestedFormat, spellingOf } from './spellings.ts'

export type CarrierStreamDeps = { deadlines: Deadlines; clock: Clock; log: Log }

/** The longest wait for `start`, which a carrier sends right after the upgrade. */
const startMs = 10_000
/** One second of L16 at 16 kHz. The contract allows no longer payload. */
const payloadBytesMax = 32_768
const bytes = Buffer.alloc(payloadBytesMax)
const samples = new Int16Array(payloadBytesMax)

/** The formats agreed in `start`, with their state. */
type Line = {
  incoming: LineFormat
  outgoing: LineFormat
  toUs: FrameResampler
  toLine: FrameResampler
  order: ChunkOrder
  pace: AudioPace
  /** JSON text with the stream's id, written into each outgoing frame after `event`. */
  ofStream: string
  /** An audio frame's JSON text up to its payload. */
  mediaHead: string
}

export class CarrierStream implements CarrierMediaSession, MediaTransport, Dated {
  due: number | null = null
  place = -1
  readonly sampleRateHz: number
  readonly #deps: CarrierStreamDeps
  readonly #socket: Socket
  readonly #opened: OpenedLeg
  readonly #sent: SentAudio
  /** Null before the stream begins and after it ends. */
  #line: Line | null = null
  #sink: MediaSink | null = null
  #isClosed = false
  #hasComplained = false

  constructor(deps: CarrierStreamDeps, socket: Socket, opened: OpenedLeg) {
    this.#deps = deps
    this.#socket = socket
    this.#opened = opened
    this.sampleRateHz = opened.leg.sampleRateHz
    this.#sent = new SentAudio(deps.clock, this.sampleRateHz, {
      played: (mark) => this.#sink?.played(mark),
      cleared: (mark, playedMs) => this.#sink?.cleared(mark, playedMs),
    })
    if (opened.take()) this.#awaitStart()
    else this.#end(1008)
  }

  // Frames from the carrier.

  onConnected(): void {
    // Nothing to do: all information about the stream comes in the frame `start`.
  }

  onStart(frame: StartFrame): void {
    if (this.#line !== null || this.#isClosed) return
    const spelling = spellingOf(frame)
    const incoming = spelling && formatIn(spelling, frame)
    if (!spelling || !incoming) return this.#fail('encoding')
    const outgoing = spelling.takes ?? requestedFormat(this.#opened.requestedRateHz)
    const ofStream = spelling.ofStream(spelling.streamId(frame) ?? '')
    this.due = null
    this.#deps.deadlines.delete(this)
    this.#line = {
      incoming,
      outgoing,
      toUs: new FrameResampler(incoming.sampleRateHz, this.sampleRateHz),
      toLine: new FrameResampler(this.sampleRateHz, outgoing.sampleRateHz),
      order: new ChunkOrder((payload) => this.#take(payload)),
      pace: new AudioPace(this.#deps.clock.monotonicMs()),
      ofStream,
      mediaHead: `{"event":"media"${ofStream},"media":{"payload":"`,
    }
    const sink = this.#opened.leg.joined(this, spelling.carrierLegId(frame))
    // The conversation may have ended already, and then it gets no audio.
    if (!this.#isOver()) this.#sink = sink
  }

  onMedia({ media: { track = 'inbound', chunk, payload } }: MediaInFrame): void {
    const number = Number(chunk)
    if (track === 'inbound' && Number.isSafeInteger(number) && number >= 0) this.#line?.order.push(number, payload)
  }

  onDtmf({ dtmf: { digit } }: DtmfFrame): void {
    this.#sink?.dtmf(digit)
  }

  onMark({ mark: { name } }: MarkFrame): void {
    this.#sent.returned(name)
  }

  onStop(): void {
    this.#line?.order.flush()
    this.#leave()
  }

  onError({ payload }: ErrorFrame): void {
    this.#complain({ code: payload?.code }, 'a carrier has not taken a frame')
  }

  /** Ignores frames of unknown kinds, because carriers add new kinds. */
  onRefused({ kind, field }: FrameProblem): void {
    if (kind !== 'unknown_type') this.#complain({ kind, field }, 'a frame of a carrier is not as it should be')
  }

  onBytes(): void {
    // The channel accepts only text frames.
  }

  // Methods for the conversation, which uses this socket as its transport.

  frame(frame: Int16Array): void {
    const line = this.#line
    if (line === null) return
    this.#sent.frame(frame.length)
    const count = line.outgoing.codec.encode(line.toLine.convert(frame), bytes)
    this.#socket.send(`${line.mediaHead}${bytes.toString('base64', 0, count)}"}}`)
  }

  mark(name: string): void {
    if (this.#line === null) return
    this.#socket.send(`{"event":"mark"${this.#line.ofStream},"mark":{"name":"${this.#sent.mark(name)}"}}`)
  }

  clear(): void {
    if (this.#line === null) return
    this.#socket.send(`{"event":"clear"${this.#line.ofStream}}`)
    this.#sent.cleared()
  }

  notify(): void {
    // Does nothing, because a phone shows no events.
  }

  close(): void {
    this.#end(1000)
  }

  // Events in the socket's lifecycle.

  onDue(): void {
    this.#fail('late')
  }

  onDrained(): void {
    // Nothing to do: the conversation itself limits how fast it sends audio.
  }

  onSlowReader(): void {
    this.#leave()
  }

  onShutdown(): void {
    this.#leave()
  }

  onGone(): void {
    if (this.#line === null) this.#fail('closed')
    this.#leave()
  }

  #awaitStart(): void {
    const { deadlines } = this.#deps
    deadlines.add(this)
    this.due = deadlines.after(startMs)
  }

  #take(payload: string): void {
    const [line, sink] = [this.#line, this.#sink]
    if (line === null || sink === null) return
    const { codec, sampleRateHz } = line.incoming
    const count = codec.decode(bytes, bytes.write(payload, 'base64'), samples)
    // If a carrier sends much faster than real time, its audio must not fill the conversation's memory.
    if (!line.pace.take((count * 1000) / sampleRateHz, this.#deps.clock.monotonicMs())) return
    sink.audio(line.toUs.convert(samples.subarray(0, count)))
  }

  #isOver(): boolean {
    return this.#isClosed
  }

  #complain(fields: object, message: string): void {
    if (this.#hasComplained) return
    this.#hasComplained = true
    this.#deps.log.warn({ legId: this.#opened.leg.legId, ...fields }, message)
  }

  /** Ends a stream before its conversation has begun. */
  #fail(reason: StreamFailure): void {
    if (this.#isClosed) return
    this.#end(1008)
    this.#opened.leg.failed(reason)
  }

  /** Ends the stream and notifies its conversation. */
  #leave(): void {
    const sink = this.#sink
    this.#end(1000)
    sink?.gone()
  }

  #end(code: number): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#line = null
    this.#sink = null
    this.due = null
    this.#deps.deadlines.delete(this)
    this.#socket.close(code, '')
  }
}
