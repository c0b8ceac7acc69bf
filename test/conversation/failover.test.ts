import t from 'tap'
import { failure } from '../domain/fakes.ts'
import { converse } from './setup.ts'

const failovers = (events: ReturnType<typeof converse>['record']['events']) =>
  events.filter(({ type }) => type === 'agent.failover').map(({ payload }) => payload)

t.test('if an LLM fails, the next LLM answers in the same turn', async (t) => {
  const { sim, record, broken } = converse({ providers: 2, answerOf: () => 'Here I am.' })
  broken.llm.add('p')
  sim.say('are you there.')
  await sim.until(() => record.turns.length === 2)
  t.match(record.turns[1], { playedText: 'Here I am.', provider: 'q', latencyStatus: 'complete' })
  t.match(failovers(record.events), [{ stage: 'llm', to: 'q/m', failovers: 1 }])
})

t.test('if a voice fails before its first audio, the next voice speaks in this and all later turns', async (t) => {
  const { sim, record, broken } = converse({ providers: 2, answerOf: () => 'Here I am.' })
  sim.say('are you there.')
  await sim.until(() => record.turns.length === 2)
  t.equal(record.turns[1]?.metadata['ttsProvider'], 'p')
  broken.tts.add('p')
  sim.say('and now.')
  await sim.until(() => record.turns.length === 4)
  t.match(record.turns[3], { playedText: 'Here I am.', metadata: { ttsProvider: 'q' } })
  broken.tts.clear()
  sim.say('once more.')
  await sim.until(() => record.turns.length === 6)
  t.equal(record.turns[5]?.metadata['ttsProvider'], 'q', 'the voice does not change back')
  t.match(failovers(record.events), [{ stage: 'tts', from: 'p/m', to: 'q/m' }])
})

t.test('the voice that replaces a failed voice has the same gender, and speaks all later turns', async (t) => {
  const voice = (id: string, gender: 'female' | 'male') => ({ id, name: id, gender, styles: [] })
  const voices = { p: [voice('anna', 'female')], q: [voice('bert', 'male'), voice('carla', 'female')] }
  const ask = async ({ sim, record }: ReturnType<typeof converse>) => {
    const before = record.turns.length
    sim.say('are you there.')
    await sim.until(() => record.turns.length === before + 2)
    await sim.run(300)
  }
  const later = converse({ providers: 2, voices })
  await ask(later)
  later.broken.tts.add('p')
  await ask(later)
  await ask(later)
  t.same(later.spoken, ['p default', 'p default', 'q carla', 'q carla'])
  const atOnce = converse({ providers: 2, voices })
  atOnce.broken.tts.add('p')
  await ask(atOnce)
  await ask(atOnce)
  t.same(atOnce.spoken, ['p default', 'q carla', 'q carla'])
})

t.test('if a voice fails inside a sentence, the whole sentence is spoken again', async (t) => {
  const { sim, record } = converse({
    providers: 2,
    breaksOff: (sentence, chunk) => sentence.includes('very') && chunk === 40,
    answerOf: () => 'First we look. Then we take one more very long look at everything. And that is all.',
  })
  sim.say('are you there.')
  await sim.until(() => record.turns.length === 2)
  const words = 'First we look. Then we take one more very long look at everything. And that is all.'
  t.equal(record.turns[1]?.text, words)
  t.ok(sim.agentWords.endsWith('everything. And that is all.'), sim.agentWords)
  t.match(failovers(record.events).at(-1), { stage: 'tts', from: 'p/m', to: 'q/m' })
})

t.test('if speech to text breaks, the next provider continues, and no word is recorded twice', async (t) => {
  const { sim, record, streams } = converse({ providers: 2 })
  sim.say('one two three four five six.')
  await sim.run(900)
  streams.at(-1)?.fail(failure('server'))
  await sim.until(() => record.turns.length === 2)
  t.equal(record.turns[0]?.text, 'one two three four five six.')
})

t.test('an error in one conversation ends only this conversation', async (t) => {
  const { sim, record, over } = converse({
    answerOf: () => 'Fine.',
    tools: [],
    recorder: () => ({
      caller: {
        write: () => {
          throw new Error('a defect')
        },
        restart: () => {},
      },
      agent: { write: () => {}, restart: () => {} },
      endsAs: 'ready' as const,
      joiner: () => ({ write: () => {}, restart: () => {} }),
      close: () => Promise.resolve(0),
    }),
  })
  sim.say('hello there.')
  await sim.until(() => over.ended)
  t.same(sim.closed, { reason: 'pipeline_failed', fault: 'internal' })
  t.same(record.ended, ['pipeline_failed'])
})
