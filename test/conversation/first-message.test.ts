/** The called person greets, and the agent says its first message all the same. */
import t from 'tap'
import { firstMessageAfter } from '../../domain/conversation/turns/first-message.ts'
import { inboundPhone, newCall } from '../calls/call.ts'
import { converse, type Options, pipeline } from './setup.ts'

const firstMessage = 'This is the bicycle shop and your bicycle is ready.'
const phone = { ...inboundPhone, direction: 'outbound' as const }
const settings = { firstMessage, firstMessageMode: 'message' as const }
const calls = { kind: 'outbound', phone, settings } as const satisfies Options

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

t.test('in a call from a rich-message number a greeting is answered with the first message too', async (t) => {
  const { texts } = await answered('hello there.', 0, { ...calls, kind: 'rmsg' })
  t.equal(texts.at(-1), `agent: ${firstMessage}`)
})

t.test('in languages without spaces only a short greeting is answered with the first message', (t) => {
  for (const [first, played, words, isRepeated] of [
    ['您好，这里是自行车店，您的自行车已经修好了。', '', '喂，你好。', true],
    ['您好，这里是自行车店，您的自行车已经修好了。', '您好', '喂？', true],
    ['您好，这里是自行车店，您的自行车已经修好了。', '', '我现在没有时间，请明天再打电话。', false],
    ['您好，这里是自行车店，您的自行车已经修好了。', '您好，这里是自行车店，您的自行车', '谢谢', false],
    ['自転車店です。自転車の修理が終わりました。', '', 'もしもし', true],
    ['自転車店です。自転車の修理が終わりました。', '', '今は時間がないので明日電話してください', false],
  ] as const) {
    const call = newCall('org_1', { phone, pipeline: { ...pipeline, ...settings, firstMessage: first } })
    const items = played === '' ? [] : [{ type: 'message' as const, role: 'assistant' as const, text: played }]
    t.equal(firstMessageAfter(words, items, call), isRepeated ? first : null, `${played} / ${words}`)
  }
  t.end()
})

const short = { ...settings, firstMessage: 'Is this Anna?' }
const others: [title: string, words: string, ms: number, options: Options][] = [
  ['words that are more than a greeting', 'i have no time today.', 0, calls],
  ['a person who has heard most of the first message', 'thank you.', 3_000, calls],
  ['a person who has heard all of a short first message', 'yes.', 2_500, { ...calls, settings: short }],
  ['an incoming call', 'hello there.', 0, { ...calls, kind: 'inbound', phone: inboundPhone }],
  ['a conversation in a browser', 'hello there.', 0, { settings }],
  ['an agent that listens first', 'hello there.', 0, { ...calls, settings: { firstMessage } }],
]
for (const [title, words, ms, options] of others)
  t.test(`the LLM answers ${title}`, async (t) => {
    const { texts } = await answered(words, ms, options)
    t.equal(texts.at(-1), 'agent: You are welcome.')
  })
