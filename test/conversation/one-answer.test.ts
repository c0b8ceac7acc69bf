/**
 * For up to 400 ms after an interruption it is not known how much of the turn was played. If speech and typed messages
 * come in this time, exactly one answer follows, and its audio is not mixed with another answer's audio.
 */
import t, { type Test } from 'tap'
import { converse } from './setup.ts'

const story = 'Once upon a time there was a king who lived in a castle by the sea and he had three daughters.'

/**
 * Starts a call whose agent tells a story. The client does not answer `clear`, so it takes longest to find out how much
 * of an interrupted turn was played.
 */
async function telling() {
  const all = converse({
    settings: { firstMessage: story, firstMessageMode: 'message' },
    answerOf: (said) => `You asked ${said.replace(/\W+$/u, '')}.`,
    turnHandling: { preemptiveGeneration: false, endpointing: { minDelay: 20, maxDelay: 40 } },
  })
  await all.sim.run(1000)
  all.sim.sendsMarks = false
  return all
}

/** Lets the agent speak all answers, and compares the received words with the transcript. */
async function followed(t: Test, { sim, record, texts }: Awaited<ReturnType<typeof telling>>, moment: string) {
  await sim.run(9000)
  const transcript = `${moment}: ${texts().join(' | ')}`
  const answers = record.turns.filter(({ source }) => source === 'agent').slice(1)
  const received = sim.wholeAgentWords.join(' ').replace(/^.*?(?=You asked|$)/u, '')
  t.equal(received, answers.map(({ text }) => text).join(' '), transcript)
  t.not(received, '', transcript)
  return texts()
}

t.test('exactly one answer follows if a text is typed after speech that interrupts the agent', async (t) => {
  for (let waitsMs = 0; waitsMs <= 700; waitsMs += 20) {
    const all = await telling()
    all.sim.say('stop it.')
    await all.sim.run(waitsMs)
    all.conversation.userMessage('banana')
    const texts = await followed(t, all, `${waitsMs} ms`)
    for (const text of ['user: stop it.', 'user: banana']) t.ok(texts.includes(text), `${text} after ${waitsMs} ms`)
  }
})

t.test('exactly one answer follows if speech follows a typed text', async (t) => {
  for (let waitsMs = 0; waitsMs <= 700; waitsMs += 40) {
    const all = await telling()
    all.conversation.userMessage('banana')
    await all.sim.run(waitsMs)
    all.sim.say('is it ripe.')
    const texts = await followed(t, all, `${waitsMs} ms`)
    for (const text of ['user: banana', 'user: is it ripe.']) t.ok(texts.includes(text), `${text} after ${waitsMs} ms`)
  }
})

t.test('exactly one answer follows if the caller speaks twice within 400 ms after an interruption', async (t) => {
  for (let pauseMs = 20; pauseMs <= 400; pauseMs += 40) {
    const all = await telling()
    all.sim.say('no')
    all.sim.pause(pauseMs)
    all.sim.say('stop')
    const texts = await followed(t, all, `${pauseMs} ms`)
    t.notOk(texts.includes('user: '), 'no turn of the user is empty')
  }
})

for (const [sound, make] of [
  ['a noise', (sim: { noise(ms: number): void }) => sim.noise(200)],
  ['a backchannel', (sim: { say(text: string): void }) => sim.say('mhm')],
] as const)
  t.test(`a typed text is answered if ${sound} comes within 400 ms after an interruption`, async (t) => {
    for (let waitsMs = 0; waitsMs <= 200; waitsMs += 20) {
      const all = await telling()
      all.conversation.userMessage('banana')
      await all.sim.run(waitsMs)
      make(all.sim)
      const texts = await followed(t, all, `${waitsMs} ms`)
      t.same(texts.slice(1), ['user: banana', 'agent: You asked banana.'])
    }
  })

t.test('words are answered if a noise follows them within 400 ms after an interruption', async (t) => {
  for (let pauseMs = 0; pauseMs <= 300; pauseMs += 20) {
    const all = await telling()
    all.sim.say('stop')
    all.sim.pause(pauseMs)
    all.sim.noise(200)
    const texts = await followed(t, all, `${pauseMs} ms`)
    t.ok(texts.includes('user: stop'))
  }
})
