/** The LLM has a tool to press keys on the phone. */
import t from 'tap'
import { joinTools } from '../../domain/agents/join-tools.ts'
import { type DoneCall, ToolCalls } from '../../domain/conversation/turns/tool-calls.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { newCall, pipeline } from '../calls/call.ts'

const tool = {
  name: 'press',
  description: 'Presses keys on the phone.',
  source: { kind: 'builtin', name: 'send_dtmf' },
} as const

/** Opens a session's tools, and calls them like its LLM. */
function open(transport: 'phone' | 'websocket', pressKeys: ((digits: string) => Promise<void>) | null) {
  const { tools } = joinTools(transport, [], [tool])
  const calls = new ToolCalls({
    clock: systemClock,
    call: newCall('org_1', { pipeline: { ...pipeline, transport, tools } }),
    runTool: {
      check: () => [],
      isPhoneNumber: () => false,
      webhook: () => Promise.reject(new Error('it is not run')),
      transfer: () => Promise.reject(new Error('it is not run')),
    },
    scheduleCallback: () => {},
    pressKeys,
    notify: () => {},
    event: () => {},
  })
  return {
    offered: calls.offered,
    press: async (args: object) => {
      const done: DoneCall[] = []
      await calls.run([{ callId: 'call_1', name: 'press', arguments: JSON.stringify(args) }], (call) => done.push(call))
      const [item] = done.map((call) => call.item)
      return item?.type === 'function_result' ? item.result : ''
    },
  }
}

t.test('the agent presses keys in a phone call', async (t) => {
  const pressed: string[] = []
  const { offered, press } = open('phone', (digits) => {
    pressed.push(digits)
    return Promise.resolve()
  })
  t.match(offered, [{ name: 'press', parameters: { required: ['digits'] } }, { name: 'end_call' }])
  t.equal(await press({ digits: '1w2#' }), 'ok')
  t.same(pressed, ['1w2#'])
  for (const digits of ['', '1'.repeat(33), 'x', '1W', 7, null])
    t.match(await press({ digits }), /invalid_arguments.*\/digits/, String(digits))
  t.equal(pressed.length, 1)
})

t.test('if the phone line cannot send keys, the LLM receives an error', async (t) => {
  const { press } = open('phone', () => Promise.reject(new Error('gone')))
  t.equal(await press({ digits: '1' }), '{"error":{"code":"failed"}}')
})

t.test('a browser session has no tool that presses keys', async (t) => {
  const { offered, press } = open('websocket', null)
  t.same(
    offered.map(({ name }) => name),
    ['end_call'],
  )
  t.equal(await press({ digits: '1' }), '{"error":{"code":"not_allowed"}}')
})
