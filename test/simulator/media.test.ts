/** Tests the simulated carrier's media socket, with recorded voices in both directions. */
import t from 'tap'
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

const voice = recordingOf('tt-weasels')
const greeting = recordingOf('please-try-call-later')

/** Records the audio that remote parties receive. */
function listener() {
  const samples = new Map<string, number[]>()
  const received = (number: string, frame: Int16Array | null, rateHz: number) => {
    const kept = samples.get(number) ?? []
    samples.set(number, kept)
    kept.push(...(frame ?? new Int16Array(rateHz / 50)))
  }
  return { received, of: (number: string) => Int16Array.from(samples.get(number) ?? []) }
}

async function call(world: World, digits: string, encoding: 'PCMU' | 'PCMA' | 'L16' = 'PCMU'): Promise<Stream> {
  await world.dial(far(digits), streamFields(world, encoding))
  await world.clock.advance(1000)
  return world.stream()
}

/** Resolves once the stream has received the frames for the passed time. */
async function play(world: World, stream: Stream, ms: number): Promise<void> {
  const count = stream.of('media').length + Math.floor(ms / 20) - 2
  await world.clock.advance(ms)
  await until(() => stream.of('media').length >= count)
}

for (const encoding of ['PCMU', 'PCMA', 'L16'] as const) {
  t.test(`in the simulator audio is sent both ways in ${encoding}, in frames of 20 ms`, async (t) => {
    const farAudio = listener()
    const world = await startWorld(t, { received: farAudio.received })
    const stream = await call(world, '0006', encoding)
    t.match(stream.frames.slice(0, 2), [
      { event: 'connected', version: '1.0.0' },
      { event: 'start', sequence_number: '1', start: { from: agentNumber, to: far('0006') } },
    ])
    t.same(stream.format, { encoding, sampleRateHz: encoding === 'L16' ? 16_000 : 8000 })
    await play(world, stream, 4000)
    const chunks = stream.of('media').map(({ media }) => Number(media?.chunk))
    t.same(
      chunks,
      [...chunks.keys()].map((at) => at + 1),
    )
    const sent = encoding === 'L16' ? stream.audio().filter((_, at) => at % 2 === 0) : stream.audio()
    t.ok(likenessOf(greeting.samples, sent) > 0.95)

    const doubled = Int16Array.from({ length: voice.samples.length * 2 }, (_, at) => voice.samples[at >> 1] as number)
    stream.sendAudio(encoding === 'L16' ? doubled : voice.samples)
    stream.send({ event: 'mark', mark: { name: 'end' } })
    await settledMark(world, stream)
    const arrived = farAudio.of(far('0006'))
    t.ok(likenessOf(encoding === 'L16' ? doubled : voice.samples, arrived) > 0.95)
  })
}

t.test('a mark returns when the audio before it has been played, or at once if there is no audio', async (t) => {
  const world = await startWorld(t)
  const stream = await call(world, '0011')
  stream.send({ event: 'mark', mark: { name: 'idle' } })
  await until(() => stream.of('mark').length === 1)
  stream.sendAudio(new Int16Array(8000))
  stream.send({ event: 'mark', mark: { name: 'second' } })
  stream.send({ event: 'mark', mark: { name: 0 } })
  await until(() => stream.of('error').length === 1)
  t.match(stream.of('error'), [{ payload: { code: 100_003, title: 'malformed_frame' } }])
  await play(world, stream, 960)
  t.equal(stream.of('mark').length, 1)
  await world.clock.advance(60)
  await until(() => stream.of('mark').length === 2)
  t.match(stream.of('mark'), [{ mark: { name: 'idle' } }, { mark: { name: 'second' } }])
})

t.test('the message `clear` stops the audio and returns all waiting marks', async (t) => {
  const farAudio = listener()
  const world = await startWorld(t, { received: farAudio.received })
  const stream = await call(world, '0011')
  stream.sendAudio(voice.samples)
  stream.send({ event: 'mark', mark: { name: 'one' } })
  stream.sendAudio(voice.samples)
  stream.send({ event: 'mark', mark: { name: 'two' } })
  stream.send({ event: 'clear' })
  await until(() => stream.of('mark').length === 2)
  t.match(stream.of('mark'), [{ mark: { name: 'one' } }, { mark: { name: 'two' } }])
  await play(world, stream, 1000)
  t.notOk(farAudio.of(far('0011')).some((sample) => sample !== 0))
})

t.test('frames without audio are refused, and the call goes on', async (t) => {
  const world = await startWorld(t)
  const stream = await call(world, '0011')
  stream.sendRaw('no json')
  stream.sendRaw(Buffer.from([1, 2]))
  stream.send({ event: 'media', media: { payload: '' } })
  stream.send({ event: 'dance' })
  await until(() => stream.of('error').length === 4)
  t.same(
    stream.of('error').map(({ payload }) => (payload as { code: number }).code),
    [100_003, 100_002, 100_004, 100_003],
  )
  for (let i = 0; i < 40; i++) stream.sendAudio(new Int16Array(8000 * 30))
  await until(() => stream.of('error').length > 4, 20_000)
  t.match(stream.of('error').at(-1), { payload: { code: 100_005, title: 'rate_limit_reached' } })
  await play(world, stream, 200)
})

