/**
 * One call leg's audio over RTP: the transport for the leg's conversation.
 *
 *   open ──start──► live ──close──► closed
 *
 * Packets are accepted from the SDP's address and from the signalling's address: behind NAT the SDP often contains a
 * private address. Our packets go to the source of the other side's packets. Before the first packet, nothing is sent
 * to a private address from an SDP. Otherwise a trunk could aim our packets at any machine in our network.
 */
import { randomBytes } from 'node:crypto'
import type { RemoteInfo, Socket } from 'node:dgram'
import { isIP } from 'node:net'
import { FrameResampler } from '../../../audio/frame-resampler.ts'
import { JitterBuffer } from '../../../audio/jitter-buffer.ts'
import { type LineCodec, pcma, pcmu } from '../../../audio/line-codec.ts'
import type { MediaSink, MediaTransport } from '../../../domain/ports/media.ts'
import type { Log } from '../../../domain/ports/system.ts'
import { type KeyWay, PressedKeys } from '../pressed-keys.ts'
import type { RtpLegOptions, RtpRemote } from '../rtp-ports.ts'
import type { LineEncoding, SdpFormat } from '../sdp-formats.ts'
import { FarSource, type Source } from './far-source.ts'
import { type RtpPacket, readPacket, writePacket } from './packet.ts'
import { RelayQueue } from './relay-queue.ts'
import { SentAudio } from './sent-audio.ts'
import { SentKeys } from './sent-keys.ts'
import { EventReader } from './telephone-events.ts'

export type LegStreamDeps = {
  socket: Socket
  log: Log
  closed: () => void
  /** Returns true if packets may be sent to an address known only from an SDP. */
  mayReach: (address: string) => boolean
}

const lineRateHz = 8000
const tickMs = 20
const frameSamples = 160
/** The largest payload: 100 ms in one packet. */
const payloadBytesMax = 800
/** The maximum number of packets read between two ticks; further packets are dropped. */
const packetsMax = 20
/** Ten seconds, in ticks. If no packets arrive, the conversation receives silence for this long and then no frames. */
const silentTicksMax = 500

const bytes = Buffer.alloc(2 * payloadBytesMax)
const samples = new Int16Array(payloadBytesMax)
const nothing = new Int16Array(0)

const codecs: Readonly<Record<LineEncoding, LineCodec>> = { PCMU: pcmu, PCMA: pcma }

/** The negotiated audio. `silence` is the codec's byte for silence. */
type Line = { remote: RtpRemote; codec: LineCodec; silence: number }

export class LegStream implements MediaTransport {
  readonly sampleRateHz: number
  readonly #deps: LegStreamDeps
  readonly #options: RtpLegOptions
  readonly #jitter = new JitterBuffer()
  readonly #events = new EventReader()
  readonly #pressed = new PressedKeys(() => this.#ticks * tickMs)
  readonly #keys = new SentKeys()
  readonly #sent: SentAudio
  readonly #toUs: FrameResampler
  readonly #toLine: FrameResampler
  readonly #ssrc = randomBytes(4).readUInt32BE()
  #sequence = randomBytes(2).readUInt16BE()
  #timestamp = randomBytes(4).readUInt32BE()
  #line: Line | null = null
  #sink: MediaSink | null = null
  /** The other leg, if two legs are connected. Null if this leg is connected to its conversation. */
  #other: LegStream | null = null
  readonly #relayed = new RelayQueue()
  readonly #far: FarSource
  /**
   * The format for each payload type. A payload type keeps its meaning for the whole call (RFC 3264, section 8.3.2), so
   * earlier formats are kept for late packets.
   */
  readonly #formats = new Map<number, SdpFormat['encoding']>()
  #ticks = 0
  #packetsOfTick = 0
  #silentTicks = 0
  /** Ticks since the other side's last packet. */
  #quietTicks = 0
  /** Ticks since the other side's SDP last changed its address. */
  #describedTicks = 0
  /** The number of valid packets from the other side. */
  #packets = 0
  #hasSent = false
  #hasComplained = false
  #isClosed = false
  /** True if the conversation has ended. It then receives no more audio. */
  #hasLeft = false

