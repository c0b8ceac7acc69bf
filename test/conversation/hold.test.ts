/** After a hold the caller gets the agent's message, even if the caller speaks as the hold ends. */
import t from 'tap'
import { holdClip } from '../../audio/hold-tones.ts'
import { likenessOf } from '../audio/likeness.ts'
import { converse } from './setup.ts'

const message = 'Nobody is free right now.'
const after = { note: 'The call was not transferred.', message, hint: '', endsCall: false }

/**
 * Runs a call in which the caller begins to speak `saysMs` before the hold ends, or after its end if `saysMs` is
 * negative.
 */
async function returned(saysMs: number, said: string, isRefusedAtOnce = false) {
  const { clock, sim, conversation, texts } = converse({
    settings: { firstMessage: 'Hello this is the bicycle shop.', firstMessageMode: 'message' },
  })
  await sim.run(400)
  if (saysMs <= 0) sim.say(said)
  await sim.run(Math.max(0, -saysMs))
  conversation.hold({ tone: 'music', audio: null }, () => void clock.after(100, () => conversation.resume(after)))
  // The hold ends while the agent still finishes its sentence.
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
    t.test(`the message after a hold is spoken when the caller says "${said}" at ${moment}`, async (t) => {
      const texts = await returned(saysMs, said, isRefusedAtOnce)
      t.ok(texts.includes(`agent: ${message}`), texts.join('\n'))
    })
  }

t.test('the message after a hold is spoken even if the caller interrupted the agent before the hold', async (t) => {
  for (let waitsMs = 0; waitsMs <= 2000; waitsMs += 40) {
    const { sim, conversation, texts } = converse({
      settings: { firstMessage: 'Hello this is the bicycle shop in the market street.', firstMessageMode: 'message' },
    })
    // If the client does not report played marks, it takes longest to determine the played part of the agent's speech.
    sim.sendsMarks = false
    await sim.run(400)
    sim.say('I want to book a table for two people.')
    await sim.run(waitsMs)
    conversation.hold({ tone: 'music', audio: null }, () => {})
    conversation.resume(after)
    await sim.run(12_000)
    t.ok(texts().includes(`agent: ${message}`), `${waitsMs} ms: ${texts().join(' | ')}`)
  }
})

t.test("if a second hold is requested, it begins after the agent's message that ends the first hold", async (t) => {
  const { sim, conversation, texts } = converse({
    settings: { firstMessage: 'Hello this is the bicycle shop in the market street.', firstMessageMode: 'message' },
  })
  await sim.run(400)
  for (const isHeld of [false, true]) {
    conversation.hold({ tone: 'music', audio: null }, () => {})
    if (isHeld) await sim.run(5000)
    conversation.resume({ ...after, message: `Held ${isHeld}.` })
    let held = 0
    conversation.hold({ tone: 'music', audio: null }, () => held++)
    await sim.until(() => held > 0)
    conversation.resume({ ...after, message: 'Here I am.' })
    await sim.run(5000)
    const said = texts().filter((text) => text.startsWith('agent: '))
    t.same(said.slice(-2), [`agent: Held ${isHeld}.`, 'agent: Here I am.'], texts().join(' | '))
  }
})

t.test('if another hold is cancelled before it began, the message of the first hold is spoken', async (t) => {
  const { sim, conversation, texts } = converse({
    settings: { firstMessage: 'Hello this is the bicycle shop in the market street.', firstMessageMode: 'message' },
  })
  await sim.run(400)
  conversation.hold({ tone: 'music', audio: null }, () => {})
  conversation.resume(after)
  let held = 0
  conversation.hold({ tone: 'music', audio: null }, () => held++)
  conversation.resume(after)
  await sim.run(10_000)
  t.equal(held, 0)
  t.equal(texts().filter((text) => text === `agent: ${message}`).length, 1, texts().join(' | '))
})

