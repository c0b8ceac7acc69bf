import t from 'tap'
import type { PipelineTool } from '../../domain/records/pipeline.ts'
import type { AnswerOf } from './engines.ts'
import { converse } from './setup.ts'

const webhookSource = {
  kind: 'webhook' as const,
  url: 'https://tools.example/weather',
  hasSecret: false,
  headers: null,
  authHeaders: null,
  timeoutMs: null,
  responseMode: null,
  asyncAck: null,
}
const tool = (name: string, over: Partial<PipelineTool> = {}): PipelineTool => ({
  name,
  description: 'Does it.',
  parameters: { type: 'object', properties: {} },
  source: webhookSource,
  preToolSpeech: 'never',
  ...over,
})

/** Makes an LLM that calls the tool, then speaks its result. */
const callsThenSays =
  (name: string, args = '{"city":"Bonn"}'): AnswerOf =>
  (_said, items) => {
    const result = items.findLast((item) => item.type === 'function_result')
    return result?.type === 'function_result' ? `It is ${result.result}.` : { calls: [{ name, args }] }
  }

type Waiting = { resolve: (result: { result: string }) => void; args: unknown }

t.test("a webhook tool is called once, and the LLM answers with the tool's result", async (t) => {
  const asked: unknown[] = []
  const { sim, record, requests } = converse({
    tools: [tool('weather')],
    answerOf: callsThenSays('weather'),
    runTool: {
      webhook: (_call, request) => {
        asked.push(request.args)
        return Promise.resolve({ result: 'sunny', httpStatus: 200, attempts: 2 })
      },
    },
  })
  sim.say('how is the weather.')
  await sim.until(() => record.turns.length === 2)
  t.same(asked, [{ city: 'Bonn' }])
  t.equal(record.turns[1]?.playedText, 'It is sunny.')
  const facts = { result: 'sunny', httpStatus: 200, attempts: 2, startedAtMs: Number, durationMs: 0 }
  t.match(record.turns[1]?.toolCalls, [{ name: 'weather', args: '{"city":"Bonn"}', status: 'completed', ...facts }])
  t.match(
    record.events.filter(({ type }) => type.startsWith('agent.')),
    [
      { type: 'agent.tool_started', payload: { name: 'weather' } },
      { type: 'agent.tool_completed', payload: { name: 'weather', ms: 0 } },
    ],
  )
  t.same(
    requests[0]?.tools.map(({ name }) => name),
    ['weather', 'end_call'],
  )
  sim.say('and now.')
  await sim.until(() => record.turns.length === 4)
  t.same(
    requests.at(-1)?.items.map((item) => item.type),
    ['message', 'message', 'function_call', 'function_result', 'message', 'message'],
  )
  const page = JSON.stringify(sim.events)
  t.notOk(page.includes('Bonn'), 'arguments never reach the page')
})

t.test('a tool does not run for an early answer to words that may still change', async (t) => {
  let runs = 0
  const { sim, record } = converse({
    tools: [tool('weather')],
    answerOf: callsThenSays('weather'),
    turnHandling: { endpointing: { minDelay: 600, maxDelay: 600 } },
    runTool: {
      webhook: () => {
        runs += 1
        return Promise.resolve({ result: 'sunny' })
      },
    },
  })
  await sim.run(sim.say('how is it.') + 400)
  t.equal(runs, 0, 'the turn is not over')
  sim.say('in the north.')
  await sim.until(() => record.turns.length === 2)
  t.equal(runs, 1)
  t.equal(record.turns[0]?.text, 'how is it. in the north.')
})

