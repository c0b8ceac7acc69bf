/** A caller who was on hold gets the message of the agent, also when they speak as the hold ends. */
import t from 'tap'
import { converse } from './setup.ts'

const message = 'Nobody is free right now.'
const after = { note: 'The call was not transferred.', message, hint: '', endsCall: false }

/** The caller begins to speak `saysMs` before the hold ends, or after it. */
async function returned(saysMs: number, said: string, isRefusedAtOnce = false) {
  const { clock, sim, conversation, texts } = converse({
    settings: { firstMessage: 'Hello this is the bicycle shop.', firstMessageMode: 'message' },
  })
  await sim.run(400)
  if (saysMs <= 0) sim.say(said)
  await sim.run(Math.max(0, -saysMs))
  conversation.hold('music', () => void clock.after(100, () => conversation.resume(after)))
  // The agent still ends its sentence.
  if (isRefusedAtOnce) conversation.resume(after)
  await sim.run(Math.max(0, saysMs))
  if (saysMs > 0) sim.say(said)
  await sim.run(15_000)
  return texts()
}

for (const [said, isRefusedAtOnce] of [
  ['hello', false],
  ['I want to book a table.', false],
  ['hello', true],
  ['I want to book a table.', true],
] as const)
  for (let saysMs = -1400; saysMs <= 2000; saysMs += 200) {
    const moment = `${saysMs} ms${isRefusedAtOnce ? ', refused at once' : ''}`
    t.test(`the message after a hold is said when the caller says "${said}" at ${moment}`, async (t) => {
      const texts = await returned(saysMs, said, isRefusedAtOnce)
      t.ok(texts.includes(`agent: ${message}`), texts.join('\n'))
    })
  }
