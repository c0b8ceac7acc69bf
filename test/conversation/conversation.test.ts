import t from 'tap'
import { converse } from './setup.ts'

t.test('a conversation of three turns is spoken, recorded and ended by the user', async (t) => {
  const answers: Record<string, string> = {
    'where are you.': 'I am in the computer. Where are you?',
    'at home.': 'That is nice.',
    'goodbye then.': 'Bye.',
  }
  const { sim, record, texts, requests } = converse({
    settings: { firstMessage: 'Hello there.', firstMessageMode: 'message' },
    answerOf: (said) => answers[said] ?? `What is ${said}`,
  })
  await sim.until(() => record.turns.length === 1)
  for (const said of Object.keys(answers)) {
    const before = record.turns.length
    sim.say(said)
    await sim.until(() => record.turns.length === before + 2)
    await sim.run(500)
  }
  t.same(texts(), [
    'agent: Hello there.',
    'user: where are you.',
    'agent: I am in the computer. Where are you?',
    'user: at home.',
    'agent: That is nice.',
    'user: goodbye then.',
    'agent: Bye.',
  ])
  t.equal(sim.agentWords, 'Hello there. I am in the computer. Where are you? That is nice. Bye.')
  t.same(
    record.turns.map(({ index }) => index),
    [0, 1, 2, 3, 4, 5, 6],
  )
  t.same(requests.at(-1)?.items, [
    { type: 'message', role: 'system', text: 'Be brief.' },
    { type: 'message', role: 'assistant', text: 'Hello there.' },
    { type: 'message', role: 'user', text: 'where are you.' },
    { type: 'message', role: 'assistant', text: 'I am in the computer. Where are you?' },
    { type: 'message', role: 'user', text: 'at home.' },
    { type: 'message', role: 'assistant', text: 'That is nice.' },
    { type: 'message', role: 'user', text: 'goodbye then.' },
  ])
})
