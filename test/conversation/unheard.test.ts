/** Speech is detected, but no word is recognized: the agent greets, or asks again, and does not stay silent. */
import t from 'tap'
import { greetingHint } from '../../domain/conversation/turns/session-timers.ts'
import { unheardHint } from '../../domain/conversation/turns/unheard.ts'
import { converse, type Options } from './setup.ts'

/**
 * The LLM's answers: a greeting or a request to repeat if the conversation's note to the LLM asks for it, otherwise an
 * echo.
 */
const answerOf: Options['answerOf'] = (said) =>
  said === greetingHint ? 'Hello, who is there?' : said === unheardHint ? 'Say that again please.' : `You said ${said}`

t.test('an agent that listens first greets a caller whose words were not understood', async (t) => {
  for (const ms of [250, 600, 2000]) {
    const { sim, texts, record } = converse({ answerOf })
    sim.noise(ms)
    await sim.until(() => record.turns.length === 1)
    t.same(texts(), ['agent: Hello, who is there?'], `after ${ms} ms of speech`)
    t.ok(sim.nowMs < ms + 6_000, `the greeting was over at ${sim.nowMs} ms`)
  }
})

t.test('an agent that listens first says its first message to a caller whose words were not understood', async (t) => {
  const { sim, texts, record } = converse({ answerOf, settings: { firstMessage: 'This is Acme.' } })
  sim.noise(500)
  await sim.until(() => record.turns.length === 1)
  t.same(texts(), ['agent: This is Acme.'])
})

t.test('after speech without words the agent asks the caller to repeat, but not twice in a row', async (t) => {
  const { sim, texts, record } = converse({ answerOf })
  sim.say('hello there.')
  await sim.until(() => record.turns.length === 2)
  await sim.run(500)
  sim.noise(900)
  await sim.until(() => record.turns.length === 3)
  await sim.run(500)
  sim.noise(900)
  await sim.run(8_000)
  const first = ['user: hello there.', 'agent: You said hello there.', 'agent: Say that again please.']
  t.same(texts(), first, 'not twice in a row')
  sim.say('good day.')
  await sim.until(() => record.turns.length === 5)
  await sim.run(500)
  sim.noise(900)
  await sim.until(() => record.turns.length === 6)
  t.same(texts().slice(3), ['user: good day.', 'agent: You said good day.', 'agent: Say that again please.'])
})

t.test('after a cough between turns the agent does not ask the caller to repeat', async (t) => {
  const { sim, texts, record } = converse({ answerOf })
  sim.say('hello there.')
  await sim.until(() => record.turns.length === 2)
  await sim.run(500)
  sim.noise(200)
  await sim.run(8_000)
  t.equal(texts().length, 2)
})

t.test('if words are recognized late, the agent answers them and does not ask the caller to repeat', async (t) => {
  const { sim, texts, record } = converse({ answerOf, coldMs: { stt: 5_000 } })
  sim.say('hello there.')
  await sim.until(() => record.turns.some(({ source }) => source === 'user'))
  await sim.until(() => texts().at(-1) === 'agent: You said hello there.')
  t.ok(texts().includes('user: hello there.'))
})