t.test('without `stream_bidirectional_mode: rtp` the remote party receives no audio', async (t) => {
  const world = await startWorld(t)
  await world.dial(far('0011'), { stream_url: world.streamUrl })
  await world.clock.advance(1000)
  const stream = await world.stream()
  stream.sendAudio(voice.samples.subarray(0, 160))
  await until(() => stream.of('error').length === 1)
  t.match(stream.of('error'), [{ payload: { code: 100_004 } }])
})

t.test('a simulated person replies at pauses and hangs up on "goodbye"', async (t) => {
  const said: string[] = []
  const words = ['How can I help?', 'Thank you, goodbye!']
  const world = await startWorld(t, {
    speak: (text) => Promise.resolve(text === 'Goodbye.' ? recordingOf('conf-noempty') : greeting),
    recognize: (speech) => {
      said.push(`${Math.round(speech.samples.length / speech.sampleRateHz)} s`)
      return Promise.resolve(words.shift() ?? '')
    },
  })
  const id = world.simulator.call({ from: far('0006'), to: agentNumber, lines: ['Yes?'] })
  await world.act(id, 'answer', streamFields(world))
  const stream = await world.stream()
  stream.sendAudio(voice.samples)
  await play(world, stream, 3000)
  t.notOk(likenessOf(greeting.samples, stream.audio()) > 0.5, 'nothing before the pause')
  await play(world, stream, 5000)
  t.ok(likenessOf(greeting.samples, stream.audio()) > 0.95)
  stream.sendAudio(voice.samples)
  for (let i = 0; world.simulator.callsCount > 0 && i < 200; i++) await world.clock.advance(100)
  t.match((await world.event('call.hangup')).payload, { hangup_source: 'caller', hangup_cause: 'normal_clearing' })
  t.ok(likenessOf(recordingOf('conf-noempty').samples, stream.audio()) > 0.95, 'it says goodbye first')
  t.equal(said.length, 2)
  await until(() => stream.of('stop').length === 1 && stream.isClosed)
})

t.test(
  "if a simulated person says goodbye first, the person hangs up after the agent's reply, or after a time limit",
  async (t) => {
    for (const replies of [true, false]) {
      const world = await startWorld(t, { speak: () => Promise.resolve(greeting) })
      const id = world.simulator.call({ from: far('0006'), to: agentNumber, lines: ['Thank you, goodbye.'] })
      await world.act(id, 'answer', streamFields(world))
      const stream = await world.stream()
      stream.sendAudio(voice.samples)
      await play(world, stream, 9000)
      t.ok(likenessOf(greeting.samples, stream.audio()) > 0.95)
      t.equal(world.simulator.callsCount, 1, 'it waits for a reply')
      if (replies) stream.sendAudio(voice.samples)
      for (let i = 0; world.simulator.callsCount > 0 && i < 200; i++) await world.clock.advance(100)
      t.match((await world.event('call.hangup')).payload, { hangup_source: 'caller', hangup_cause: 'normal_clearing' })
    }
  },
)

t.test(
  'a simulated person with slow recognition does not ask whether anybody is there, and does not talk over a sentence',
  async (t) => {
    let recognized: (words: string) => void = () => {}
    const asks = recordingOf('conf-noempty')
    const world = await startWorld(t, {
      speak: (text) => Promise.resolve(text === 'Hello? Are you there?' ? asks : greeting),
      recognize: () =>
        new Promise<string>((resolve) => {
          recognized = resolve
        }),
    })
    const id = world.simulator.call({ from: far('0006'), to: agentNumber })
    await world.act(id, 'answer', streamFields(world))
    const stream = await world.stream()
    stream.sendAudio(voice.samples)
    await play(world, stream, 5500)
    t.notOk(likenessOf(asks.samples, stream.audio()) > 0.5)
    stream.sendAudio(voice.samples)
    await until(() => stream.of('media').length > 0)
    await play(world, stream, 1000)
    recognized('the words of the first sentence')
    await play(world, stream, 1500)
    t.notOk(
      stream.audio().some((sample) => Math.abs(sample) > 1000),
      'it lets the other party finish',
    )
    await play(world, stream, 3000)
    recognized('the words of the second one')
    await play(world, stream, 4000)
    t.ok(likenessOf(greeting.samples, stream.audio()) > 0.95)
  },
)

