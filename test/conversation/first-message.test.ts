/** The called person greets, and the agent says its first message all the same. */
import t from 'tap'
import { converse, type Options } from './setup.ts'

const firstMessage = 'This is the bicycle shop and your bicycle is ready.'
const calls = { kind: 'outbound', settings: { firstMessage, firstMessageMode: 'message' } } as const satisfies Options

/** Starts a call whose person speaks after `ms`. Returns the texts of the turns up to the agent's answer. */
async function answered(words: string, ms: number, options: Options = calls) {
  const { sim, texts, record, requests } = converse({ answerOf: () => 'You are welcome.', ...options })
  await sim.run(ms)
  sim.say(words)
  await sim.until(() => record.turns.at(-2)?.source === 'user')
  return { texts: texts(), requests: requests.length }
}

t.test('a greeting at the beginning of an outgoing call is answered with the first message', async (t) => {
  for (const ms of [0, 100, 300, 600]) {
    const { texts, requests } = await answered('hello there.', ms)
    t.same(texts.slice(-2), ['user: hello there.', `agent: ${firstMessage}`], `a greeting after ${ms} ms`)
    t.equal(requests, 0, 'the LLM is not asked')
  }
})

t.test('a second greeting goes to the LLM', async (t) => {
  const { sim, texts, record } = converse({ answerOf: () => 'You are welcome.', ...calls })
  sim.say('hello there.')
  await sim.until(() => record.turns.length >= 2)
  sim.say('hello again.')
  await sim.until(() => record.turns.at(-2)?.text === 'hello again.')
  t.equal(texts().at(-1), 'agent: You are welcome.')
})

const others: [title: string, words: string, ms: number, options: Options][] = [
  ['words that are more than a greeting', 'i have no time today.', 0, calls],
  ['a person who has heard most of the first message', 'thank you.', 3_000, calls],
  ['an incoming call', 'hello there.', 0, { ...calls, kind: 'inbound' }],
  ['a conversation in a browser', 'hello there.', 0, { ...calls, kind: 'browser' }],
  ['an agent that listens first', 'hello there.', 0, { ...calls, settings: { firstMessage } }],
]
for (const [title, words, ms, options] of others)
  t.test(`the LLM answers ${title}`, async (t) => {
    const { texts } = await answered(words, ms, options)
    t.equal(texts.at(-1), 'agent: You are welcome.')
  })
