/** Checks for tool arguments must not block other work in the process. A hostile schema can make them long. */
import t from 'tap'
import { ToolCalls } from '../../domain/conversation/turns/tool-calls.ts'
import type { PipelineTool } from '../../domain/records/pipeline.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { newCall, pipeline } from '../calls/call.ts'

t.test('between two long validations of tool arguments the event loop runs other work', async (t) => {
  const tool: PipelineTool = {
    name: 'look_up',
    description: 'Looks it up.',
    parameters: { type: 'object' },
    source: { kind: 'inline', timeoutMs: null },
    preToolSpeech: 'never',
  }
  let checks = 0
  /** Counts the checks within one turn of the event loop. */
  let checksOfTurn = 0
  let mostOfTurn = 0
  const calls = new ToolCalls({
    clock: systemClock,
    call: newCall('org_1', { pipeline: { ...pipeline, tools: [tool] } }),
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
