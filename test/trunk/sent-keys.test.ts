/**
 * Sent keys: as telephone events, as tones if the other side accepts no events, and as a failure if nothing can be
 * sent.
 */
import t from 'tap'
import { keyTone } from '../../audio/key-tones.ts'
import { pcma, pcmu } from '../../audio/line-codec.ts'
import { PhoneLineError } from '../../domain/ports/phone-line.ts'
import { writePacket } from '../../providers/trunk/rtp/packet.ts'
import { SentKeys } from '../../providers/trunk/rtp/sent-keys.ts'
import { frameSamples, key, leg, voice } from './rtp-leg.ts'
import { legId, media, openTrunk } from './setup.ts'
import { sdp, sdpType } from './sip-peer.ts'

const rows = [697, 770, 852, 941]
const columns = [1209, 1336, 1477, 1633]
const places = '123A456B789C*0#D'

/** A frequency's energy, between 0 and 1 for a full-scale sine. */
function strength(samples: Int16Array, hz: number): number {
  let [re, im] = [0, 0]
  for (const [at, sample] of samples.entries()) {
    re += sample * Math.cos((2 * Math.PI * hz * at) / 8000)
    im += sample * Math.sin((2 * Math.PI * hz * at) / 8000)
  }
  return Math.hypot(re, im) / (samples.length * 16_384)
}

/** Returns the key whose tones the samples have, or null for any other sound and for silence. */
function keyOf(samples: Int16Array): string | null {
  const loudest = (all: number[]) => {
    const found = all.map((hz) => strength(samples, hz))
    const best = found.indexOf(Math.max(...found))
    return found[best]! > 0.05 && found.every((other, at) => at === best || other < found[best]! / 2) ? best : null
  }
  const [row, column] = [loudest(rows), loudest(columns)]
  return row === null || column === null ? null : (places[4 * row + column] ?? null)
}

/** The received keys at a far end without telephone events, each with its length in ms. */
function keysIn(frames: readonly Int16Array[]): [string, number][] {
  const keys: [string | null, number][] = []
  for (const frame of frames) {
    const sounding = keyOf(frame)
    const last = keys.at(-1)
    if (last !== undefined && last[0] === sounding) last[1] += 20
    else keys.push([sounding, 20])
  }
  return keys.filter((each): each is [string, number] => each[0] !== null)
}

for (const [encoding, payloadType, codec] of [
  ['PCMU', 0, pcmu],
  ['PCMA', 8, pcma],
] as const)
  t.test(`keys are sent as tones in ${encoding} if the other side accepts no telephone events`, async (t) => {
    const { far, opened, sink, ticks } = await leg(t, { encoding, payloadType, dtmfPayloadType: null })
    // The agent speaks all the time.
    sink.transport.frame(voice.subarray(0, 60 * frameSamples))
    t.equal(opened.sendDtmf('1#w0D'), true)
    await ticks(80)
    t.ok(far.got.every((packet) => packet.payloadType === payloadType && packet.payload.length === frameSamples))
    const frames = far.got.map(({ payload }) => {
      const samples = new Int16Array(frameSamples)
      codec.decode(payload, frameSamples, samples)
      return samples
    })
    t.same(keysIn(frames.slice(0, 60)), [
      ['1', 100],
      ['#', 100],
      ['0', 100],
      ['D', 100],
    ])
    t.ok(
      frames.slice(5, 10).every((frame) => frame.every((sample) => Math.abs(sample) < 16)),
      'a pause follows',
    )
    t.notOk(
      frames.slice(70, 80).every((frame) => frame.every((sample) => Math.abs(sample) < 16)),
      'and then the agent',
    )
    const { timestamp } = far.got[0]!
    t.ok(far.got.every((packet, n) => packet.timestamp === (timestamp + n * frameSamples) >>> 0))
  })

t.test('every DTMF key has its two tones, and no other character has tones', (t) => {
  for (const each of places) t.equal(keyOf(keyTone(each)!), each)
  for (const other of ['', 'w', '12', 'E']) t.equal(keyTone(other), null)
  t.end()
})

t.test('w in a text of keys is a pause of half a second between two events', (t) => {
  const keys = new SentKeys()
  t.ok(keys.add('1w2'))
  const due = Array.from({ length: 60 }, () => {
    const next = keys.next(true)
    return next !== null && 'payload' in next ? '0123456789*#ABCD'[next.payload[0]!] : '-'
  }).join('')
  t.equal(due, `${'1'.repeat(7)}${'-'.repeat(5 + 25)}${'2'.repeat(7)}${'-'.repeat(16)}`)
  t.end()
})

t.test('a DTMF key that began as an RTP event also ends as an RTP event, and the next key is sent as a tone', (t) => {
  const keys = new SentKeys()
  keys.add('12')
  t.ok('payload' in keys.next(true)!)
  for (let n = 0; n < 6; n++) t.ok('payload' in keys.next(false)!, `packet ${n}`)
  for (let n = 0; n < 5; n++) keys.next(false)
  t.ok('samples' in keys.next(false)!)
  t.end()
})

t.test('if the queue has too little room for a text of keys, all its keys are refused', (t) => {
  const keys = new SentKeys()
  t.equal(keys.add('1'.repeat(60)), true)
  t.equal(keys.add('2'.repeat(5)), false)
  t.equal(keys.add('3'.repeat(4)), true)
  t.end()
})

t.test('while audio cannot be sent, new keys are refused, and waiting keys are sent later', async (t) => {
  const { clock, far, opened, remote, send, ticks } = await leg(t, {}, '127.0.0.4', () => false)
  t.equal(opened.sendDtmf('1'), false, 'its address is not known to be its own yet')
  await send(far.socket, writePacket(key(9, 8_000)))
  t.equal(opened.sendDtmf('12'), true)
  await ticks(12)
  opened.start({ ...remote, direction: 'sendonly' })
  t.equal(opened.sendDtmf('3'), false, 'it holds the call')
  opened.start({ ...remote, address: '0.0.0.0' })
  t.equal(opened.sendDtmf('4'), false, 'it holds the call in the older way')
  await clock.advance(400)
  opened.start(remote)
  await send(far.socket, writePacket(key(9, 16_000)))
  await ticks(12)
  const sent = far.got.flatMap(({ payloadType, payload }) => (payloadType === 101 ? payload[0]! : []))
  t.same([...new Set(sent)], [1, 2])
})

t.test('if a leg cannot send keys, sendDtmf is refused', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  peer.send('INVITE', { callId: 'call-1', headers: [sdpType], body: sdp() })
  const { carrierLegId } = await trunk.event('initiated')
  const ref = { legId, carrierLegId }
  const refused = new PhoneLineError('refused')
  await t.rejects(trunk.line.sendDtmf(ref, '1'), refused, 'it has no audio yet')
  await trunk.line.answer(ref, media)
  const ok = await peer.response(200, 'INVITE')
  peer.send('ACK', { callId: 'call-1', to: ok.to.text })
  await trunk.event('stream_started')
  await trunk.line.sendDtmf(ref, '1')
  trunk.rtps[0]!.sendDtmf = () => false
  await t.rejects(trunk.line.sendDtmf(ref, '2'), refused, 'the other side holds the call')
})