t.test('a failure of a tool reaches the LLM as an error result', async (t) => {
  const outcomes: string[] = []
  const results: AnswerOf = (_said, items) => {
    const result = items.findLast((item) => item.type === 'function_result')
    if (result?.type !== 'function_result')
      return {
        calls: ['nothing', 'weather', 'strict', 'fails'].map((name) => ({
          name,
          args: name === 'weather' ? '{' : '{}',
        })),
      }
    for (const item of items) if (item.type === 'function_result') outcomes.push(item.result)
    return 'Sorry.'
  }
  const { sim, record } = converse({
    tools: [tool('weather'), tool('strict'), tool('fails')],
    answerOf: results,
    runTool: {
      check: ({ name }) => (name === 'strict' ? ['/city is missing', '/days must be integer'] : []),
      webhook: () => Promise.resolve({ failure: { code: 'http_error', status: 500, detail: 'broken' } }),
    },
  })
  sim.say('go on then.')
  await sim.until(() => record.turns.length === 2)
  t.same(outcomes.sort(), [
    '{"error":{"code":"http_error","status":500,"detail":"broken"}}',
    '{"error":{"code":"invalid_arguments","detail":"/city is missing, /days must be integer"}}',
    '{"error":{"code":"invalid_arguments","detail":"the arguments are not JSON"}}',
    '{"error":{"code":"not_allowed"}}',
  ])
  t.same(
    record.events.filter(({ type }) => type === 'agent.tool_failed').map(({ payload }) => payload['code']),
    ['not_allowed', 'invalid_arguments', 'invalid_arguments', 'http_error'],
  )
})

t.test('a long tool result is cut at 16,384 code points, and an empty result becomes "ok"', async (t) => {
  for (const [given, length] of [
    ['😀'.repeat(16_384), 16_384],
    ['😀'.repeat(16_385), 16_384 + '[truncated]'.length],
    ['', 2],
  ] as const) {
    let got = ''
    const { sim, record } = converse({
      tools: [tool('weather')],
      answerOf: (_said, items) => {
        const result = items.findLast((item) => item.type === 'function_result')
        if (result?.type !== 'function_result') return { calls: [{ name: 'weather', args: '' }] }
        got = result.result
        return 'Done.'
      },
      runTool: { webhook: () => Promise.resolve({ result: given }) },
    })
    sim.say('go on then.')
    await sim.until(() => record.turns.length === 2)
    t.equal([...got].length, length)
  }
})

t.test('at most eight tools run at once', async (t) => {
  let [running, most] = [0, 0]
  const { sim, record, clock } = converse({
    tools: [tool('weather')],
    answerOf: (_said, items) =>
      items.some((item) => item.type === 'function_result')
        ? 'Done.'
        : { calls: Array.from({ length: 20 }, () => ({ name: 'weather', args: '{}' })) },
    runTool: {
      webhook: () => {
        most = Math.max(most, ++running)
        return new Promise((resolve) => {
          clock.after(300, () => {
            running -= 1
            resolve({ result: 'x' })
          })
        })
      },
    },
  })
  sim.say('go on then.')
  await sim.until(() => record.turns.length === 2)
  t.equal(most, 8)
  t.equal(record.turns[1]?.toolCalls.length, 20)
})

t.test('after maxToolHops the LLM must answer in words', async (t) => {
  const choices: unknown[] = []
  const { sim, record } = converse({
    settings: { maxToolHops: 2 },
    tools: [tool('weather')],
    answerOf: (_said, _items, request) => {
      choices.push(request.toolChoice)
      return request.toolChoice === 'none' ? 'Enough.' : { calls: [{ name: 'weather', args: '{}' }] }
    },
  })
  sim.say('go on then.')
  await sim.until(() => record.turns.length === 2)
  t.same(choices, [undefined, undefined, 'none'])
})

t.test('if a model goes on calling tools, no more requests are sent than maxToolHops allows', async (t) => {
  for (const [text, said] of [
    ['One moment.', 'One moment. One moment. One moment.'],
    ['', 'Sorry, wait.'],
  ] as const) {
    const { sim, record, requests } = converse({
      settings: { maxToolHops: 2, fallbackMessage: 'Sorry, wait.' },
      tools: [tool('weather')],
      answerOf: () => ({ text, calls: [{ name: 'weather', args: '{}' }] }),
    })
    sim.say('go on then.')
    await sim.until(() => record.turns.length === 2)
    t.equal(requests.length, 3)
    t.equal(record.turns[1]?.playedText?.replaceAll(/\s+/g, ' ').trim(), said)
    t.equal(record.turns[1]?.toolCalls.length, 2)
  }
})

