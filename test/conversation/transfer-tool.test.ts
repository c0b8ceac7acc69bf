/** An LLM calls the function `transfer_call`. The tests in test/phone run the transfer itself. */
import t from 'tap'
import type { PipelineTool } from '../../domain/records/pipeline.ts'
import type { TransferToolRequest } from '../../domain/records/transfer-request.ts'
import { converse } from './setup.ts'

const config = { kind: 'blind' as const, destinations: [{ to: '+15005550017', label: 'Sales' }] }
const tool: PipelineTool = {
  name: 'transfer_call',
  description: 'Transfers the call.',
  parameters: { type: 'object' },
  source: { kind: 'builtin', name: 'transfer_call', config },
  preToolSpeech: 'never',
}

t.test('transfer_call accepts a label, and the LLM receives no phone number', async (t) => {
  const asked: TransferToolRequest[] = []
  const result = '{"status":"failed","failure_cause":"busy","fallback":null}'
  const { sim, record, requests } = converse({
    kind: 'outbound',
    tools: [tool],
    answerOf: (_said, items) => {
      const known = items.findLast((item) => item.type === 'function_result')
      if (known?.type === 'function_result') return `It is ${known.result}.`
      return { calls: [{ name: 'transfer_call', args: '{"label":"Sales"}' }] }
    },
    runTool: {
      transfer: (_call, wanted) => {
        asked.push(wanted)
        return Promise.resolve({ result })
      },
    },
  })
  sim.say('i want to buy something.')
  await sim.until(() => record.turns.length === 2)
  t.same(asked, [{ config, label: 'Sales' }])
  t.match(record.turns[1], { playedText: `It is ${result}.`, toolCalls: [{ status: 'completed' }] })
  t.notMatch(JSON.stringify(requests), '+15005550017', 'the LLM sees no number')
})

t.test('a browser session has no tool transfer_call', async (t) => {
  const { sim, record, requests } = converse({ tools: [tool] })
  sim.say('i want to buy something.')
  await sim.until(() => record.turns.length === 2)
  const offered = requests.flatMap(({ tools }) => tools.map(({ name }) => name))
  t.ok(offered.includes('end_call'))
  t.notOk(offered.includes('transfer_call'))
})

t.test('a turn that only calls a tool is stored as a turn without words', async (t) => {
  const { sim, record } = converse({
    kind: 'outbound',
    tools: [tool],
    answerOf: (_said, items) =>
      items.some((item) => item.type === 'function_result')
        ? ''
        : { calls: [{ name: 'transfer_call', args: '{"label":"Sales"}' }] },
  })
  sim.say('i want to buy something.')
  await sim.until(() => record.turns.length === 2)
  t.match(record.turns[1], { text: '', toolCalls: [{ name: 'transfer_call' }] })
  t.same(
    sim.events.filter(({ type }) => type === 'agentMessage'),
    [],
  )
})
