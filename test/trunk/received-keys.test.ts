/** Keys from far ends: each press counts once, with any timestamps, and also by INFO. */
import t from 'tap'
import { PressedKeys } from '../../providers/trunk/pressed-keys.ts'
import { EventReader } from '../../providers/trunk/rtp/telephone-events.ts'
import { legId, media, openTrunk, type Trunk } from './setup.ts'
import { type SipPeer, sdp, sdpType } from './sip-peer.ts'

const frame = 160
type Device = {
  /** The timestamp difference between packets. */
  raise: number
  packets: number
  /** The time between two presses. */
  pause: number
  ends: number
  durationOf: (n: number) => number
  loses: (n: number) => boolean
}
const usual: Device = {
  raise: 0,
  packets: 5,
  pause: 800,
  ends: 3,
  durationOf: (n) => (n + 1) * frame,
  loses: () => false,
}

/** Returns the keys that are received when a device dials. */
function receivedOf(digits: string, more: Partial<Device> = {}): string {
  const { raise, packets, pause, ends, durationOf, loses } = { ...usual, ...more }
  const reader = new EventReader()
  let at = 0xffff_f000
  let received = ''
  for (const digit of digits) {
    for (let n = 0; n < packets + ends - 1; n++) {
      const isEnd = ends > 0 && n >= packets - 1
      const duration = durationOf(Math.min(n, packets - 1))
      const payload = Buffer.from(['0123456789*#'.indexOf(digit), isEnd ? 0x8a : 0x0a, duration >> 8, duration & 0xff])
      if (!loses(n)) received += reader.read((at + n * raise) >>> 0, payload) ?? ''
    }
    at += packets * frame + pause
  }
  return received
}

for (const [name, more] of [
  ['one timestamp for each press', {}],
  ['a timestamp that rises with each packet', { raise: frame }],
  [
    'a timestamp that rises by 40 ms',
    { raise: 2 * frame, packets: 4, pause: 1600, durationOf: (n: number) => (n + 1) * 2 * frame },
  ],
  ['a timestamp that rises, and a duration that does not', { raise: frame, durationOf: () => frame }],
  ['a timestamp that rises, and no duration', { raise: frame, durationOf: () => 0 }],
  ['a timestamp that rises until the key is up, which is said once', { raise: frame, ends: 1 }],
  ['a timestamp that rises, without an end', { raise: frame, ends: 0, packets: 6 }],
  ['presses of 40 ms with pauses of 60 ms', { raise: frame, packets: 2, pause: 480 }],
  ['a press of a second', { raise: frame, packets: 50 }],
  ['every second packet lost', { raise: frame, packets: 7, loses: (n: number) => n % 2 === 1 }],
  ['a hole of 100 ms', { raise: frame, packets: 12, loses: (n: number) => n > 2 && n < 8 }],
  ['only the first packet', { loses: (n: number) => n > 0 }],
  ['only the last end', { loses: (n: number) => n < 6 }],
] as const)
  t.test(`each press of a key is received as one key, with ${name}`, (t) => {
    for (const digits of ['42#', '44', '1223334444', '7'])
      t.equal(receivedOf(digits, more as Partial<Device>), digits, digits)
    t.end()
  })

t.test('a press that is longer than an RTP event can report is received as one key', (t) => {
  const reader = new EventReader()
  const received: (string | null)[] = []
  for (const start of [1_000, 66_535, 132_070])
    for (let duration = frame; duration <= 65_440; duration += frame)
      received.push(reader.read(start, Buffer.from([5, 10, duration >> 8, duration & 0xff])))
  t.same(
    received.filter((digit) => digit !== null),
    ['5'],
  )
  t.equal(reader.read(132_070 + 65_440 + 800, Buffer.from([5, 10, 0, frame])), '5', 'the next press')
  t.end()
})

t.test('the rate of received keys is limited to the rate at which a person can press keys', (t) => {
  const reader = new EventReader()
  let received = 0
  for (let n = 0; n < 1_000; n++) if (reader.read(n * 20, Buffer.from([n % 2, 0x8a, 0, frame])) !== null) received++
  t.ok(received <= (1_000 * 20) / 320 + 1, `${received}`)
  t.end()
})

