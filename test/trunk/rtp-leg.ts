/** A leg with audio over real sockets on this machine. Uses a test clock. */
import type { Socket } from 'node:dgram'
import { setImmediate as turn } from 'node:timers/promises'
import type { Test } from 'tap'
import { pcmu } from '../../audio/line-codec.ts'
import { type RtpPacket, writePacket } from '../../providers/trunk/rtp/packet.ts'
import { createRtpPorts } from '../../providers/trunk/rtp/ports.ts'
import type { RtpLeg, RtpRemote } from '../../providers/trunk/rtp-ports.ts'
import { TestClock } from '../clock.ts'
import { RecordingSink } from '../session/media-harness.ts'
import { readFixture } from '../speech/fixtures.ts'
import { arrived, openRtpPeer } from './rtp-peer.ts'

export const host = '127.0.0.1'
/** The IP address from which the call's SIP messages come. */
export const signalingAddress = '127.0.0.3'
export const voice = new Int16Array(readFixture('please-try-call-later').slice(44).buffer)
export const frameSamples = 160
export const quiet = { info() {}, warn() {}, error() {} }

export async function leg(
  t: Test,
  more: Partial<RtpRemote> = {},
  address = host,
  mayReach: (address: string) => boolean = () => true,
) {
  const clock = new TestClock()
  const ports = createRtpPorts({ host, ports: { from: 42_100, to: 42_400 }, mayReach, clock, log: quiet })
  const far = await openRtpPeer(t, address)
  const keys: string[] = []
  let sink: RecordingSink | null = null
  const opened: RtpLeg = await ports.open({
    sampleRateHz: 8000,
    signalingAddress,
    joined: (transport) => (sink = new RecordingSink(transport)),
    dtmf: (digit) => keys.push(digit),
  })
  t.teardown(() => opened.close())
  const remote: RtpRemote = {
    address,
    port: far.port,
    encoding: 'PCMU',
    payloadType: 0,
    dtmfPayloadType: 101,
    direction: 'sendrecv',
    ...more,
  }
  opened.start(remote)
  const audible: number[] = []
  const joined = sink as unknown as RecordingSink
  joined.onAudio = (samples) => audible.push(...samples)
  const ticks = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const before = far.got.length
      await clock.advance(20)
      await arrived(() => far.got.length > before)
    }
  }
  const send = async (from: Socket, datagram: Buffer) => {
    await new Promise((resolve) => from.send(datagram, opened.port, host, resolve))
    // The packet is in the socket's buffer. The next turns of the event loop read it.
    for (let n = 0; n < 3; n++) await turn()
  }
  return { clock, ports, far, opened, remote, sink: joined, audible, keys, ticks, send }
}

export const speech = (n: number, more: Partial<RtpPacket> = {}): Buffer => {
  const payload = Buffer.alloc(frameSamples)
  pcmu.encode(voice.subarray(n * frameSamples, (n + 1) * frameSamples), payload)
  return writePacket({
    payloadType: 0,
    hasMarker: n === 0,
    sequence: n,
    timestamp: n * frameSamples,
    ssrc: 7,
    payload,
    ...more,
  })
}

export const key = (digit: number, timestamp: number, duration = 160): RtpPacket => ({
  payloadType: 101,
  hasMarker: false,
  sequence: 0,
  timestamp,
  ssrc: 7,
  payload: Buffer.from([digit, 10, duration >> 8, duration & 0xff]),
})
