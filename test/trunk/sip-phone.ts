/**
 * A phone on the other side of a trunk, on the server's clock if a test moves it: it calls and is called, speaks G.711
 * and keeps received audio.
 */
import type { Test } from 'tap'
import { pcmu } from '../../audio/line-codec.ts'
import { valueOf } from '../../providers/trunk/message.ts'
import { readPacket, writePacket } from '../../providers/trunk/rtp/packet.ts'
import { readSdp } from '../../providers/trunk/sdp.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { Ticker } from '../../runtime/timing/ticker.ts'
import { likenessOf } from '../audio/likeness.ts'
import type { TestClock } from '../clock.ts'
import { until } from '../process/machine.ts'
import { openRtpPeer, type RtpPeer } from './rtp-peer.ts'
import { SipPeer, sdp, sdpType } from './sip-peer.ts'

const frameSamples = 160
/** 200 ms of audio. */
const pieceSamples = 1600
/** 30 s of audio. */
const newestSamples = 240_000

/** A server with a SIP port, and with its clock if a test moves the time. */
type SipServer = { sipPort: number; clock?: TestClock }

export class SipPhone {
  readonly peer: SipPeer
  readonly #rtp: RtpPeer
  readonly #ticker: Ticker
  readonly #until: typeof until
  readonly #received: Int16Array[] = []
  #saying: Int16Array = new Int16Array(0)
  #packets = 0
  #pressed: number | null = null
  #to: { address: string; port: number } | null = null
  /** The SIP identifiers of the phone's call. */
  #ends: { callId: string; to: string; from: string } | null = null

  /** `bindPort`: the phone's SIP port; 0 is any free port. */
  static async open(t: Pick<Test, 'teardown'>, { sipPort, clock }: SipServer, bindPort = 0): Promise<SipPhone> {
    const peer = await SipPeer.open({ port: sipPort, bindPort, clock })
    t.teardown(() => peer.close())
    const phone = new SipPhone(peer, await openRtpPeer(t), clock)
    t.teardown(() => phone.#stop())
    return phone
  }

  private constructor(peer: SipPeer, rtp: RtpPeer, clock: TestClock | undefined) {
    this.peer = peer
    this.#rtp = rtp
    this.#until = clock === undefined ? until : (what, holds, limitMs) => clock.until(what, holds, limitMs)
    this.#ticker = new Ticker(clock ?? systemClock, () => this.#tick())
    rtp.socket.on('message', (datagram) => {
      const packet = readPacket(datagram)
      if (packet?.payloadType !== 0) return
      const samples = new Int16Array(packet.payload.length)
      pcmu.decode(packet.payload, packet.payload.length, samples)
      this.#received.push(samples)
    })
  }

  /** The received audio at 8 kHz. */
  get received(): Int16Array {
    const all = new Int16Array(this.#received.length * frameSamples)
    for (const [at, samples] of this.#received.entries()) all.set(samples.subarray(0, frameSamples), at * frameSamples)
    return all
  }

  /** Resolves when the call is answered. */
  async call(number: string, from: string, headers: readonly string[] = []): Promise<void> {
    const callId = `phone-${this.peer.port}`
    const sent = { callId, uri: `sip:${number}@127.0.0.1`, from: `<sip:${from}@127.0.0.1>;tag=phone` }
    this.peer.send('INVITE', { ...sent, headers: [sdpType, ...headers], body: sdp({ port: this.#rtp.port }) })
    const ok = await this.peer.response(200, 'INVITE')
    this.peer.send('ACK', { ...sent, to: ok.to.text })
    this.#ends = { callId, to: ok.to.text, from: sent.from }
    this.#begin(ok.body)
  }

  /** Takes the next call. Resolves with the calling and the called number. */
  async answer(): Promise<{ from: string; to: string }> {
    const invite = await this.peer.request('INVITE')
    this.peer.respond(invite, 180)
    this.peer.respond(invite, 200, { headers: [sdpType], body: sdp({ port: this.#rtp.port }) })
    await this.peer.request('ACK')
    this.#ends = { callId: invite.callId, to: invite.from.text, from: `${invite.to.text};tag=far` }
    this.#begin(invite.body)
    return { from: invite.from.uri, to: invite.to.uri }
  }

  /** Presses a key from 0 to 9 with the next packet. */
  press(digit: number): void {
    this.#pressed = digit
  }

  say(samples: Int16Array): void {
    this.#saying = samples
  }

  /** Resolves once the phone has received the whole voice at 8 kHz. */
  async receives(voice: Int16Array): Promise<void> {
    const pieces: Int16Array[] = []
    for (let at = pieceSamples; at + pieceSamples <= voice.length; at += pieceSamples)
      pieces.push(voice.subarray(at, at + pieceSamples))
    const isThere = () => {
      const newest = this.received.subarray(-newestSamples)
      return pieces.every((piece) => isSilent(piece) || likenessOf(piece, newest) > 0.9)
    }
    // The comparison is slow, so on a test clock it does not run after each frame.
    await this.#until('the voice at the phone', () => Promise.resolve(isThere()))
  }

  /** Resolves once the voice at the other end has paused for a second. */
  async untilSilent(): Promise<void> {
    const isPausing = () => {
      const { received } = this
      return !isSilent(received) && isSilent(received.subarray(-8000))
    }
    await this.#until('a pause at the other end', () => Promise.resolve(isPausing()), 60_000)
  }

  /** Calls the address in the server's REFER, where a person answers. Resolves with the address. */
  async transfers(): Promise<string> {
    const refer = await this.peer.request('REFER')
    this.peer.respond(refer, 202)
    const headers = ['Event: refer', 'Content-Type: message/sipfrag']
    if (this.#ends !== null) this.peer.send('NOTIFY', { ...this.#ends, cseq: 2, headers, body: 'SIP/2.0 200 OK\r\n' })
    return valueOf(refer.headers, 'refer-to') ?? ''
  }

  /** Stops sending packets without ending the call, as on hold or after a power cut. */
  fallSilent(): void {
    this.#stop()
  }

  hangUp(): void {
    if (this.#ends !== null) this.peer.send('BYE', { ...this.#ends, cseq: 2 })
    this.#stop()
  }

  #begin(body: string): void {
    this.#to = readSdp(body)
    this.#ticker.start()
  }

  #stop(): void {
    this.#to = null
  }

  #tick(): boolean {
    if (this.#to === null) return false
    const n = this.#packets++
    const payload = Buffer.alloc(frameSamples, 0xff)
    pcmu.encode(this.#saying.subarray(0, frameSamples), payload)
    this.#saying = this.#saying.subarray(frameSamples)
    const [sequence, timestamp] = [n & 0xffff, n * frameSamples]
    if (this.#pressed !== null) {
      const event = { payloadType: 101, hasMarker: true, sequence, timestamp, ssrc: 7 }
      const key = writePacket({ ...event, payload: Buffer.from([this.#pressed, 0x80 | 10, 3, 0x20]) })
      this.#rtp.socket.send(key, this.#to.port, this.#to.address)
      this.#pressed = null
      return true
    }
    const packet = { payloadType: 0, hasMarker: n === 0, sequence, timestamp, ssrc: 7, payload }
    this.#rtp.socket.send(writePacket(packet), this.#to.port, this.#to.address)
    return true
  }
}

function isSilent(samples: Int16Array): boolean {
  return samples.every((sample) => Math.abs(sample) <= 200)
}