t.test('preToolSpeech decides whether the agent speaks before a tool', async (t) => {
  const slow = async (preToolSpeech: PipelineTool['preToolSpeech'], ms: number, text = '') => {
    const all = converse({
      tools: [tool('weather', { preToolSpeech })],
      answerOf: (_said, items) =>
        items.some((item) => item.type === 'function_result')
          ? 'Done.'
          : { calls: [{ name: 'weather', args: '{}' }], text },
      runTool: {
        webhook: () => new Promise((resolve) => void all.clock.after(ms, () => resolve({ result: 'x' }))),
      },
    })
    all.sim.say('go on then.')
    await all.sim.until(() => all.record.turns.length === 2)
    return all.record.turns[1]?.playedText
  }
  t.equal(await slow('auto', 600), 'Done.')
  t.equal(await slow('auto', 800), 'One moment, please. Done.')
  t.equal(await slow('always', 100), 'One moment, please. Done.')
  t.equal(await slow('always', 100, 'Let me look.'), 'Let me look. Done.')
  t.equal(await slow('never', 3000), 'Done.')
})

t.test('a call of a tool in the web page is sent to the page, and the result goes to the LLM', async (t) => {
  const inline = { source: { kind: 'inline' as const, timeoutMs: 1000 } }
  const all = converse({ tools: [tool('open_page', inline)], answerOf: callsThenSays('open_page', '{"page":1}') })
  const { sim, record, conversation } = all
  sim.say('open it now.')
  await sim.until(() => sim.events.some(({ type }) => type === 'toolRequested'))
  const request = sim.events.find((event) => event.type === 'toolRequested')
  t.match(request, { name: 'open_page', args: '{"page":1}' })
  const id = request?.type === 'toolRequested' ? request.id : ''
  t.equal(conversation.toolResult('call_unknown', 'x', false), false)
  t.equal(conversation.toolResult(id, 'opened', false), true)
  t.equal(conversation.toolResult(id, 'again', false), false, 'a result counts once')
  await sim.until(() => record.turns.length === 2)
  t.equal(record.turns[1]?.playedText, 'It is opened.')

  const late = converse({ tools: [tool('open_page', inline)], answerOf: callsThenSays('open_page') })
  late.sim.say('open it now.')
  await late.sim.until(() => late.record.turns.length === 2)
  t.match(late.record.turns[1]?.playedText, /"timeout"/)
  const phone = converse({ kind: 'outbound', tools: [tool('open_page', inline)] })
  phone.sim.say('hello there.')
  await phone.sim.until(() => phone.record.turns.length === 2)
  t.same(
    phone.requests[0]?.tools.map(({ name }) => name),
    ['end_call'],
    'a phone has no page',
  )
})

t.test("if a turn is interrupted, its webhook's result joins the history when it arrives", async (t) => {
  const waiting: Waiting[] = []
  const { sim, record, requests } = converse({
    tools: [tool('weather')],
    answerOf: (said) =>
      said.startsWith('how')
        ? { calls: [{ name: 'weather', args: '{}' }], text: 'Let me look it up for you.' }
        : 'Fine.',
    runTool: {
      webhook: (_call, { args }) => new Promise((resolve) => void waiting.push({ resolve, args })),
    },
  })
  sim.say('how is the weather.')
  await sim.until(() => waiting.length === 1)
  await sim.run(500)
  sim.say('never mind please.')
  await sim.until(() => record.turns.length >= 4)
  t.notOk(
    requests.at(-1)?.items.some((item) => item.type === 'function_call'),
    'no call without its result',
  )
  waiting[0]?.resolve({ result: 'sunny' })
  await sim.run(50)
  sim.say('what is it now.')
  await sim.until(() => record.turns.length === 6)
  t.same(
    requests
      .at(-1)
      ?.items.slice(-3)
      .map((item) => item.type),
    ['function_call', 'function_result', 'message'],
  )
})

t.test('responseMode async: the LLM receives the acknowledgement at once', async (t) => {
  const { sim, record } = converse({
    tools: [tool('weather', { source: { ...webhookSource, responseMode: 'async', asyncAck: 'started' } })],
    answerOf: callsThenSays('weather'),
    runTool: { webhook: () => new Promise(() => {}) },
  })
  sim.say('how is the weather.')
  await sim.until(() => record.turns.length === 2)
  t.equal(record.turns[1]?.playedText, 'It is started.')
})

