/**
 * Measures the delay in a call over a SIP trunk on this machine. The conversation repeats all received audio, and the
 * remote SIP endpoint sends a short loud sound every half second. A sound's delay has two parts: from the endpoint
 * through the jitter buffer to the conversation, and from the conversation in our next packet back to the endpoint. The
 * limit is for the sum of both parts, minus the wait in the jitter buffer, as the buffer reports it. A packet's delay
 * is measured from the time when the packet is complete, so the 20 ms of sound in it do not count. Both endpoints share
 * one process.
 */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { pcmu } from '../audio/line-codec.ts'
import { readPacket, writePacket } from '../providers/trunk/rtp/packet.ts'
import { createRtpPorts } from '../providers/trunk/rtp/ports.ts'
import type { RtpLeg, RtpPorts } from '../providers/trunk/rtp-ports.ts'
import { readSdp } from '../providers/trunk/sdp.ts'
import { systemClock } from '../runtime/timing/clock.ts'
import { media, openTrunkOn } from '../test/trunk/setup.ts'
import { type SipPeer, sdp, sdpType, wanted } from '../test/trunk/sip-peer.ts'
import type { Figure } from './figure.ts'
import { percentile } from './stub-engines.ts'

const durationMs = 30_000
const packetMs = 20
const frameSamples = 160
/** Packets from one loud packet to the next. */
const loudEvery = 25
const loudLevel = 8000
const audibleLevel = 2000
const quiet = { info() {}, warn() {}, error() {} }

const isLoud = (samples: Int16Array) => samples.some((sample) => Math.abs(sample) > audibleLevel)
const packetOf = (level: number) => {
  const payload = Buffer.alloc(frameSamples)
  pcmu.encode(new Int16Array(frameSamples).fill(level), payload)
  return payload
}
const [loud, silence] = [packetOf(loudLevel), packetOf(0)]

export async function trunkFigures(): Promise<Figure[]> {
  const { inMs, outMs, addedMs, sent } = await measure()
  const figure = (part: string, ms: number[], bar: number | null): Figure => {
    const [middle, longest] = [percentile(ms, 0.5).toFixed(1), percentile(ms, 1).toFixed(0)]
    const detail = `${ms.length} of ${sent} sounds, median ${middle} ms, longest ${longest} ms`
    return { name: `a call over a trunk: ${part}, p95`, value: percentile(ms, 0.95), unit: 'ms', bar, detail }
  }
  return [
    figure('in and out together, without the jitter buffer', addedMs, 80),
    figure('from the conversation to the far end', outMs, null),
    figure('from the far end through the jitter buffer to the conversation', inMs, null),
  ]
}

type Echoes = { inMs: number[]; outMs: number[]; addedMs: number[]; sent: number }

async function measure(): Promise<Echoes> {
  const closing: (() => unknown)[] = []
  const teardown = (close: () => unknown) => void closing.push(close)
  const ports = createRtpPorts({
    host: '127.0.0.1',
    ports: { from: 44_000, to: 44_998 },
    mayReach: () => true,
    clock: systemClock,
    log: quiet,
  })
  let leg: RtpLeg | null = null
  const rtp: RtpPorts = {
    open: async (options) => {
      leg = await ports.open(options)
      return leg
    },
  }
  const trunk = await openTrunkOn({ teardown }, systemClock, {
    rtp,
    received: (event) => {
      if (event.type !== 'initiated') return
      const ref = { legId: `leg_${event.carrierLegId}`, carrierLegId: event.carrierLegId }
      queueMicrotask(() => void trunk.line.answer(ref, media))
    },
  })
  try {
    const peer = await trunk.peer()
    const end = await FarEnd.call(peer)
    teardown(() => end.close())
    const sink = await wanted(() => trunk.sinks[0], 'the audio of the call')
    sink.onAudio = (samples) => {
      if (isLoud(samples)) end.arrived(leg?.jitterMs ?? 0)
      sink.transport.frame(samples)
    }
    await sleep(durationMs)
    end.stop()
    await sleep(500)
    const { inMs, outMs, addedMs, soundsSent: sent } = end
    if (outMs.length < sent * 0.9) throw new Error(`${sent - outMs.length} of ${sent} sounds have not come back`)
    return { inMs, outMs, addedMs, sent }
  } finally {
    for (const close of closing.reverse()) await close()
  }
}

/** Plays the remote SIP endpoint. Sends a packet every 20 ms by its clock. */
class FarEnd {
  readonly inMs: number[] = []
  readonly outMs: number[] = []
  /** The delays in both directions together, without the time in the jitter buffer. */
  readonly addedMs: number[] = []
  soundsSent = 0
  readonly #socket: Socket
  readonly #to: { address: string; port: number }
  #sentAtMs: number | null = null
  #arrivedAtMs: number | null = null
  #cameInMs = 0
  #jitterMs = 0
  #packets = 0
  #dueMs = performance.now()
  #timer: NodeJS.Timeout | null = null
  #isStopped = false

  static async call(peer: SipPeer): Promise<FarEnd> {
    const socket = createSocket('udp4')
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const callId = 'bench'
    peer.send('INVITE', { callId, headers: [sdpType], body: sdp({ port: socket.address().port }) })
    const ok = await peer.response(200, 'INVITE')
    peer.send('ACK', { callId, to: ok.to.text })
    const to = readSdp(ok.body)
    if (to === null) throw new Error('the answer has no audio')
    return new FarEnd(socket, to)
  }

  private constructor(socket: Socket, to: { address: string; port: number }) {
    this.#socket = socket
    this.#to = to
    socket.on('message', (datagram) => this.#received(datagram))
    this.#send()
  }

  /** Called when the conversation has received the sound. `jitterMs` is how long it waited in the jitter buffer. */
  arrived(jitterMs: number): void {
    if (this.#sentAtMs === null) return
    this.#arrivedAtMs = performance.now()
    this.#cameInMs = this.#arrivedAtMs - this.#sentAtMs
    this.#jitterMs = jitterMs
    this.inMs.push(this.#cameInMs)
    this.#sentAtMs = null
  }

  /** Sends no more sound, but still receives returning sounds. */
  stop(): void {
    this.#isStopped = true
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#socket.close()
  }

  #send(): void {
    const n = this.#packets++
    const hasSound = !this.#isStopped && n % loudEvery === loudEvery - 1
    const packet = writePacket({
      payloadType: 0,
      hasMarker: n === 0,
      sequence: n & 0xffff,
      timestamp: n * frameSamples,
      ssrc: 7,
      payload: hasSound ? loud : silence,
    })
    if (hasSound) {
      this.soundsSent++
      this.#sentAtMs = performance.now()
    }
    this.#socket.send(packet, this.#to.port, this.#to.address)
    this.#dueMs += packetMs
    this.#timer = setTimeout(() => this.#send(), Math.max(0, this.#dueMs - performance.now()))
  }

  #received(datagram: Buffer): void {
    const packet = readPacket(datagram)
    if (packet === null || this.#arrivedAtMs === null) return
    const samples = new Int16Array(packet.payload.length)
    pcmu.decode(packet.payload, packet.payload.length, samples)
    if (!isLoud(samples)) return
    const wentOutMs = performance.now() - this.#arrivedAtMs
    this.outMs.push(wentOutMs)
    this.addedMs.push(this.#cameInMs + wentOutMs - this.#jitterMs)
    this.#arrivedAtMs = null
  }
}
