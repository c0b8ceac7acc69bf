/**
 * Tests each phone number in docs/simulator.md as a caller: its actions after the answer, with real audio. Uses a test
 * clock.
 */
import t, { type Test } from 'tap'
import { likenessOf } from '../audio/likeness.ts'
import { until } from '../http/harness.ts'
import {
  agentNumber,
  far,
  recordingOf,
  type Stream,
  settledMark,
  startWorld,
  streamFields,
  type World,
} from './setup.ts'

const ours = recordingOf('tt-weasels')
/** The voices for the expected first text, for the expected reply, and for all other texts. */
const voices = {
  first: recordingOf('conf-noempty'),
  reply: recordingOf('cannot-complete-as-dialed'),
  other: recordingOf('please-try-call-later'),
}
const loudLeast = 1000

const hello = 'Hello there.'
const question = 'I have a question about your opening hours.'
const mailbox =
  'Hi, you have reached the voicemail of Sam. I cannot take your call right now. Please leave your name and your number after the tone.'
const menu = 'Welcome to the example company. For sales, press one. For support, press two.'
const whoCalls =
  'Hi, the person you are calling is using a screening service. Please say your name and why you are calling.'

type Texts = { first: string | null; reply: string | null }

const rows: [digits: string, texts: Texts][] = [
  // These numbers have a special behaviour only as the called party, so as callers they do not differ.
  ...['0001', '0002', '0003', '0004', '0005', '0006', '0007', '0013', '0014', '0024', '0999'].map(
    (digits): [string, Texts] => [digits, { first: null, reply: question }],
  ),
  ['0008', { first: mailbox, reply: null }],
  ['0009', { first: mailbox, reply: null }],
  ['0010', { first: menu, reply: null }],
  ['0011', { first: null, reply: null }],
  ['0012', { first: null, reply: 'Hello? Are you there?' }],
  ['0015', { first: hello, reply: 'Yes, please put them through.' }],
  ['0016', { first: hello, reply: 'No, I cannot take the call now.' }],
  ['0017', { first: hello, reply: null }],
  ['0018', { first: hello, reply: null }],
  ['0019', { first: hello, reply: null }],
  ['0020', { first: hello, reply: question }],
  ['0025', { first: whoCalls, reply: 'Thank you. Please stay on the line.' }],
  ['0026', { first: hello, reply: null }],
  ['0027', { first: hello, reply: null }],
]

/** Resolves once the stream has received the frames for the passed time. */
async function play(world: World, stream: Stream, ms: number): Promise<void> {
  const count = stream.of('media').length + Math.floor(ms / 20) - 2
  await world.clock.advance(ms)
  await until(() => stream.of('media').length >= count)
}

/** Speaks our words. Resolves once the remote party has received them. */
async function say(world: World, stream: Stream): Promise<void> {
  stream.sendAudio(ours.samples)
  stream.send({ event: 'mark', mark: { name: 'said' } })
  await settledMark(world, stream)
}

async function answered(t: Test, digits: string, texts: Texts = { first: null, reply: null }) {
  const speak = (text: string) => {
    if (text === texts.first) return Promise.resolve(voices.first)
    return Promise.resolve(text === texts.reply ? voices.reply : voices.other)
  }
  const world = await startWorld(t, { speak })
  const id = world.simulator.call({ from: far(digits), to: agentNumber })
  t.equal((await world.act(id, 'answer', streamFields(world))).status, 200)
  return { world, id, stream: await world.stream() }
}

for (const [digits, texts] of rows)
  t.test(
    `caller …${digits} says ${texts.first ?? 'nothing'} first, and replies ${texts.reply ?? 'nothing'}`,
    async (t) => {
      const { world, stream } = await answered(t, digits, texts)
      await play(world, stream, 4500)
      const begun = stream.audio()
      if (texts.first === null) t.notOk(begun.some((sample) => Math.abs(sample) > loudLeast))
      else t.ok(likenessOf(voices.first.samples, begun) > 0.9)
      await say(world, stream)
      await play(world, stream, 12_000)
      t.equal(likenessOf(voices.reply.samples, stream.audio()) > 0.9, texts.reply !== null)
      t.equal(likenessOf(voices.other.samples, stream.audio()) > 0.9, false, 'and nothing else')
    },
  )

t.test('simulated callers …0017 and …0018 press a key, and …0010 sends received keys back', async (t) => {
  for (const [digits, key] of [
    ['0017', '1'],
    ['0018', '2'],
  ] as const) {
    const { world, stream } = await answered(t, digits)
    await play(world, stream, 4000)
    await say(world, stream)
    await play(world, stream, 8000)
    t.match((await world.event('call.dtmf.received')).payload, { digit: key })
  }
  const { world, id, stream } = await answered(t, '0010', { first: menu, reply: 'You pressed one, two.' })
  await play(world, stream, 4000)
  await world.act(id, 'send_dtmf', { digits: '12' })
  await play(world, stream, 8000)
  t.ok(likenessOf(voices.reply.samples, stream.audio()) > 0.9)
})

t.test('simulated callers …0021 and …0022 hang up 1 s and 3 s after the answer, …0022 without a webhook', async (t) => {
  const leaves = await answered(t, '0021')
  await leaves.world.clock.advance(999)
  t.equal(leaves.world.simulator.callsCount, 1)
  await leaves.world.clock.advance(1)
  t.match((await leaves.world.event('call.hangup')).payload, { hangup_source: 'caller' })
  const vanishes = await answered(t, '0022')
  await vanishes.world.event('streaming.started')
  await vanishes.world.clock.advance(3000)
  await vanishes.world.event('streaming.stopped')
  t.match((await vanishes.world.ask('GET', `/calls/${vanishes.id}`)).body.data, { is_alive: false })
  t.notOk(vanishes.world.types().includes('call.hangup'))
})

t.test('simulated caller …0020 hangs up 2 s after the bridge', async (t) => {
  const { world, id } = await answered(t, '0020')
  const other = await world.dial(far('0011'))
  await world.clock.advance(1000)
  await world.event('call.answered', 2)
  await world.act(id, 'bridge', { call_control_id: other })
  await world.clock.advance(1980)
  t.equal(world.simulator.callsCount, 2)
  await world.clock.advance(40)
  t.match((await world.event('call.hangup', 2)).payload, { hangup_cause: 'normal_clearing' })
  t.equal(world.simulator.callsCount, 0)
})

t.test('webhooks of the simulated caller …0023 are sent twice and 5 s late', async (t) => {
  const world = await startWorld(t)
  world.simulator.call({ from: far('0023'), to: agentNumber })
  await world.clock.advance(4999)
  t.same(world.events, [])
  await world.clock.advance(8000)
  await world.event('call.initiated', 2)
})
