/** People have joined a conversation: who receives which audio, how the agent acts, and the recording. */
import t from 'tap'
import { Recorder } from '../../domain/conversation/hearing/recorder.ts'
import type { ConversationDeps } from '../../domain/conversation/parts/deps.ts'
import { guardedDeps } from '../../domain/conversation/parts/guarded.ts'
import type { Paced, Pacer } from '../../domain/conversation/parts/pacer.ts'
import { JoinedPeople, type JoinedPeopleDeps } from '../../domain/conversation/people/joined-people.ts'
import { Fault } from '../../domain/records/fault.ts'
import { likenessOf } from '../audio/likeness.ts'
import { newCall } from '../calls/call.ts'
import { bench, failure } from '../domain/fakes.ts'
import { speechAt } from '../speech/samples.ts'
import { rateHz } from './caller.ts'
import { memoryFile, setup, silentLog } from './joined-call.ts'
import { SimulatedPerson, wordsIn } from './joined-person.ts'
import { pipeline } from './setup.ts'

const maria = { identity: 'join_1', displayName: 'Maria' }
const noName = { identity: 'join_2', displayName: null }

t.test('the caller and two joined people receive each other but not themselves, and are recorded', async (t) => {
  const file = memoryFile()
  const all = setup({
    recorder: (clock) => new Recorder({ file, peaks: memoryFile(), clock, log: silentLog, endsAs: 'ready' }),
  })
  const [first, second] = [all.join(maria), all.join(noName)]
  const voices = {
    caller: await speechAt('tt-weasels', rateHz),
    first: await speechAt('privacy-prompt', rateHz),
    second: await speechAt('please-try-call-later', rateHz),
  }
  await all.run(500)
  all.sim.speak(voices.caller)
  await all.run(voices.caller.length / 16 + 300)
  first.speak(voices.first)
  await all.run(voices.first.length / 16 + 300)
  second.speak(voices.second)
  await all.run(voices.second.length / 16 + 300)
  const received = { caller: all.toCaller(), first: first.received(), second: second.received() }
  const loudnessOf = (of: keyof typeof voices, to: keyof typeof received) => likenessOf(voices[of], received[to])
  for (const [of, to] of [
    ['caller', 'first'],
    ['caller', 'second'],
    ['first', 'caller'],
    ['first', 'second'],
    ['second', 'caller'],
    ['second', 'first'],
  ] as const)
    t.ok(loudnessOf(of, to) > 0.99, `the ${to} receives the ${of}: ${loudnessOf(of, to).toFixed(3)}`)
  for (const of of ['caller', 'first', 'second'] as const)
    t.ok(loudnessOf(of, of) < 0.3, `the ${of} is not sent back: ${loudnessOf(of, of).toFixed(3)}`)
  all.conversation.end('api_ended')
  await all.run(500)
  t.same([first.closed, second.closed], ['api_ended', 'api_ended'])
  const [left, right] = [file.side(0), file.side(1)]
  t.ok(likenessOf(voices.caller, left) > 0.99)
  t.ok(likenessOf(voices.first, right) > 0.99)
  t.ok(likenessOf(voices.second, right) > 0.99)
  t.ok(likenessOf(voices.first, left) < 0.3)
})

