/**
 * LLMs send odd arguments for tools. The validation of arguments must not block other work in the process, even if a
 * hostile schema makes it slow.
 */
import t from 'tap'
import { ToolCalls } from '../../domain/conversation/turns/tool-calls.ts'
import type { PipelineTool } from '../../domain/records/pipeline.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { newCall, pipeline } from '../calls/call.ts'

const tool: PipelineTool = {
  name: 'look_up',
  description: 'Looks it up.',
  parameters: { type: 'object' },
  source: {
    ...{
      kind: 'webhook' as const,
      url: 'https://tools.test/look-up',
      hasSecret: false,
      headers: null,
      authHeaders: null,
    },
    ...{ timeoutMs: null, responseMode: null, asyncAck: null },
  },
  preToolSpeech: 'never',
}

t.test(
  'blank arguments of a tool call run the tool without arguments, and broken arguments are an error',
  async (t) => {
    let given: unknown
    const calls = new ToolCalls({
      clock: systemClock,
      call: newCall('org_1', { pipeline: { ...pipeline, tools: [tool] } }),
      runTool: {
        check: () => [],
        isPhoneNumber: () => false,
        transfer: () => Promise.reject(new Error('it is not run')),
        webhook: (_, { args }) => {
          given = args
          return Promise.resolve({ result: 'done' })
        },
      },
      scheduleCallback: () => {},
      pressKeys: null,
      notify: () => {},
      event: () => {},
    })
    const resultOf = async (text: string) => {
      given = undefined
      const results: unknown[] = []
      await calls.run([{ callId: 'c', name: 'look_up', arguments: text }], ({ item }) => results.push(item))
      return results
    }
    for (const text of ['', ' ', '\n\t', 'null', ' null\n', '{}']) {
      t.match(await resultOf(text), [{ result: 'done' }], JSON.stringify(text))
      t.same(given, {})
    }
    for (const text of ['{"a":', 'none', '{"a": 1}{}', 'undefined']) {
      t.match(await resultOf(text), [{ result: /invalid_arguments/ }], text)
      t.equal(given, undefined)
    }
  },
)

t.test('between two long validations of tool arguments the event loop runs other work', async (t) => {
  const inPage: PipelineTool = { ...tool, source: { kind: 'inline', timeoutMs: null } }
  let checks = 0
  /** Counts the argument validations within one turn of the event loop. */
  let checksOfTurn = 0
  let mostOfTurn = 0
  const calls = new ToolCalls({
    clock: systemClock,
    call: newCall('org_1', { pipeline: { ...pipeline, tools: [inPage] } }),
    runTool: {
      check: () => {
        checks += 1
        if (checksOfTurn === 0) setImmediate(() => (checksOfTurn = 0))
        mostOfTurn = Math.max(mostOfTurn, ++checksOfTurn)
        for (const endMs = performance.now() + 30; performance.now() < endMs; );
        return ['/']
      },
      isPhoneNumber: () => false,
      transfer: () => Promise.resolve({ result: 'done' }),
      webhook: () => Promise.reject(new Error('it is not run')),
    },
    scheduleCallback: () => {},
    pressKeys: null,
    notify: () => {},
    event: () => {},
  })
  const asked = Array.from({ length: 20 }, (_, at) => ({ callId: `c${at}`, name: 'look_up', arguments: '{}' }))
  let done = 0
  await calls.run(asked, () => void (done += 1))
  t.same([checks, done], [20, 20])
  t.equal(mostOfTurn, 1)
})
