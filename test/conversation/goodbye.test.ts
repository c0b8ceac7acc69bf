/** The agent ends the call: `end_call` waits for its goodbye, and for other tools in the same answer. */
import t from 'tap'
import type { PipelineTool } from '../../domain/records/pipeline.ts'
import { converse } from './setup.ts'

const note: PipelineTool = {
  name: 'note',
  description: 'Keeps a note.',
  parameters: { type: 'object', properties: {} },
  source: {
    kind: 'webhook',
    url: 'https://tools.example/note',
    hasSecret: false,
    headers: null,
    authHeaders: null,
    timeoutMs: null,
    responseMode: null,
    asyncAck: null,
  },
  preToolSpeech: 'never',
}

t.test('if the LLM calls end_call without words, the LLM is asked for a goodbye before the call ends', async (t) => {
  const cases: [last: string | null, said: string][] = [
    ['Bye bye.', 'Bye bye.'],
    [null, ''],
  ]
  for (const [last, said] of cases) {
    const { sim, record, over, requests } = converse({
      answerOf: (_said, _items, { toolChoice }) =>
        toolChoice === 'none' && last !== null ? last : { calls: [{ name: 'end_call', args: '{"reason":"done"}' }] },
    })
    sim.say('goodbye then.')
    await sim.until(() => over.ended)
    t.same(record.ended, ['agent_hangup'])
    t.equal(sim.agentWords, said)
    t.equal(requests.length, 2)
    t.match(requests[1]?.items.at(-1), { type: 'function_result', result: /ends after your last words/ })
  }
})

t.test('end_call waits for the tools that were called in the same answer', async (t) => {
  const ran: string[] = []
  const { sim, record, over } = converse({
    tools: [note],
    answerOf: () => ({
      text: 'Goodbye.',
      calls: [
        { name: 'end_call', args: '{}' },
        { name: 'note', args: '{}' },
      ],
    }),
    runTool: {
      webhook: (_call, { tool: { name } }) => {
        ran.push(name)
        return Promise.resolve({ result: 'noted' })
      },
    },
  })
  sim.say('goodbye then.')
  await sim.until(() => over.ended)
  t.same(ran, ['note'])
  t.equal(sim.agentWords, 'Goodbye.')
  t.match(record.turns.at(-1)?.toolCalls, [
    { name: 'end_call', status: 'completed' },
    { name: 'note', status: 'completed' },
  ])
})

t.test('end_call is recorded with the same events as other tools', async (t) => {
  const { sim, record, over } = converse({
    answerOf: () => ({ text: 'Bye.', calls: [{ name: 'end_call', args: '{}' }] }),
  })
  sim.say('goodbye then.')
  await sim.until(() => over.ended)
  const ofTools = record.events.filter(({ type }) => type.startsWith('agent.tool_'))
  t.match(ofTools, [
    { type: 'agent.tool_started', payload: { name: 'end_call' } },
    { type: 'agent.tool_completed', payload: { name: 'end_call' } },
  ])
  t.equal(ofTools.length, 2)
})