t.test("the agent is silent from a joined person's first audio until the last person has left", async (t) => {
  const all = setup({ answerOf: () => 'Our office opens at nine in the morning on all days.' })
  const { sim, requests, record } = all
  sim.say('when do you open')
  await all.until(() => sim.agentWords.includes('office'))
  const person = all.join(maria)
  await all.until(() => sim.agentWords.includes('nine'))
  t.equal(
    wordsIn(person.received(), 'agent').includes('at nine'),
    true,
    'who only listens receives the agent, which goes on',
  )
  person.say('let me help you')
  await all.run(300)
  const words = sim.agentWords
  await all.run(2000)
  t.equal(sim.agentWords, words, 'the agent is silent')
  t.equal(requests.length, 1)
  await all.until(() => record.turns.some(({ text }) => text === 'let me help you'))
  sim.say('i want two rooms')
  await all.until(() => record.turns.some(({ text }) => text === 'i want two rooms'))
  await all.run(3000)
  t.equal(requests.length, 1, 'the caller is not answered by the agent')
  sim.say('')
  all.conversation.userMessage('please')
  await all.run(1000)
  t.equal(requests.length, 1, 'the LLM is not asked for typed words either')
  person.leave()
  t.equal(person.closed, 'user_hangup')
  await all.run(500)
  sim.say('are you there')
  await all.until(() => requests.length === 2)
  await all.until(() => record.turns.at(-1)?.source === 'agent')
  t.match(
    requests[1]?.items.slice(1).map((item) => (item.type === 'message' ? `${item.role}: ${item.text}` : item.type)),
    [
      'user: when do you open',
      'system: Maria has joined.',
      /^assistant: Our office/,
      'assistant: let me help you',
      'user: i want two rooms',
      'user: please',
      'system: Maria has left.',
      'user: are you there',
    ],
    'the agent knows what was said',
  )
  const human = record.turns.find(({ text }) => text === 'let me help you')
  t.match(human, {
    source: 'agent',
    playedText: 'let me help you',
    provider: 'p',
    metadata: { identity: 'join_1', displayName: 'Maria', human: true },
  })
  t.match(
    all.texts().filter((text) => text.startsWith('system')),
    ['system: Maria has joined.', 'system: Maria has left.'],
  )
  const types = record.events.filter(({ payload }) => payload['identity'] === 'join_1').map(({ type }) => type)
  t.same(types, ['room.participant_joined', 'room.participant_left'])
  t.match(person.events[0], { type: 'state', state: 'speaking' })
  t.ok(person.events.some((event) => event.type === 'transcript' && event.text === 'i want two rooms'))
  t.ok(sim.events.some((event) => event.type === 'agentMessage' && event.text === 'let me help you' && event.isFinal))
})

t.test('if a person joins before anybody speaks, no first message is spoken and no timer runs', async (t) => {
  const all = setup({
    settings: { silenceTimeoutSeconds: 5, firstMessage: 'Hello and welcome to our shop.', firstMessageMode: 'message' },
  })
  await all.run(300)
  const person = all.join(noName)
  person.say('hello')
  await all.run(20_000)
  t.equal(all.sim.closed, null, 'silence does not end it')
  t.equal(all.sim.agentWords.includes('shop'), false)
  // The agent had begun to speak, but had not finished a word.
  t.match(all.texts(), ['system: A person has joined.', 'agent: ', 'agent: hello'])
  t.match(all.record.turns[1], { text: /^Hello and welcome/, playedText: '', latencyStatus: 'interrupted' })
  person.leave()
  await all.until(() => all.sim.closed !== null, 10_000)
  t.match(all.sim.closed, { reason: 'silence_timeout' })
})

t.test('at the longest duration a call with joined people ends at once, without words of the agent', async (t) => {
  const all = setup({ settings: { maxDurationSeconds: 30, endCallMessage: 'Goodbye then.' } })
  const person = all.join(maria)
  person.say('hello')
  await all.until(() => person.closed !== null, 40_000)
  t.equal(person.closed, 'max_duration')
  t.equal(all.sim.agentWords, '')
})

t.test(
  'if a joined person leaves while speaking, the transcript has all words, even words from before speech was detected',
  async (t) => {
    const all = setup({ coldMs: { vad: 1500 }, turnHandling: { endpointing: { minDelay: 5000, maxDelay: 15_000 } } })
    const person = all.join(maria)
    person.say('let me help you')
    await all.run(1400)
    const isShown = () => all.sim.events.some(({ type }) => type === 'agentMessage')
    t.notOk(isShown(), 'words are not believed before speech is found')
    person.say('with that')
    await all.until(isShown)
    await all.run(700)
    person.leave()
    t.match(all.texts(), ['system: Maria has joined.', 'agent: let me help you with that', 'system: Maria has left.'])
  },
)

t.test('words that are recognized in noise from a joined person are not a turn', async (t) => {
  const all = setup()
  const person = all.join(maria)
  all.broken.vad = true
  person.say('thank you for watching')
  await all.run(3000)
  all.streams.at(-1)?.flush()
  await all.run(500)
  all.broken.vad = false
  person.say('hello')
  await all.until(() => all.texts().length > 1)
  all.broken.vad = true
  await all.run(3000)
  person.say('thank you')
  await all.run(1500)
  person.leave()
  t.match(all.texts(), ['system: Maria has joined.', 'agent: hello', 'system: Maria has left.'])
})