t.test('end_call speaks its message, and the session ends once the message was played', async (t) => {
  for (const [args, said] of [
    ['{"message":"Have a nice day."}', 'Have a nice day.'],
    ['{}', 'Thanks for calling.'],
  ] as const) {
    const { sim, record, over } = converse({
      settings: { endCallMessage: 'Thanks for calling.' },
      answerOf: () => ({ calls: [{ name: 'end_call', args }] }),
    })
    sim.say('goodbye then.')
    await sim.until(() => over.ended)
    t.same(sim.closed, { reason: 'agent_hangup', fault: null })
    t.same(record.ended, ['agent_hangup'])
    t.equal(sim.agentWords, said)
    t.equal(record.turns.at(-1)?.playedText, said)
    t.match(record.turns.at(-1)?.toolCalls, [{ name: 'end_call', args, status: 'completed' }])
  }
  const off = converse({
    tools: [tool('end_call', { source: { kind: 'builtin', name: 'end_call', config: { enabled: false } } })],
  })
  off.sim.say('hello there.')
  await off.sim.until(() => off.record.turns.length === 2)
  t.same(off.requests[0]?.tools, [])
})

const callback = (config: { maxDaysAhead: number } | null = null) =>
  tool('schedule_callback', { source: { kind: 'builtin', name: 'schedule_callback', config } })

t.test('schedule_callback schedules callbacks only within its limits', async (t) => {
  const promise = async (
    args: object,
    config: { maxDaysAhead: number } | null = null,
    kind: 'browser' | 'outbound' = 'browser',
  ) => {
    const all = converse({
      kind,
      tools: [callback(config)],
      answerOf: callsThenSays('schedule_callback', JSON.stringify(args)),
    })
    all.sim.say('call me back please.')
    await all.sim.until(() => all.record.turns.length === 2)
    return { ...all, said: all.record.turns[1]?.playedText ?? '' }
  }
  const to = '+4915123456789'
  const made = await promise({ to, inMinutes: 90, reason: 'prices', instructions: 'Be kind.' })
  t.match(made.record.callbacks, [{ toNumber: to, reason: 'prices', instructions: 'Be kind.' }])
  t.match(made.said, /"status":"scheduled","scheduled_at":"\d{4}-/)
  t.notMatch(made.said, to, 'no result repeats a number')
  t.match(
    made.record.events.map(({ type }) => type).filter((type) => type.startsWith('agent.')),
    ['agent.tool_started', 'agent.tool_completed'],
  )
  const scheduledAtMs = made.record.callbacks[0]?.scheduledAtMs ?? 0
  t.ok(scheduledAtMs > 89 * 60_000 && scheduledAtMs < made.clock.nowMs() + 90 * 60_000)

  const refused = async (args: object, said: RegExp, config: { maxDaysAhead: number } | null = null) => {
    const all = await promise(args, config)
    t.match(all.said, said)
    t.same(all.record.callbacks, [])
    t.match(all.record.turns[1]?.toolCalls, [{ status: 'failed' }])
  }
  await refused({ inMinutes: 90 }, /invalid_arguments","detail":"\/to is missing or malformed"/)
  await refused({ to: '+15555550100', inMinutes: 90 }, /"\/to is missing or malformed"/)
  await refused({ to }, /"\/at is missing or malformed, \/inMinutes is missing/)
  await refused({ to, inMinutes: 0.9 }, /not_allowed.*7 days/)
  await refused({ to, inMinutes: 7 * 1440 + 1 }, /not_allowed.*7 days/)
  await refused({ to, inMinutes: 1441 }, /not_allowed.*1 days/, { maxDaysAhead: 1 })
  t.equal((await promise({ to, inMinutes: 1440 }, { maxDaysAhead: 1 })).record.callbacks.length, 1)
  t.equal((await promise({ to, inMinutes: 1 }, null, 'outbound')).record.callbacks.length, 1, 'on the phone too')
})
