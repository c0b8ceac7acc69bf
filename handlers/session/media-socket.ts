/**
 * One socket of the media channel. It is the transport for its session's conversation, and passes the client's frames
 * to the conversation.
 *
 *   opening ──► joining ──► live ──► closed
 *
 * `opening` waits for overrides, `joining` for the session. If only the socket closes, its session waits for another
 * socket. If the session ends, it closes the socket (`close`).
 */

import type { SessionSeat } from '../../domain/calls/live/seats.ts'
import type { SessionFault } from '../../domain/ports/media.ts'
import { frameMs, type MediaSink, type MediaTransport, type SessionEvent } from '../../domain/ports/media.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { Fault } from '../../domain/records/fault.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import type { EndReason } from '../../domain/records/states/call.ts'
import type { SessionOverrides } from '../../domain/sessions/overrides.ts'
import type { SessionMediaSends, SessionMediaSession } from '../../generated/session/channels.ts'
import { type SessionErrorCode, sessionErrors } from '../../generated/session/errors.ts'
import type {
  ContextualUpdateFrame,
  DtmfFrame,
  OverridesFrame,
  PlayedFrame,
  ToolResultFrame,
  UserMessageFrame,
} from '../../generated/session/types.ts'
import type { FrameProblem, Socket, SocketContext } from '../../runtime/engine/socket.ts'
import type { Dated, Deadlines } from '../realtime/deadlines.ts'
import type { Revocable } from '../revocable.ts'
import type { AgentAudio, OpenAudio } from './agent-audio.ts'
import { codeOfFault, errorFrame, frameOf, readyFrame } from './frames.ts'
import { sortOverrides } from './overrides.ts'
import { AudioPace, TextPace } from './pace.ts'
import type { Seats } from './seats.ts'

export type MediaSocketDeps = { seats: Seats; deadlines: Deadlines; clock: Clock; log: Log; overridesMs: number }
export type SocketCaller = Pick<SocketContext<SessionSeat>, 'requestId' | 'caller'> &
  Partial<Pick<SocketContext<SessionSeat>, 'trace'>>

/** The longest audio in one frame. Part of the contract. */
const audioMsMax = 200
/**
 * A frame shorter than this counts as this much audio, to limit the number of frames. Browsers send 2.7 ms and more.
 */
const frameMsMin = 1
/** A shared buffer for copies of unaligned audio. No code keeps a reference to it. */
const aligned = new Int16Array((48_000 * audioMsMax) / 1000)
const alignedBytes = new Uint8Array(aligned.buffer)
/** If the text in these fields is too long, the client gets an error and the session goes on. */
const textFields = ['/text', '/result', '/overrides/agent/prompt', '/overrides/agent/firstMessage']

export class MediaSocket implements SessionMediaSession, MediaTransport, Dated, Revocable {
  due: number | null = null
  place = -1
  readonly sampleRateHz: number
  readonly seat: SessionSeat
  /** This socket's number. Each newer socket in this process has a higher number. */
  readonly number: number
  #state: 'opening' | 'joining' | 'live' | 'closed' = 'opening'
  #sink: MediaSink | null = null
  readonly #deps: MediaSocketDeps
  readonly #socket: Socket
  readonly #requestId: string
  readonly #trace: SocketCaller['trace']
  readonly #textPace = new TextPace()
  readonly #audioPace: AudioPace
  readonly #audio: AgentAudio
  /** The client's frames from before the session was joined. They are passed on afterwards. */
  readonly #waiting: (() => void)[] = []
  #isFirstFrame = true