t.test('a joined person may lose the socket for a while, type, and send notes', async (t) => {
  const all = setup()
  const person = all.join(maria)
  const sink = all.conversation.join(maria, person)
  person.join(sink)
  t.equal(all.record.events.filter(({ type }) => type === 'room.participant_reconnected').length, 1)
  sink.userMessage('I type this')
  sink.contextualUpdate('The order is 17.')
  t.match(all.texts(), ['system: Maria has joined.', 'agent: I type this', 'system: The order is 17.'])
  t.equal(sink.toolResult('call_1', 'x', false), false)
  sink.gone()
  await all.run(200)
  person.received()
  await all.run(1000)
  t.equal(person.received().length, 0)
  const again = new SimulatedPerson()
  again.join(all.conversation.join(maria, again))
  await all.run(1000)
  t.ok(again.received().length > rateHz * 0.8)
})

t.test('if a person joins while the call record is completed, the person receives the end of the call', async (t) => {
  const all = setup()
  let stored = () => {}
  all.ended.wait = new Promise<void>((resolve) => {
    stored = resolve
  })
  all.conversation.end('api_ended')
  await all.run(500)
  t.notOk(all.over.ended)
  t.ok(all.conversation.isOver)
  const person = all.join(maria)
  t.equal(person.closed, 'api_ended')
  person.hasMicrophone = true
  await all.run(500)
  t.equal(person.received().length, 0)
  t.notOk(all.record.events.some(({ payload }) => payload['identity'] === 'join_1'))
  stored()
  await all.run(10)
  t.ok(all.over.ended)
})

t.test(
  'if speech to text of a joined person fails, the call goes on, and not every frame opens a new stream',
  async (t) => {
    const all = setup()
    all.sim.say('hello')
    await all.run(1000)
    const [ofCaller] = all.streams
    const person = all.join(maria)
    person.hasMicrophone = true
    await all.until(() => all.streams.length === 2)
    const failsAll = async (ms: number) => {
      for (let at = 0; at < ms; at += 100) {
        for (const stream of all.streams) if (stream !== ofCaller && !stream.isClosed) stream.fail(failure('server'))
        await all.run(100)
      }
    }
    await failsAll(15_000)
    const warning = all.logs.find(({ message }) => message.includes('a person who has joined'))
    t.equal(warning?.level, 'warn')
    const opened = all.streams.length
    await failsAll(5000)
    t.equal(all.streams.length, opened, 'no further stream is opened')
    t.equal(all.sim.closed, null)
    t.equal(person.closed, null)
    all.sim.say('are you there')
    await all.until(() => all.record.turns.some(({ text }) => text === 'are you there'))
    t.equal(all.logs.filter(({ message }) => message.includes('a person who has joined')).length, 1)
  },
)

t.test('if the credit runs out while a joined person is recognized, the conversation is notified', async (t) => {
  const { clock, deps } = bench([])
  const lost: string[] = []
  const transcribeStream: ConversationDeps['transcribeStream'] = (_input, sink) => {
    clock.after(0, () => sink.failed(new Fault({ kind: 'credit_exhausted' })))
    return { audio() {}, flush() {}, leave() {}, end() {} }
  }
  const vad = { open: () => ({ push() {}, close() {} }) }
  const input = { call: newCall('org_1', { pipeline }), routing: {}, request: () => ({}), recorder: null }
  const pacer = { add() {}, delete() {} }
  const parts = {
    clock,
    log: deps.log,
    vad,
    transcribeStream,
    input,
    pacer,
    callLog: { event() {} },
    sampleRateHz: rateHz,
    record: { failedOver() {} },
    turns: { note() {} },
    note() {},
    events: { stageLost: ({ kind }: Fault) => void lost.push(kind) },
  }
  const ignore = () => {}
  const people = new JoinedPeople(parts as unknown as JoinedPeopleDeps, { changed: ignore, agentIsMuted: ignore })
  const sink = people.join(maria, new SimulatedPerson())
  for (let at = 0; at < 10; at++) {
    sink.audio(new Int16Array(rateHz / 50))
    await clock.advance(20)
  }
  t.same(lost, ['credit_exhausted'])
})

t.test('a joined person who has left is not kept in memory', (t) => {
  const kept = new Set<Paced>()
  const pacer: Pacer = { add: (member) => void kept.add(member), delete: (member) => void kept.delete(member) }
  const guarded = guardedDeps({ pacer } as ConversationDeps, (error) => t.fail(String(error)))
  const member: Paced = { place: -1, pace: () => {} }
  guarded.pacer.add(member)
  const [first] = kept
  guarded.pacer.add(member)
  t.equal(kept.size, 1)
  guarded.pacer.delete(member)
  t.equal(kept.size, 0)
  guarded.pacer.add(member)
  t.notOk(kept.has(first as Paced), 'nothing of the first connection is kept')
  t.end()
})
