import t from 'tap'
import { converse } from './setup.ts'

const story = 'Once upon a time there was a king who lived in a castle by the sea and he had three daughters.'

/** Starts a conversation and runs it until the agent is `ms` into its story. */
async function telling(ms: number, options: Parameters<typeof converse>[0] = {}) {
  const all = converse({ answerOf: (said) => (said.startsWith('tell') ? story : 'Yes.'), ...options })
  all.sim.say('tell me.')
  await all.sim.until(() => all.sim.firstAgentAudioMs(0) !== null)
  await all.sim.run(ms)
  return all
}

t.test("an interruption silences the agent, and the transcript has only the agent's played words", async (t) => {
  const { sim, record, requests } = await telling(1500)
  const onsetMs = sim.nowMs
  sim.say('wait please stop.')
  await sim.until(() => record.turns.some(({ text }) => text === 'wait please stop.'))
  const lastMs = sim.played.findLast(({ sample, atMs }) => sample !== 0 && atMs < onsetMs + 1000)?.atMs ?? 0
  t.ok(lastMs - onsetMs <= 200, `silent ${lastMs - onsetMs} ms after the onset`)
  const turn = record.turns.find(({ source }) => source === 'agent')
  t.equal(turn?.latencyStatus, 'interrupted')
  const played = sim.wholeAgentWords
  const counted = turn?.playedText?.split(' ') ?? []
  t.same(counted, played.slice(0, counted.length), 'never more than was played')
  t.ok(
    played.length - counted.length <= 3,
    `an estimate, which is never too long: ${counted.length} of ${played.length}`,
  )
  t.ok(story.startsWith(turn?.playedText ?? '-'))
  const inHistory = requests.at(-1)?.items.filter((item) => item.type === 'message' && item.role === 'assistant')
  t.same(inHistory, [{ type: 'message', role: 'assistant', text: turn?.playedText }])
  const shown = sim.events.findLast((event) => event.type === 'agentMessage' && event.interrupted)
  t.match(shown, { text: turn?.playedText, isFinal: true })
  await sim.until(() => record.turns.length === 4)
  t.equal(record.turns[3]?.text, 'Yes.')
})

t.test('if a voice reports word timings, the transcript has exactly the played words', async (t) => {
  const texts: string[] = []
  for (let ms = 300; ms < 5000; ms += 170) {
    const { sim, record } = await telling(ms, {
      reportsWords: true,
      settings: { speechNormalization: { pronunciationDictionary: { daughters: 'girls' }, textReplacements: {} } },
    })
    sim.say('wait please stop.')
    await sim.until(() => record.turns.some(({ text }) => text === 'wait please stop.'))
    const text = record.turns.find(({ source }) => source === 'agent')?.playedText ?? ''
    t.equal(text, sim.wholeAgentWords.join(' ').replace('girls', 'daughters'), `after ${ms} ms`)
    texts.push(text)
  }
  t.ok(new Set(texts).size > 15, 'the cuts are at different words')
})

t.test('if a voice with word timings fails, the sentence is spoken again and its transcript is exact', async (t) => {
  const breaksOff = (_: string, chunk: number) => chunk === 60
  const { sim, record } = await telling(3300, { reportsWords: true, providers: 2, breaksOff })
  sim.say('wait please stop.')
  await sim.until(() => record.turns.some(({ text }) => text === 'wait please stop.'))
  const words = sim.wholeAgentWords.join(' ')
  const again = words.slice(words.lastIndexOf('Once'))
  t.not(again, words, 'the sentence was spoken again')
  t.equal(record.turns.find(({ source }) => source === 'agent')?.playedText, again)
})

t.test('a backchannel pauses the agent at once, and no word is lost', async (t) => {
  const { sim, record } = await telling(1500)
  const onsetMs = sim.nowMs
  sim.say('mhm')
  await sim.run(250)
  t.ok(
    sim.played.slice(-3).every(({ sample }) => sample === 0),
    'silent after 250 ms',
  )
  const pausedMs = sim.played.findLast(({ sample }) => sample !== 0)?.atMs ?? 0
  t.ok(pausedMs - onsetMs <= 200, `silent ${pausedMs - onsetMs} ms after the onset`)
  await sim.until(() => record.turns.length === 2)
  t.equal(sim.agentWords, story)
  t.match(record.turns[1], { playedText: story, latencyStatus: 'complete' })
  const samples = sim.played.filter(({ sample }) => sample !== 0).length
  const whole = story.split(' ').reduce((sum, word) => sum + word.length * 6, 0)
  t.ok(Math.abs(samples - whole) <= 3, 'nothing was played twice')
})