t.test('a press that is reported by RTP and by INFO counts once', (t) => {
  let nowMs = 0
  const keys = new PressedKeys(() => nowMs)
  const at = (ms: number, digit: string, way: 'event' | 'info') => {
    nowMs = ms
    return keys.isNew(digit, way)
  }
  t.same([at(0, '1', 'event'), at(40, '1', 'info')], [true, false])
  t.same([at(300, '1', 'info'), at(360, '1', 'event')], [true, false], 'in the other order')
  t.same([at(600, '2', 'event'), at(700, '2', 'event')], [true, true], 'two presses')
  t.same([at(750, '2', 'info'), at(760, '2', 'info'), at(770, '2', 'info')], [false, false, true])
  t.same([at(1_000, '3', 'event'), at(3_100, '3', 'info')], [true, true], 'too late for a pair')
  t.end()
})

async function talking(trunk: Trunk, peer: SipPeer) {
  peer.send('INVITE', { callId: 'call-1', headers: [sdpType], body: sdp({ types: '0' }) })
  const { carrierLegId } = await trunk.event('initiated')
  await trunk.line.answer({ legId, carrierLegId }, media)
  const ok = await peer.response(200, 'INVITE')
  peer.send('ACK', { callId: 'call-1', to: ok.to.text })
  await trunk.event('stream_started')
  return ok
}

const relay = 'application/dtmf-relay'
for (const [name, type, body, digits] of [
  ['a relay', relay, 'Signal=5\r\nDuration=160\r\n', '5'],
  ['a relay with spaces', `${relay};charset=utf-8`, 'Signal= #\nDuration= 250\n', '#'],
  ['a relay with a number', 'Application/DTMF-Relay', 'Duration=100\r\nsignal=10\r\n', '*'],
  ['a relay with a letter', relay, 'Signal="d"', 'D'],
  ['a relay of the hook', relay, 'Signal=hf\r\nDuration=160\r\n', ''],
  ['a plain key', 'application/dtmf', '7', '7'],
  ['a plain key with a line break', 'application/dtmf', '*\r\n', '*'],
  ['several plain keys', 'application/dtmf', '12#', '12#'],
  ['a plain key with a name', 'application/dtmf', 'Signal=9\r\n', '9'],
  ['several plain keys with blanks', 'application/dtmf', '1 2 #', '12#'],
  ['a plain key with a duration', 'application/dtmf; charset=utf-8', '5\r\nDuration=160\r\n', '5'],
  ['a plain duration', 'application/dtmf', 'Duration=160\r\n', ''],
  ['a plain flash of the hook', 'application/dtmf', 'flash', ''],
  ['a relay of a duration', relay, 'Duration=160\r\n', ''],
  ['a relay of a signal without an equals sign', relay, 'Signal: 5\r\nDuration=160\r\n', ''],
  ['a relay of an empty signal', relay, 'Signal=\r\nDuration=160\r\n', ''],
  ['a relay without a name', `${relay}; charset=utf-8`, '5\r\n', ''],
  ['a relay of something else', relay, 'abcd\r\n', ''],
  ['no body', '', '', ''],
] as const)
  t.test(`INFO with ${name} is answered with 200, and the keys in its body are reported`, async (t) => {
    const trunk = await openTrunk(t)
    const peer = await trunk.peer()
    const ok = await talking(trunk, peer)
    const headers = type === '' ? [] : [`Content-Type: ${type}`]
    peer.send('INFO', { callId: 'call-1', to: ok.to.text, cseq: 2, headers, body })
    await peer.response(200, 'INFO')
    peer.send('BYE', { callId: 'call-1', to: ok.to.text, cseq: 3 })
    await trunk.event('hangup')
    t.same(trunk.events.flatMap((event) => (event.type === 'dtmf' ? event.digit : [])).join(''), digits)
    t.match(ok.headers.find(([header]) => header === 'allow')?.[1], /INFO/)
  })

t.test('INFO with an unsupported body is refused, and the response lists the accepted types', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  const ok = await talking(trunk, peer)
  const headers = ['Content-Type: application/media_control+xml']
  peer.send('INFO', { callId: 'call-1', to: ok.to.text, cseq: 2, headers, body: '<media_control/>' })
  const refused = await peer.response(415, 'INFO')
  t.match(refused.headers.find(([header]) => header === 'accept')?.[1], 'application/dtmf-relay')
  t.notOk(trunk.types().includes('dtmf'))
  const stranger = { callId: 'call-1', to: '<sip:x@127.0.0.1>;tag=unknown', cseq: 3 }
  peer.send('INFO', { ...stranger, headers: ['Content-Type: application/dtmf'], body: '1' })
  await peer.response(481, 'INFO')
})
