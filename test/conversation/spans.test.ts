import t, { type Test } from 'tap'
import type { Span } from '../../domain/records/call.ts'
import { later } from './engines.ts'
import { converse } from './setup.ts'

const criticalOf = (span: Span | undefined, kind: Span['kind']) =>
  (span?.children ?? []).filter((child) => child.kind === kind).reduce((sum, child) => sum + child.criticalMs, 0)

function sums(t: Test, span: Span | undefined) {
  const parts = (span?.children ?? []).reduce((sum, { criticalMs }) => sum + criticalMs, 0)
  const silenceMs = Number(span?.attributes['silence_ms'])
  t.ok(Math.abs(parts - silenceMs) < 1, `${parts} of ${silenceMs} ms`)
}

t.test('the spans of each turn sum to the answer latency that the caller measures', async (t) => {
  const { sim, record } = converse({ answerOf: () => 'Of course. I can do that for you.' })
  const said = ['please book a table.', 'yes', 'for two persons tonight', 'at eight, and', 'thank you very much.']
  for (const [turn, text] of said.entries()) {
    sim.pause(300 + 10 * turn)
    await sim.run(sim.say(text))
    const endMs = sim.nowMs
    await sim.until(() => sim.firstAgentAudioMs(endMs - 30) !== null)
    const silenceMs = (sim.firstAgentAudioMs(endMs - 30) ?? 0) - endMs
    await sim.until(() => record.spans.length === turn + 1)
    const span = record.spans[turn]
    sums(t, span)
    const claimed = Number(span?.attributes['silence_ms'])
    t.ok(Math.abs(claimed - silenceMs) <= 40, `${claimed} ms claimed, ${silenceMs} ms measured`)
    t.match(span, { kind: 'turn', attributes: { index: 2 * turn + 1, interrupted: false } })
    t.ok(criticalOf(span, 'endpointing') >= 240)
    t.ok(criticalOf(span, 'playout') > 0)
  }
  const ids = record.spans.flatMap((span) => [span.id, ...span.children.map(({ id }) => id)])
  t.equal(new Set(ids).size, ids.length)
})

t.test("a slow tool and a second LLM request have spans within a turn's answer latency", async (t) => {
  const all = converse({
    tools: [
      {
        name: 'weather',
        description: 'Weather.',
        parameters: {},
        source: { kind: 'inline', timeoutMs: 5000 },
        preToolSpeech: 'never',
      },
    ],
    answerOf: (_said, items) =>
      items.some((item) => item.type === 'function_result')
        ? 'It rains.'
        : { calls: [{ name: 'weather', args: '{}' }] },
  })
  const { sim, record, conversation, clock } = all
  sim.say('how is it.')
  await sim.until(() => sim.events.some(({ type }) => type === 'toolRequested'))
  const request = sim.events.find((event) => event.type === 'toolRequested')
  void later(clock, 900).then(() =>
    conversation.toolResult(request?.type === 'toolRequested' ? request.id : '', 'x', false),
  )
  await sim.until(() => record.spans.length === 1)
  const [span] = record.spans
  sums(t, span)
  t.same(
    span?.children.map(({ kind }) => kind).filter((kind) => kind !== 'unattributed'),
    ['endpointing', 'stt', 'llm', 'tool', 'llm', 'tts', 'playout'],
  )
  t.ok(Math.abs(criticalOf(span, 'tool') - 900) <= 20, `${criticalOf(span, 'tool')} ms`)
  const llm = span?.children.find(({ kind }) => kind === 'llm')
  t.match(llm?.attributes, { provider: 'p', model: 'm', failover_count: 0, quantities: { input_tokens: 10 } })
  t.type(llm?.attributes['attempt_id'], 'string')
  t.type(llm?.attributes['request_id'], 'string', 'it opens the route of the request')
  t.match(span?.children.find(({ kind }) => kind === 'tool')?.attributes, { name: 'weather', ok: true })
  t.notOk(JSON.stringify(record.spans).includes('rains'), 'no content')
})

t.test("the spans of an interrupted turn, and of a turn without a question, sum to the turn's latency", async (t) => {
  const { sim, record } = converse({
    settings: { firstMessage: 'One two three four five six seven.', firstMessageMode: 'message' },
  })
  await sim.run(1000)
  sim.say('stop it now please.')
  await sim.until(() => record.spans.length === 2)
  for (const span of record.spans) sums(t, span)
  t.match(record.spans[0], { attributes: { interrupted: true, index: 0 } })
})