  constructor(deps: MediaSocketDeps, socket: Socket, { requestId, caller, trace }: SocketCaller, openAudio: OpenAudio) {
    this.#deps = deps
    this.#socket = socket
    this.#requestId = requestId
    this.#trace = trace
    this.seat = caller
    this.#audio = openAudio({
      played: (mark) => this.#sink?.played(mark),
      cleared: (mark, playedMs) => this.#sink?.cleared(mark, playedMs),
    })
    this.number = deps.seats.nextNumber()
    this.sampleRateHz = this.seat.sampleRate
    this.#audioPace = new AudioPace(deps.clock.monotonicMs())
    if (this.seat.isJoined || this.seat.clientOverrides.length === 0) this.#startJoin({})
    else this.#awaitOverrides()
  }

  /** True once `ready` was sent and the session has this socket. */
  get isLive(): boolean {
    return this.#state === 'live'
  }

  // Frames from the client.

  onBytes(bytes: Uint8Array): void {
    this.#noteFrame()
    const sink = this.#sink
    if (sink === null) return
    const samplesCount = bytes.length / 2
    const audioMs = (samplesCount * 1000) / this.sampleRateHz
    if (!Number.isInteger(samplesCount))
      return this.#fail('INVALID_FRAME', 'A frame of audio has an odd number of bytes.')
    if (audioMs > audioMsMax) return this.#fail('INVALID_FRAME', 'A frame of audio is longer than 200 ms.')
    if (!this.#audioPace.take(Math.max(audioMs, frameMsMin), this.#deps.clock.monotonicMs()))
      return this.#fail('RATE_LIMITED', 'The audio is more than 2 s ahead of real time.')
    sink.audio(samplesOf(bytes, samplesCount))
  }

  onOverrides(frame: OverridesFrame): void {
    const isFirst = this.#isFirstFrame
    this.#isFirstFrame = false
    if (!this.#countText()) return
    const { isJoined, clientOverrides } = this.seat
    const isLate = this.#state !== 'opening' && clientOverrides.length > 0
    if (!isFirst || isJoined || isLate) return this.#complain('OVERRIDES_TOO_LATE')
    const { accepted, refused } = sortOverrides(frame, clientOverrides)
    if (refused.length > 0)
      this.#complain('OVERRIDE_NOT_ALLOWED', `The agent does not allow these to be overridden: ${refused.join(', ')}.`)
    this.#startJoin(accepted)
  }

  onPlayed(frame: PlayedFrame): void {
    if (!this.#audio.answered(frame)) this.#takeText()
  }

  onUserMessage({ text }: UserMessageFrame): void {
    this.#pass((sink) => {
      this.#send({ type: 'user_message_echo', text })
      sink.userMessage(text)
    })
  }

  onContextualUpdate({ text }: ContextualUpdateFrame): void {
    this.#pass((sink) => sink.contextualUpdate(text))
  }

  onDtmf({ digits }: DtmfFrame): void {
    this.#pass((sink) => sink.dtmf(digits))
  }

  onToolResult({ id, result, isError = false }: ToolResultFrame): void {
    this.#pass((sink) => {
      if (!sink.toolResult(id, result, isError)) this.#complain('UNKNOWN_TOOL_CALL')
    })
  }

  onPing(): void {
    if (this.#takeText()) this.#socket.send('{"type":"pong"}')
  }

  onEnd(): void {
    this.#pass((sink) => sink.hangUp())
  }

  onRefused({ field, message }: FrameProblem): void {
    if (!this.#countText()) return
    if (field?.keyword !== 'maxLength' || !textFields.includes(field.pointer))
      return this.#fail('INVALID_FRAME', message)
    this.#complain('TEXT_TOO_LONG')
    this.#noteFrame()
  }

  // Methods for the conversation, which uses this socket as its transport.

  frame(samples: Int16Array): void {
    if (this.#state === 'live') this.#audio.frame(samples)
  }

  mark(name: string): void {
    if (this.#state === 'live') this.#audio.mark(name)
  }

  clear(): void {
    if (this.#state === 'live') this.#audio.clear()
  }

  notify(event: SessionEvent): void {
    this.#send(frameOf(event))
  }

  close(reason: EndReason, fault: SessionFault | null): void {
    if (this.#state === 'closed') return
    const code = fault && codeOfFault[fault]
    if (code) this.#send(errorFrame(code, this.#requestId))
    this.#send({ type: 'end', reason })
    this.#leave()
    this.#socket.close(code ? (sessionErrors[code].closeCode ?? 1000) : 1000, code ?? '')
  }

  // Events in the socket's lifecycle.

  onDue(): void {
    this.#startJoin({})
  }

  onDrained(): void {
    // Nothing to do: the conversation itself limits how fast it sends audio. If the client reads too slowly, the
    // WebSocket engine closes the socket.
  }

  onSlowReader(): void {
    this.#fail('BACKPRESSURE')
  }

  /**
   * Called when the server stops. The server has already ended its sessions, so this session did not end as it should.
   */
  onShutdown(): void {
    const sink = this.#sink
    this.close('server_shutdown', 'shutting_down')
    sink?.gone()
  }

  onRevoked(): void {
    this.#fail('REVOKED')
  }

  onGone(): void {
    this.#leave()?.gone()
  }

  /** Closes this socket, because a newer socket has joined as the same user. */
  replaced(): void {
    if (this.#state === 'closed') return
    this.#send(errorFrame('REPLACED', this.#requestId))
    this.#leave()
    this.#socket.close(sessionErrors.REPLACED.closeCode, 'REPLACED')
  }

  #awaitOverrides(): void {
    this.#deps.deadlines.add(this)
    this.due = this.#deps.deadlines.after(this.#deps.overridesMs)
  }

  #startJoin(overrides: SessionOverrides): void {
    if (this.#state !== 'opening') return
    this.#state = 'joining'
    this.due = null
    this.#deps.deadlines.delete(this)
    this.#join(overrides).catch((error: unknown) => this.#refuse(error))
  }

  async #join(overrides: SessionOverrides): Promise<void> {
    const joined = await this.seat.join(overrides)
    if (this.#deps.seats.hasNewerHolder(this)) return this.replaced()
    // The socket was lost meanwhile. A new session still begins, and then waits for another socket.
    if (this.#isClosed()) {
      if (!joined.resumed) joined.begin(this).gone()
      return
    }
    this.#deps.seats.take(this)
    this.#state = 'live'
    const { unserved } = joined
    if (unserved.length > 0)
      this.#complain('OVERRIDE_NOT_ALLOWED', `No provider serves these now: ${unserved.join(', ')}.`)
    this.#send(readyFrame(this.seat, frameMs, joined.resumed))
    const sink = joined.begin(this)
    // The conversation may have ended already, and then it gets no frames.
    if (this.#isClosed()) return
    this.#sink = sink
    for (const pass of this.#waiting.splice(0)) pass()
  }

  /** Starts the session at the first frame. Any first frame except overrides ends the wait for overrides. */
  #noteFrame(): void {
    if (!this.#isFirstFrame) return
    this.#isFirstFrame = false
    this.#startJoin({})
  }

  #takeText(): boolean {
    this.#noteFrame()
    return this.#countText()
  }

  /** Counts a text frame. Returns false if the client has sent too many frames. The socket has then closed. */
  #countText(): boolean {
    if (this.#isClosed()) return false
    if (this.#textPace.take(this.#deps.clock.monotonicMs())) return true
    this.#fail('RATE_LIMITED', 'More than 50 text frames came in 10 s.')
    return false
  }

  #pass(call: (sink: MediaSink) => void): void {
    if (!this.#takeText()) return
    const pass = () => {
      if (this.#sink !== null) call(this.#sink)
    }
    if (this.#sink === null) this.#waiting.push(pass)
    else pass()
  }

  #send(frame: SessionMediaSends): void {
    if (!this.#isClosed()) this.#socket.send(JSON.stringify(frame))
  }

  /** Sends an error while the session goes on. */
  #complain(code: SessionErrorCode, message?: string): void {
    this.#send(errorFrame(code, this.#requestId, message))
  }

  #refuse(error: unknown): void {
    if (isPassing(error)) return this.#fail('RATE_LIMITED', 'The session cannot be joined now.')
    const fields = { requestId: this.#requestId, callId: this.seat.sessionId, ...this.#trace?.logFields, err: error }
    this.#deps.log.error(fields, 'a session could not be joined')
    this.close('pipeline_failed', 'internal')
  }

  /** Closes the socket with an error. The session waits for another socket. */
  #fail(code: SessionErrorCode, message?: string): void {
    if (this.#isClosed()) return
    this.#send(errorFrame(code, this.#requestId, message))
    this.#leave()?.gone()
    this.#socket.close(sessionErrors[code].closeCode ?? 1011, code)
  }

  #isClosed(): boolean {
    return this.#state === 'closed'
  }

  /** Leaves the session. Returns the conversation that lost this socket, or null. */
  #leave(): MediaSink | null {
    const sink = this.#sink
    this.#state = 'closed'
    this.#sink = null
    this.due = null
    this.#deps.deadlines.delete(this)
    this.#deps.seats.leave(this)
    return sink
  }
}

/**
 * Returns true for an error that may be temporary: no lease is free, the server is full or ending, the database is
 * unreachable, or the session has ended or begun elsewhere. The response to the client's next upgrade request
 * has the cause.
 */
function isPassing(error: unknown): boolean {
  if (error instanceof ResourceFault) return error.data.kind === 'call_not_live'
  return error instanceof Fault && passing.has(error.kind)
}

const passing: ReadonlySet<string> = new Set(['too_many_at_once', 'overloaded', 'store_unreachable'])

/** Returns a frame's samples without a copy if they are aligned. */
function samplesOf(bytes: Uint8Array, count: number): Int16Array {
  if (bytes.byteOffset % 2 === 0) return new Int16Array(bytes.buffer, bytes.byteOffset, count)
  alignedBytes.set(bytes)
  return aligned.subarray(0, count)
}