t.test('after noise without a word the agent goes on once falseTimeout has passed', async (t) => {
  const { sim, record } = await telling(1000, { interruption: { falseTimeout: 700 } })
  sim.noise(400)
  const onsetMs = sim.nowMs
  await sim.run(600)
  t.equal(sim.played.at(-1)?.sample, 0, 'paused')
  await sim.until(() => record.turns.length === 2)
  const resumedMs = sim.played.find(({ atMs, sample }) => atMs > onsetMs + 300 && sample !== 0)?.atMs ?? 0
  t.ok(resumedMs - onsetMs <= 1000, `goes on after ${resumedMs - onsetMs} ms`)
  t.equal(sim.agentWords, story)
})

t.test('interruption mode vad: speech of minDuration interrupts, also a backchannel', async (t) => {
  const { sim, record } = await telling(1500, { interruption: { mode: 'vad', minDuration: 300 } })
  const onsetMs = sim.nowMs
  sim.say('mhm mhm mhm mhm mhm mhm')
  await sim.until(() => record.turns.some(({ latencyStatus }) => latencyStatus === 'interrupted'))
  const silentMs = (sim.lastAgentAudioMs() ?? 0) - onsetMs
  t.ok(silentMs > 250 && silentMs <= 600, `silent after ${silentMs} ms`)
})

t.test('interruption mode none: speech during the turn of the agent is answered after it', async (t) => {
  const { sim, record, texts } = await telling(1500, { interruption: { mode: 'none' } })
  sim.say('what is his name.')
  await sim.until(() => record.turns.length === 4)
  t.same(texts(), ['user: tell me.', `agent: ${story}`, 'user: what is his name.', 'agent: Yes.'])
})

t.test('if protectFirstMessage is set, the first message is not interrupted', async (t) => {
  const { sim, record, texts } = converse({
    settings: { firstMessage: 'Hello my dear friend.', firstMessageMode: 'message' },
    interruption: { protectFirstMessage: true },
  })
  await sim.run(300)
  sim.say('stop right there.')
  await sim.until(() => record.turns.length === 3)
  t.same(texts(), ['agent: Hello my dear friend.', 'user: stop right there.', 'agent: I see.'])
})

t.test('interruption minWords: fewer words do not interrupt', async (t) => {
  const { sim, record } = await telling(1500, { interruption: { minWords: 3 } })
  sim.say('banana')
  await sim.until(() => record.turns.length === 2)
  t.match(record.turns[1], { playedText: story })
})

t.test("an echo of the agent's voice at -20 dB does not interrupt the agent", async (t) => {
  const { sim, record, texts } = converse({ answerOf: (said) => (said.startsWith('tell') ? story : 'Yes.') })
  sim.echo = 0.1
  sim.say('tell me.')
  await sim.until(() => record.turns.length === 2)
  await sim.run(3000)
  t.same(texts(), ['user: tell me.', `agent: ${story}`])
  t.equal(sim.agentWords, story)
})

t.test('if the caller answers right before the agent stops speaking, the answer is not lost', async (t) => {
  const { sim, record, texts } = converse({
    answerOf: (said) => (said.startsWith('hi') ? 'Shall I book it now?' : 'Done.'),
  })
  sim.say('hi there.')
  await sim.until(() => sim.agentWords.endsWith('now?'))
  sim.say('yes')
  await sim.until(() => record.turns.length === 4)
  t.same(texts().slice(1), ['agent: Shall I book it now?', 'user: yes', 'agent: Done.'])
})

t.test('if a client never confirms that audio was played, the played text is estimated', async (t) => {
  const all = converse({ answerOf: () => story })
  all.sim.sendsMarks = false
  all.sim.say('tell me.')
  await all.sim.until(() => all.record.turns.length === 2)
  t.match(all.record.turns[1], { latencyStatus: 'partial', playedText: story, metadata: { playout: 'estimated' } })
})
