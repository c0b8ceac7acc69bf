/** Tests a conversation's times and counts at their limits, on a test clock. */
import t from 'tap'
import type { Pipeline, PipelineTool } from '../../domain/records/pipeline.ts'
import { converse } from './setup.ts'

type TurnHandling = Partial<Pipeline['turnHandling']>
const inline = (name: string, timeoutMs: number | null): PipelineTool => ({
  name,
  description: 'Does it.',
  parameters: { type: 'object', properties: {} },
  source: { kind: 'inline', timeoutMs },
  preToolSpeech: 'never',
})

/** Each row has the user's words, and the silence after them until the turn counts as finished. */
const delays: [title: string, said: string, TurnHandling, leastMs: number, mostMs: number][] = [
  // Voice activity detection needs 128 ms of silence to end speech, and works in frames of 32 ms.
  ['vad waits minDelay', 'a table and', vad(100), 100, 200],
  ['vad waits a long minDelay', 'a table and', vad(5000), 5000, 5060],
  ['text waits minDelay after a whole sentence', 'a table please.', text(100, 4000), 100, 200],
  ['text waits maxDelay after an unfinished clause', 'I want a table and', text(250, 4000), 4000, 4060],
  ['text waits equally long if both delays are equal', 'I want a table and', text(900, 900), 900, 960],
  ['stt waits maxDelay without an end point of the provider', 'a table please.', stt(250, 3000), 2800, 3060],
]
for (const [title, said, turnHandling, leastMs, mostMs] of delays)
  t.test(`endpointing: mode ${title}`, async (t) => {
    const { sim, record } = converse({ turnHandling })
    sim.say(said)
    await sim.until(() => record.turns.length === 2)
    const eouMs = record.turns[1]?.eouMs ?? 0
    t.ok(eouMs >= leastMs && eouMs <= mostMs, `${eouMs} ms`)
  })

t.test('endpointing: if the last word is recognized before the speech ends, the answer is not delayed', async (t) => {
  const { sim, record } = converse({ turnHandling: text(250, 4000), recognisesQuickly: true })
  sim.say(`a ${'table'.repeat(5)}.`)
  await sim.until(() => record.turns.length === 2)
  const eouMs = record.turns[1]?.eouMs ?? 0
  t.ok(eouMs >= 250 && eouMs <= 350, `${eouMs} ms`)
})

t.test("endpointing: with mode stt the speech-to-text provider's end of turn ends the turn", async (t) => {
  const { sim, record, streams } = converse({ turnHandling: stt(1000, 4000) })
  const saidMs = sim.say('a table and')
  await sim.run(saidMs + 400)
  // A provider that reports the end point also sends the final text at that moment.
  streams[0]?.flush()
  await sim.until(() => record.turns.length === 2)
  const eouMs = record.turns[1]?.eouMs ?? 0
  t.ok(eouMs >= 400 && eouMs <= 500, `${eouMs} ms`)
})

const story = 'Once upon a time there was a king who lived in a castle by the sea and he had three daughters.'

/** Speaks while the agent tells its story. Returns true if this interrupted the agent. */
async function interrupts(interruption: Partial<Pipeline['turnHandling']['interruption']>, speak: (sim: Sim) => void) {
  const { sim, record } = converse({
    interruption,
    answerOf: (said) => (said.startsWith('tell') ? story : 'Yes.'),
  })
  sim.say('tell me.')
  await sim.until(() => sim.firstAgentAudioMs(0) !== null)
  await sim.run(1000)
  speak(sim)
  await sim.until(() => record.turns.some(({ source }) => source === 'agent'))
  return record.turns.find(({ source }) => source === 'agent')?.latencyStatus === 'interrupted'
}
type Sim = ReturnType<typeof converse>['sim']

t.test('interruption minDuration: shorter speech does not interrupt with mode vad', async (t) => {
  t.notOk(await interrupts({ mode: 'vad', minDuration: 1000 }, (sim) => sim.noise(600)))
  t.ok(await interrupts({ mode: 'vad', minDuration: 1000 }, (sim) => sim.noise(1600)))
})

t.test('interruption minWords: speech of minWords words interrupts, and one word less does not', async (t) => {
  t.notOk(await interrupts({ minWords: 3 }, (sim) => void sim.say('banana apple')))
  t.ok(await interrupts({ minWords: 3 }, (sim) => void sim.say('banana apple cherry')))
  t.ok(await interrupts({ minWords: 0 }, (sim) => void sim.say('banana')))
})

t.test('interruption mode adaptive: three backchannel words do not interrupt, four do', async (t) => {
  t.notOk(await interrupts({}, (sim) => void sim.say('mhm yeah okay')))
  t.ok(await interrupts({}, (sim) => void sim.say('mhm yeah okay mhm')))
})

t.test('interruption mode none: nothing interrupts, and minDuration and minWords have no effect', async (t) => {
  t.notOk(await interrupts({ mode: 'none', minDuration: 0 }, (sim) => void sim.say('stop it now please.')))
})

t.test('idleRePrompts: the first prompt is spoken after delayMs, and only if enabled is true', async (t) => {
  const greeting = { firstMessage: 'Hello.', firstMessageMode: 'message' as const }
  const idle = { enabled: true, delayMs: 3000, maxPrompts: 1, messages: ['Still there?'] }
  const { sim, record } = converse({ settings: { ...greeting, idleRePrompts: idle } })
  await sim.until(() => record.turns.length === 1)
  const quietMs = sim.nowMs
  await sim.run(2900)
  t.equal(sim.firstAgentAudioMs(quietMs), null)
  await sim.until(() => sim.firstAgentAudioMs(quietMs) !== null, 400)
  const off = converse({ settings: { ...greeting, idleRePrompts: { ...idle, enabled: false } } })
  await off.sim.run(10_000)
  t.equal(off.record.turns.length, 1)
})