t.test("a simulated person who talked over the agent's only pause asks whether anybody is there", async (t) => {
  const [hello, asks, line] = [recordingOf('privacy-prompt'), recordingOf('conf-noempty'), greeting]
  const speak = (text: string) =>
    Promise.resolve(text === 'Hello there.' ? hello : text === 'Hello? Are you there?' ? asks : line)
  const world = await startWorld(t, { speak })
  const stream = await call(world, '0006')
  const plays = async (ms: number) => {
    for (let played = 0; played < ms; played += 100) await play(world, stream, 100)
  }
  // The person begins to speak half a second after the answer, and until then the agent says one word.
  await plays(600)
  stream.sendAudio(voice.samples.subarray(2000, 6000))
  await plays(5000)
  t.ok(likenessOf(hello.samples, stream.audio()) > 0.95)
  t.notOk(likenessOf(asks.samples, stream.audio()) > 0.5, 'the agent may still go on')
  await plays(5000)
  t.ok(likenessOf(asks.samples, stream.audio()) > 0.95)
  stream.sendAudio(voice.samples)
  await plays(7000)
  t.ok(likenessOf(line.samples, stream.audio()) > 0.95, 'the conversation goes on')
})

t.test('the person …0012 does not receive our audio, and asks whether anybody is there', async (t) => {
  const said: string[] = []
  const speak = (text: string) => {
    said.push(text)
    return Promise.resolve(greeting)
  }
  const world = await startWorld(t, { speak })
  const stream = await call(world, '0012')
  await play(world, stream, 3000)
  const before = stream.audio().length
  stream.sendAudio(voice.samples)
  await play(world, stream, 5000)
  t.ok(likenessOf(greeting.samples, stream.audio().subarray(before)) > 0.95)
  t.ok(said.includes('Hello? Are you there?'))
})

t.test('the phone …0011 says nothing, …0008 greets and beeps, and …0009 only greets', async (t) => {
  for (const [digits, greets, beeps] of [
    ['0011', false, false],
    ['0008', true, true],
    ['0009', true, false],
  ] as const) {
    const world = await startWorld(t)
    const stream = await call(world, digits)
    await play(world, stream, 5000)
    const tone = Int16Array.from({ length: 3200 }, (_, at) => 12_000 * Math.sin((Math.PI * at) / 4))
    t.equal(likenessOf(greeting.samples, stream.audio()) > 0.95, greets, `${digits} greets`)
    t.equal(likenessOf(tone, stream.audio()) > 0.9, beeps, `${digits} beeps`)
  }
})

t.test('a simulated person who is asked to accept a call accepts or declines by voice, or says nothing', async (t) => {
  for (const [digits, answer] of [
    ['0015', 'Yes, please put them through.'],
    ['0016', 'No, I cannot take the call now.'],
    ['0019', null],
  ] as const) {
    const speak = (text: string) =>
      Promise.resolve(text === answer ? recordingOf('conf-noempty') : recordingOf('please-try-call-later'))
    const world = await startWorld(t, { speak })
    const stream = await call(world, digits)
    await play(world, stream, 4000)
    t.notOk(likenessOf(recordingOf('conf-noempty').samples, stream.audio()) > 0.9)
    stream.sendAudio(voice.samples)
    await until(() => stream.of('media').length > 0)
    await play(world, stream, 9000)
    t.equal(likenessOf(recordingOf('conf-noempty').samples, stream.audio()) > 0.95, answer !== null, digits)
  }
})

t.test('a bridge connects the remote parties, and our streams are no longer played to them', async (t) => {
  const farAudio = listener()
  const world = await startWorld(t, { received: farAudio.received })
  const silent = await world.dial(far('0011'), streamFields(world))
  const menu = await world.dial(far('0010'))
  await world.clock.advance(1000)
  const stream = await world.stream()
  await world.event('call.answered', 2)
  await world.act(silent, 'bridge', { call_control_id: menu })
  await world.event('call.bridged', 2)
  stream.sendAudio(voice.samples)
  stream.send({ event: 'mark', mark: { name: 'dropped' } })
  await play(world, stream, 5000)
  t.ok(likenessOf(greeting.samples, farAudio.of(far('0011'))) > 0.95, 'the voice of the other far end')
  t.ok(likenessOf(voice.samples, farAudio.of(far('0011'))) < 0.5)
  await until(() => stream.of('mark').length === 1)
})

t.test('audio streaming starts and stops by command, and a refused media socket is reported', async (t) => {
  const world = await startWorld(t)
  const id = await world.dial(far('0011'), streamFields(world))
  await world.clock.advance(1000)
  const stream = await world.stream()
  await world.event('streaming.started')
  t.equal((await world.act(id, 'streaming_start', streamFields(world))).status, 422)
  await world.act(id, 'streaming_stop')
  await world.event('streaming.stopped')
  await until(() => stream.isClosed && stream.of('stop').length === 1)
  await world.act(id, 'streaming_start', streamFields(world))
  const second = await world.stream(2)
  await play(world, second, 200)
  second.close()
  await world.event('streaming.stopped', 2)
  await world.act(id, 'streaming_start', {
    ...streamFields(world),
    stream_url: `${world.streamUrl}`.replace('media', 'x'),
  })
  t.match((await world.event('streaming.failed')).payload, { failure_reason: 'connection_failed' })
})