  constructor(deps: LegStreamDeps, options: RtpLegOptions) {
    this.#deps = deps
    this.#options = options
    this.#far = new FarSource(options.signalingAddress)
    this.sampleRateHz = options.sampleRateHz
    this.#toUs = new FrameResampler(lineRateHz, this.sampleRateHz)
    this.#toLine = new FrameResampler(this.sampleRateHz, lineRateHz)
    this.#sent = new SentAudio({
      played: (mark) => this.#sink?.played(mark),
      cleared: (mark, playedMs) => this.#sink?.cleared(mark, playedMs),
    })
    deps.socket.on('message', (datagram, source) => this.#received(datagram, source))
    deps.socket.on('error', (err) => deps.log.warn({ err }, 'the audio of a trunk has met an error'))
  }

  get jitterMs(): number {
    return this.#jitter.delayMs
  }

  get quietMs(): number {
    return this.#quietTicks * tickMs
  }

  get packets(): number {
    return this.#packets
  }

  start(remote: RtpRemote): void {
    if (this.#isClosed) return
    const before = this.#line?.remote ?? null
    this.#line = { remote, codec: codecs[remote.encoding], silence: remote.encoding === 'PCMU' ? 0xff : 0xd5 }
    for (const { payloadType, encoding } of formatsOf(remote)) this.#formats.set(payloadType, encoding)
    if (this.#far.describe(this.#describedBy(remote))) this.#describedTicks = 0
    if (before !== null) return
    const sink = this.#options.joined(this)
    // The conversation may have ended while `joined` ran. Then its sink must not be stored.
    if (!this.#isLeft()) this.#sink = sink
  }

  /**
   * Sends DTMF keys as telephone events, or as tones if the other side does not support events. Returns false if no
   * audio can be sent now, or if too many keys wait.
   */
  sendDtmf(digits: string): boolean {
    const line = this.#line
    return line !== null && this.#targetOf(line) !== null && this.#keys.add(digits)
  }

  /** Handles a DTMF key pressed by the other side. */
  pressed(digit: string, way: KeyWay): void {
    if (!this.#pressed.isNew(digit, way)) return
    this.#other?.sendDtmf(digit)
    this.#sink?.dtmf(digit)
    this.#options.dtmf(digit)
  }

  connect(other: LegStream | null): void {
    if (other === null || other === this || this.#isClosed || other.#isClosed) return
    for (const leg of [this, other]) leg.#part()
    this.#other = other
    other.#other = this
  }

  /** Disconnects both legs. The other leg receives silence from now on. */
  #part(): void {
    this.#relayed.clear()
    if (this.#other !== null) this.#other.#other = null
    this.#other = null
  }

  /** Closes the stream, because the leg is over. */
  leave(): void {
    if (this.#isClosed) return
    this.#part()
    const sink = this.#sink
    this.#isClosed = true
    this.#line = null
    this.#sink = null
    this.#deps.socket.close()
    this.#deps.closed()
    sink?.gone()
  }

  // The following methods implement the conversation's transport.

  frame(frame: Int16Array): void {
    if (this.#line !== null && this.#other === null) this.#sent.frame(this.#toLine.convert(frame))
  }

  mark(name: string): void {
    if (this.#line !== null) this.#sent.mark(name)
  }

  clear(): void {
    if (this.#line !== null) this.#sent.clear()
  }

  notify(): void {
    // A phone has no display for transcripts or events, so these are dropped.
  }

  /** Called when the conversation has ended. The SIP side ends the leg. */
  close(): void {
    this.#hasLeft = true
    this.#sink = null
  }

  /** To be called every 20 ms. */
  tick(): void {
    const line = this.#line
    this.#packetsOfTick = 0
    this.#ticks++
    if (line === null) return
    this.#quietTicks++
    this.#describedTicks++
    this.#send(line)
    if (++this.#silentTicks > silentTicksMax) return
    this.#jitter.tick((frame) => {
      if (this.#other !== null) this.#other.#relayed.push(frame)
      this.#sink?.audio(this.#toUs.convert(frame))
    })
  }

  #isLeft(): boolean {
    return this.#isClosed || this.#hasLeft
  }

  #received(datagram: Buffer, { address, port }: RemoteInfo): void {
    const line = this.#line
    const place = line === null ? 'stranger' : this.#far.placeOf({ address, port })
    if (place === 'stranger') return
    // Packets from a candidate are not counted, because an attacker's packets could otherwise use up the limit and
    // displace the call's speech.
    if (place !== 'candidate' && ++this.#packetsOfTick > packetsMax) return
    const packet = readPacket(datagram)
    if (packet === null || packet.payload.length > payloadBytesMax) return
    const encoding = this.#formats.get(packet.payloadType)
    const quietMs = Math.min(this.#quietTicks, this.#describedTicks) * tickMs
    const hasMoved = () => this.#far.hasMoved({ address, port }, packet.ssrc, quietMs)
    if (place === 'candidate' && (encoding === undefined || !hasMoved())) return
    this.#quietTicks = 0
    this.#packets++
    if (encoding === undefined) return
    if (!this.#far.learn({ address, port }, packet.ssrc)) this.#restart()
    if (encoding === 'telephone-event') this.#key(packet)
    else this.#speech(codecs[encoding], packet)
  }

  #restart(): void {
    this.#jitter.restart()
    this.#events.restart()
  }

  #speech(codec: LineCodec, { timestamp, payload }: RtpPacket): void {
    this.#silentTicks = 0
    const count = codec.decode(payload, payload.length, samples)
    this.#jitter.push(timestamp, samples.subarray(0, count))
  }

  #key({ timestamp, payload }: RtpPacket): void {
    const digit = this.#events.read(timestamp, payload)
    if (digit !== null) this.pressed(digit, 'event')
  }

  /** Sends one packet at each tick, even for silence, so that firewalls and the other side see a continuous stream. */
  #send(line: Line): void {
    const { remote, codec, silence } = line
    const target = this.#targetOf(line)
    // DTMF keys wait while no packets can be sent.
    const key = target === null ? null : this.#keys.next(remote.dtmfPayloadType !== null)
    if (key !== null && 'payload' in key && remote.dtmfPayloadType !== null) {
      const timestamp = this.#timestamp - key.sinceStart
      this.#write(target, {
        payloadType: remote.dtmfPayloadType,
        hasMarker: key.isFirst,
        timestamp,
        payload: key.payload,
      })
    } else {
      const count = codec.encode(key !== null && 'samples' in key ? key.samples : this.#frame(), bytes)
      bytes.fill(silence, count, frameSamples)
      const [payload, timestamp] = [bytes.subarray(0, frameSamples), this.#timestamp]
      this.#write(target, { payloadType: remote.payloadType, hasMarker: !this.#hasSent, timestamp, payload })
    }
    this.#timestamp = (this.#timestamp + frameSamples) >>> 0
  }

  #frame(): Int16Array {
    return this.#other === null ? this.#sent.take() : (this.#relayed.take() ?? nothing)
  }

  #write(target: Source | null, packet: Omit<RtpPacket, 'sequence' | 'ssrc'>): void {
    if (target === null) return
    const sequence = this.#sequence++
    this.#hasSent = true
    // A failed packet is not repeated, because RTP tolerates lost packets.
    this.#deps.socket.send(
      writePacket({ ...packet, sequence, ssrc: this.#ssrc }),
      target.port,
      target.address,
      () => {},
    )
  }

  /**
   * Returns the address for our packets. Returns null if no packets may be sent: the other side holds the call or
   * cannot be reached yet.
   */
  #targetOf({ remote }: Line): Source | null {
    if (remote.direction === 'sendonly' || remote.direction === 'inactive' || isNowhere(remote.address)) return null
    return this.#far.current ?? this.#reachable(remote)
  }

  /** Returns the SDP's address. Host names are not looked up: the signalling address replaces them. */
  #describedBy({ address, port }: RtpRemote): Source {
    return { address: isIP(address) === 0 ? this.#options.signalingAddress : address, port }
  }

  #reachable(remote: RtpRemote): Source | null {
    const { mayReach, log } = this.#deps
    const described = this.#describedBy(remote)
    if (described.address === this.#options.signalingAddress || mayReach(described.address)) return described
    if (!this.#hasComplained)
      log.warn(
        { address: remote.address },
        'the audio of a trunk waits for its first packet: the address in its SDP is not public, and outbound.allowedSubnets does not have it',
      )
    this.#hasComplained = true
    return null
  }
}

/** True for the address 0.0.0.0 or its IPv6 form in an SDP, the older method to hold a call. */
const isNowhere = (address: string) => address === '0.0.0.0' || address === '::'

function formatsOf({ encoding, payloadType, dtmfPayloadType, formats = [] }: RtpRemote): SdpFormat[] {
  const events: SdpFormat[] =
    dtmfPayloadType === null ? [] : [{ payloadType: dtmfPayloadType, encoding: 'telephone-event' }]
  return [{ payloadType, encoding }, ...events, ...formats]
}
