import t from 'tap'
import { converse } from './setup.ts'

function percentile(values: number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? Number.NaN
}

t.test('the agent is audible 400 ms after the end of speech at the median, and 600 ms at p95, at most', async (t) => {
  const { sim, record } = converse({ answerOf: () => 'Of course. I can do that for you.' })
  const said = ['please book a table.', 'yes', 'for two persons tonight.', 'at eight.', 'thank you very much.']
  const latencies: number[] = []
  for (let turn = 0; turn < 40; turn++) {
    // In each turn the speech ends at another position in its frame.
    sim.pause(300 + 10 * turn)
    const speechMs = sim.say(said[turn % said.length] as string)
    await sim.run(speechMs)
    const endMs = sim.nowMs
    await sim.until(() => sim.firstAgentAudioMs(endMs) !== null)
    latencies.push((sim.firstAgentAudioMs(endMs) ?? 0) - endMs)
    await sim.until(() => record.turns.length === 2 * turn + 2)
  }
  const [median, p95] = [percentile(latencies, 0.5), percentile(latencies, 0.95)]
  t.comment(`median ${median} ms, p95 ${p95} ms`)
  t.ok(median <= 400, `median ${median} ms`)
  t.ok(p95 <= 600, `p95 ${p95} ms`)
  const recorded = record.turns.filter(({ source }) => source === 'agent')
  for (const [at, turn] of recorded.entries())
    t.ok(Math.abs((turn.conversationalLatencyMs ?? 0) - (latencies[at] ?? 0)) <= 45, 'the record has the latency')
})