t.test('if two texts are typed while the agent is interrupted, the last text is answered', async (t) => {
  const { sim, conversation, texts, requests } = converse({
    settings: { firstMessage: 'Hello this is the bicycle shop in the market street.', firstMessageMode: 'message' },
    answerOf: (said) => `You wrote ${said}.`,
  })
  await sim.run(1000)
  conversation.userMessage('one')
  conversation.userMessage('two')
  await sim.run(6000)
  const written = texts().slice(-3)
  t.same(written, ['user: one', 'user: two', 'agent: You wrote two.'])
  t.equal(requests.length, 1, 'the first one is in the history alone')
})

t.test('a call without credit, or at its longest duration, ends at once if the caller is on hold', async (t) => {
  const gone = converse({ settings: { firstMessage: 'Hello.', firstMessageMode: 'message' } })
  await gone.sim.run(3000)
  gone.conversation.hold({ tone: 'music', audio: null }, () => {})
  await gone.sim.run(3000)
  gone.conversation.creditGone()
  await gone.sim.run(100)
  t.same(gone.record.ended, ['credit_exhausted'])

  const long = converse({ settings: { firstMessage: 'Hello.', firstMessageMode: 'message', maxDurationSeconds: 30 } })
  await long.sim.run(3000)
  long.conversation.hold({ tone: 'music', audio: null }, () => {})
  await long.sim.run(26_900)
  t.same(long.record.ended, [])
  await long.sim.run(200)
  t.same(long.record.ended, ['max_duration'])
})

/** Two seconds of hold audio, unlike all other sounds in the test. */
const ownClip = Int16Array.from({ length: 32_000 }, (_, i) => Math.round(3000 * Math.sin(i * (0.05 + i / 400_000))))

const shown = (...values: (number | readonly number[])[]) => JSON.stringify(values)

/**
 * Measures how similar the received audio is to the organization's audio, which comes after `afterMs`, and to the
 * built-in music.
 */
async function receivedOnHold(afterMs: number, clip: Int16Array | null) {
  const { clock, sim, conversation } = converse()
  await sim.run(400)
  const rates: number[] = []
  const audio = (rateHz: number) => {
    rates.push(rateHz)
    return new Promise<Int16Array | null>((resolve) => void clock.after(afterMs, () => resolve(clip)))
  }
  sim.received = []
  conversation.hold({ tone: 'music', audio }, () => {})
  await sim.run(7000)
  const received = Int16Array.from(sim.received)
  conversation.resume(after)
  await sim.run(2000)
  sim.received = []
  await sim.run(2000)
  const later = Int16Array.from(sim.received)
  const music = holdClip('music', 16_000).subarray(0, 16_000)
  const half = received.length / 2
  return {
    rates,
    own: [received.subarray(0, half), received.subarray(half)].map((part) => likenessOf(ownClip, part)),
    music: [received.subarray(0, half), received.subarray(half)].map((part) => likenessOf(music, part)),
    later: likenessOf(ownClip, later),
  }
}

t.test("a caller on hold receives the organization's audio in a loop, and not after the hold", async (t) => {
  const { own, music, later, rates } = await receivedOnHold(0, ownClip)
  t.same(rates, [16_000], 'the audio is requested once')
  t.ok(
    own.every((likeness) => likeness > 0.99),
    shown(own),
  )
  t.ok(
    music.every((likeness) => likeness < 0.5),
    shown(music),
  )
  t.ok(later < 0.5, shown(later))
})

t.test(
  "a caller on hold receives built-in music if the organization's audio is not fetched yet, or cannot be fetched",
  async (t) => {
    const late = await receivedOnHold(3500, ownClip)
    t.ok(late.music[0]! > 0.99 && late.own[1]! > 0.99, shown(late.music, late.own))
    const failed = await receivedOnHold(100, null)
    t.ok(failed.music[0]! > 0.99, shown(failed.music))
    t.ok(
      failed.own.every((likeness) => likeness < 0.5),
      shown(failed.own),
    )
  },
)

t.test('hold audio that arrives after the hold has ended is not played', async (t) => {
  const { own, later } = await receivedOnHold(8000, ownClip)
  t.ok(
    [...own, later].every((likeness) => likeness < 0.5),
    shown(own, later),
  )
})
