/** The wall clock is changed during a conversation. Only stored times of day may change, and no timer or duration. */
import t from 'tap'
import { converse } from './setup.ts'

for (const [way, setMs] of [
  ['forward', 3_600_000],
  ['back', -3_600_000],
] as const)
  t.test(`a wall clock set ${way} by an hour changes no timer and no latency of a conversation`, async (t) => {
    const { clock, sim, record, conversation, over } = converse({ settings: { silenceTimeoutSeconds: 5 } })
    sim.say('hello there.')
    await sim.until(() => record.turns.length === 2)
    clock.setMs = setMs
    conversation.contextualUpdate('The clock was set.')
    sim.say('are you there.')
    await sim.until(() => record.turns.length === 5)
    const quietMs = sim.nowMs
    await sim.until(() => over.ended)
    t.same(sim.closed, { reason: 'silence_timeout', fault: null })
    t.ok(sim.nowMs - quietMs >= 4000 && sim.nowMs - quietMs < 6500, 'the silence is as long as it was')
    const times = record.turns.flatMap(({ startedAtMs, endedAtMs }) => [startedAtMs, endedAtMs])
    t.ok(Math.max(...times) - Math.min(...times) < 60_000, 'the turns are as far apart as they were')
    for (const { eouMs, conversationalLatencyMs, source } of record.turns)
      if (source === 'agent') t.ok((eouMs ?? 0) < 1000 && (conversationalLatencyMs ?? 0) < 2000)
  })