t.test('the timer of silenceTimeoutSeconds is paused while a tool runs', async (t) => {
  const { sim, record, conversation, over } = converse({
    settings: { silenceTimeoutSeconds: 5 },
    tools: [inline('look_up', 30_000)],
    answerOf: (_said, items) =>
      items.some(({ type }) => type === 'function_result') ? 'Found.' : { calls: [{ name: 'look_up', args: '{}' }] },
  })
  sim.say('look it up.')
  await sim.until(() => sim.events.some(({ type }) => type === 'toolRequested'))
  await sim.run(20_000)
  t.notOk(over.ended)
  const request = sim.events.find((event) => event.type === 'toolRequested')
  conversation.toolResult(request?.type === 'toolRequested' ? request.id : '', 'x', false)
  await sim.until(() => record.turns.length === 2)
  await sim.until(() => over.ended, 6000)
  t.same(sim.closed, { reason: 'silence_timeout', fault: null })
})

t.test('maxDurationSeconds: a sentence that does not end is cut off after 10 s', async (t) => {
  const endless = Array.from({ length: 400 }, (_, at) => `word${at}`).join(' ')
  const { sim, record, over } = converse({
    settings: { maxDurationSeconds: 30, endCallMessage: 'Time is up.' },
    answerOf: () => endless,
  })
  sim.pause(20_000)
  sim.say('talk.')
  await sim.until(() => over.ended, 60_000)
  t.same(sim.closed, { reason: 'max_duration', fault: null })
  t.ok(sim.agentWords.endsWith('Time is up.'), sim.agentWords.slice(-60))
  const goodbyeMs = record.turns.at(-1)?.startedAtMs ?? 0
  const lateMs = goodbyeMs - 1_700_000_000_000 - 30_000
  t.ok(lateMs > 9500 && lateMs < 11_000, `the last words begin ${lateMs} ms after the time was up`)
  t.match(record.turns.at(-2), { latencyStatus: 'interrupted' })
})

t.test("the agent's goodbye is cut off after 10 s if it does not end", async (t) => {
  const { sim, over } = converse({
    settings: { maxDurationSeconds: 30, endCallMessage: Array.from({ length: 90 }, () => 'goodbye').join(' ') },
  })
  await sim.until(() => over.ended, 60_000)
  t.ok(sim.nowMs >= 39_900 && sim.nowMs < 41_500, `${sim.nowMs} ms`)
})

t.test('a tool in the web page may run for timeoutMs, or for 10 s without timeoutMs', async (t) => {
  for (const [timeoutMs, waitMs] of [
    [500, 500],
    [null, 10_000],
    [30_000, 30_000],
  ] as const)
    for (const isLate of [false, true]) {
      let got = ''
      const { sim, record, conversation } = converse({
        settings: { silenceTimeoutSeconds: 600 },
        tools: [inline('look_up', timeoutMs)],
        answerOf: (_said, items) => {
          const result = items.findLast((item) => item.type === 'function_result')
          if (result?.type === 'function_result') got = result.result
          return got === '' ? { calls: [{ name: 'look_up', args: '{}' }] } : 'Done.'
        },
      })
      sim.say('look it up.')
      await sim.until(() => sim.events.some(({ type }) => type === 'toolRequested'))
      await sim.run(isLate ? waitMs + 20 : waitMs - 30)
      const request = sim.events.find((event) => event.type === 'toolRequested')
      const isTaken = conversation.toolResult(request?.type === 'toolRequested' ? request.id : '', 'in time', false)
      t.equal(isTaken, !isLate)
      await sim.until(() => record.turns.length === 2)
      t.equal(got, isLate ? '{"error":{"code":"timeout"}}' : 'in time', `${timeoutMs} ${isLate ? 'late' : 'in time'}`)
    }
})

t.test("preemptiveGeneration: if the caller's words change, the prepared answer is dropped but billed", async (t) => {
  const asked = async (preemptiveGeneration: boolean) => {
    const { sim, record, requests, ledger } = converse({
      isPriced: true,
      turnHandling: { preemptiveGeneration, endpointing: { minDelay: 1500, maxDelay: 2500 } },
      answerOf: (said) => `You said ${said}`,
    })
    sim.say('a table please.')
    sim.pause(1200)
    sim.say('near the window.')
    await sim.until(() => record.turns.length === 2)
    await sim.run(3000)
    t.match(record.turns[1], { playedText: 'You said a table please. near the window.' })
    return { requests: requests.length, rows: ledger.settlements.filter(({ row }) => row.stage === 'llm') }
  }
  const eager = await asked(true)
  t.ok(eager.requests >= 2, `${eager.requests} requests`)
  t.equal(eager.rows.length, eager.requests, 'each request has its row')
  t.ok(eager.rows.every(({ row }) => row.attempts.length > 0))
  t.equal((await asked(false)).requests, 1)
})

function vad(minDelay: number): TurnHandling {
  return { turnDetection: 'vad', endpointing: { minDelay, maxDelay: 15_000 } }
}
function text(minDelay: number, maxDelay: number): TurnHandling {
  return { turnDetection: 'text', endpointing: { minDelay, maxDelay } }
}
function stt(minDelay: number, maxDelay: number): TurnHandling {
  return { turnDetection: 'stt', endpointing: { minDelay, maxDelay } }
}
