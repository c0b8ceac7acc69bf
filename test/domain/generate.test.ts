import t from 'tap'
import type { ItemEvent, OutputItem } from '../../domain/llm/answer-assembler.ts'
import type { LlmEvent } from '../../domain/ports/llm.ts'
import { settled } from '../clock.ts'
import {
  answer,
  auto,
  everything,
  generateItems,
  isClean,
  type Part,
  priced,
  request,
  setup,
  text,
} from './fake-llm.ts'
import { collect, failure, fault, model, order, script, theEnd, usage } from './fakes.ts'
import { routerError } from './router-error.ts'

t.test('an answer without streaming contains its items, its route and its usage', async (t) => {
  const all = setup([answer], { prices: priced })
  const got = await all.once()
  t.match(got, {
    output: [{ type: 'message', text: 'hello' }],
    stopReason: 'stop',
    route: { provider: 'a', model: 'm', attemptId: /^att_/, failovers: 0 },
    usage,
    costMicroUsd: 30,
  })
  t.match(all.ledger.last, {
    status: 'succeeded',
    use: { keyDigest: 'digest', organizationId: 'org_1', operation: 'createResponse', requestId: 'req_0' },
    row: {
      outcome: 'succeeded',
      stage: 'llm',
      provider: 'a',
      attemptId: got.route.attemptId,
      quantities: [
        { unit: 'input_tokens', amount: 10 },
        { unit: 'output_tokens', amount: 5 },
      ],
      costMicroUsd: 30,
      firstByteMs: null,
    },
  })
  t.equal(all.ledger.last.reservedMicroUsd, 58 + 400, 'the worst case was reserved')
  t.same(all.attempts, ['a/m succeeded'])
  t.notOk(all.signals[0]?.aborted)
  isClean(t, all)
})

t.test('an answer without streaming may contain tool calls and structured output, at an unknown price', async (t) => {
  const calls = [
    { callId: 'c1', name: 'f', arguments: '{"a":1}' },
    { callId: 'c2', name: 'g', arguments: '' },
  ]
  const withCalls = await setup([{ ...answer, text: '', calls, stopReason: 'tool_call' }]).once()
  t.same(withCalls.output, [
    { type: 'function_call', callId: 'c1', name: 'f', arguments: '{"a":1}' },
    { type: 'function_call', callId: 'c2', name: 'g', arguments: '{}' },
  ])
  t.equal(withCalls.costMicroUsd, null)

  const responseFormat = { name: 'n', schema: {} }
  const json = await setup([{ ...answer, text: '{"a":[1]}' }]).once({ request: { ...request, responseFormat } })
  t.same(json.output, [{ type: 'structured_json', json: { a: [1] } }])

  const other = setup([
    { ...answer, text: 'sorry' },
    { ...answer, text: '1' },
  ])
  t.same((await other.once({ request: { ...request, responseFormat } })).output, [{ type: 'structured_json', json: 1 }])
  t.same(other.asked, ['a', 'b'], 'text that is not JSON fails over')
  const nested = (levels: number) => `{"text":"[[[\\"{{","deep":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  const deep = setup([
    { ...answer, text: nested(65) },
    { ...answer, text: nested(64) },
  ])
  t.match((await deep.once({ request: { ...request, responseFormat } })).output, [{ json: { text: '[[["{{' } }])
  t.same(deep.asked, ['a', 'b'], 'and so does JSON of more than 64 levels')

  const cut = setup([{ ...answer, text: '{"a":', stopReason: 'max_output_tokens' }, answer], { prices: priced })
  t.match(await fault(cut.once({ request: { ...request, responseFormat } })), {
    kind: 'json_truncated',
    detail: { isKeySpent: true },
  })
  t.same(cut.asked, ['a'], 'no other model does better with the same limit')
  t.equal(cut.ledger.last.row.costMicroUsd, 30, 'the tokens were spent')
  isClean(t, cut)
})

t.test('the request filters the models by capability', async (t) => {
  const none = setup([answer], { capabilities: model('llm').capabilities })
  const asks = [
    [{ tools: [{ name: 'f' }] }, /^tools/],
    [{ responseFormat: { name: 'n', schema: {} } }, /^structured_output/],
    [{ reasoningEffort: 'low' }, /^reasoning/],
  ] as const
  for (const [ask, message] of asks) {
    const refused = await fault(none.once({ request: { ...request, ...ask } }))
    t.match(routerError(refused), { code: 'capability_unsupported', message })
    t.equal(none.idempotency.state, undefined, 'the key is given back')
  }
  t.same(none.asked, [])
  const noStream = setup([answer], { capabilities: { ...everything, streaming: false } })
  t.match(routerError(await fault(noStream.stream())), { code: 'capability_unsupported', message: /^streaming/ })
})

t.test('a stream sends the events of each item in order', async (t) => {
  const all = setup(
    [
      [
        text('he'),
        text('llo'),
        { type: 'call', index: 0, callId: 'c', name: 'f' },
        { type: 'arguments', index: 0, delta: '{}' },
        theEnd,
      ],
    ],
    { prices: priced },
  )
  const { route, events } = await all.stream()
  t.match(route, { provider: 'a', failovers: 0 })
  t.equal(all.held.leases, 1, 'the lease lasts as long as the stream')
  const { items, error } = await collect(events)
  t.equal(error, null)
  t.same(items, [
    { type: 'created' },
    { type: 'itemAdded', index: 0, item: { type: 'message' } },
    { type: 'textDelta', index: 0, delta: 'he' },
    { type: 'textDelta', index: 0, delta: 'llo' },
    { type: 'itemAdded', index: 1, item: { type: 'function_call', callId: 'c', name: 'f' } },
    { type: 'argumentsDelta', index: 1, delta: '{}' },
    { type: 'itemCompleted', index: 0, item: { type: 'message', text: 'hello' } },
    { type: 'itemCompleted', index: 1, item: { type: 'function_call', callId: 'c', name: 'f', arguments: '{}' } },
    { type: 'completed', stopReason: 'stop', usage, costMicroUsd: 30 },
  ] satisfies ItemEvent[])
  t.match(all.ledger.last, { status: 'succeeded', row: { costMicroUsd: 30, firstByteMs: 0 } })
  t.same(all.attempts, ['a/m succeeded'])
  t.notOk(all.signals[0]?.aborted)
  isClean(t, all)
})

t.test('a stream yields the same items as an answer without streaming', async (t) => {
  const calls = [{ callId: 'c', name: 'f', arguments: '{"a":1}' }]
  const streamed = setup([
    [
      { type: 'call', index: 0, callId: 'c', name: 'f' },
      { type: 'arguments', index: 0, delta: '{"a"' },
      { type: 'arguments', index: 0, delta: ':1}' },
      theEnd,
    ],
  ])
  const { items } = await collect((await streamed.stream()).events)
  const output: OutputItem[] = items.flatMap((event) => (event.type === 'itemCompleted' ? [event.item] : []))
  t.same(output, (await setup([{ ...answer, text: '', calls }]).once()).output)
})

t.test('structured output arrives as one item in a stream', async (t) => {
  const responseFormat = { name: 'n', schema: {} }
  const of = async (parts: Part[]) => {
    const all = setup([parts], { prices: priced })
    const got = await collect((await all.stream({ request: { ...request, responseFormat } })).events)
    isClean(t, all)
    return { ...got, all }
  }
  const good = await of([text('{"a"'), text(':1}'), theEnd])
  t.match(good.items.slice(1), [
    { type: 'itemAdded', item: { type: 'structured_json' } },
    { delta: '{"a"' },
    { delta: ':1}' },
    { type: 'itemCompleted', item: { type: 'structured_json', json: { a: 1 } } },
    { type: 'completed' },
  ])
  const bad = await of([text('no'), theEnd])
  t.match(bad.error, { kind: 'stream_broken' })
  t.same(bad.all.attempts, ['a/m protocol'])
  t.equal(bad.all.ledger.last.row.costMicroUsd, 0)
  const cut = await of([text('{'), { ...theEnd, stopReason: 'max_output_tokens' } as LlmEvent])
  t.match(cut.error, { kind: 'json_truncated' })
  t.equal(cut.all.ledger.last.row.costMicroUsd, 30)
})

t.test('an answer that the token limit cut off is not counted in the speed of its model', async (t) => {
  const responseFormat = { name: 'n', schema: {} }
  for (const [stopReason, firstByteMs] of [
    ['stop', 0],
    ['max_output_tokens', null],
  ] as const) {
    const all = setup([[text(stopReason === 'stop' ? '{}' : '{'), { ...theEnd, stopReason } as LlmEvent]])
    // A model's measured live figure needs at least three answers.
    for (let i = 0; i < 3; i++) {
      const keyless = order()
      delete keyless.key
      const input = { ...keyless, routing: auto, request: { ...request, responseFormat } }
      await collect((await generateItems(all.deps).stream(input)).events)
    }
    const [row] = all.chooser.world.catalog.stage('llm')
    t.match(row && all.chooser.world.health.figures(row, 'stream'), { firstByteMs, errorRate: 0 }, stopReason)
  }
})

t.test('a provider that fails before its first token is replaced, and a later failure ends the stream', async (t) => {
  const before: Part[][] = [
    [failure('server')],
    [],
    [{ ...theEnd, usage: { ...usage, outputTokens: 0 } } as LlmEvent],
    ['hang'],
  ]
  for (const parts of before) {
    const all = setup([parts, [text('ok'), theEnd]])
    const waiting = all.stream()
    await settled()
    await all.clock.advance(1000)
    const { route, events } = await waiting
    t.match(route, { provider: 'b', failovers: 1 })
    t.equal((await collect(events)).error, null)
    isClean(t, all)
  }
  const after: [Part[], object][] = [
    [[failure('server')], { kind: 'stream_broken', detail: { isKeySpent: true, attempts: [{ outcome: 'server' }] } }],
    [[failure('timeout')], { kind: 'timed_out' }],
    [[new TypeError('x')], { kind: 'stream_broken' }],
    [[], { kind: 'stream_broken', detail: { attempts: [{ outcome: 'protocol' }] } }],
    [[{ type: 'arguments', index: 3, delta: 'x' }], { kind: 'stream_broken' }],
    [['hang'], { kind: 'timed_out' }],
  ]
  for (const [parts, expected] of after) {
    const all = setup(
      [
        [text('he'), ...parts],
        [text('never'), theEnd],
      ],
      { prices: priced },
    )
    const { events } = await all.stream()
    const reading = collect(events)
    await settled()
    await all.clock.advance(2000)
    const { items, error } = await reading
    t.match(error, expected)
    t.notOk(
      items.some(({ type }) => type === 'completed' || type === 'itemCompleted'),
      'no item looks finished',
    )
    t.same(all.asked, ['a'])
    t.ok(all.signals[0]?.aborted)
    t.match(all.ledger.last, { status: 'failed', row: { costMicroUsd: 0 } })
    isClean(t, all)
  }
})

t.test('if a reader leaves a stream of items, the attempt is cancelled and settled', (t) => {
  const parts: Part[] = [text('hello world!'), 'hang']
  t.test('the attempt ends if the reader leaves while waiting for the next token', async (t) => {
    const all = setup([parts], { prices: priced })
    const client = new AbortController()
    const reading = collect((await all.stream({ signal: client.signal })).events)
    await settled()
    client.abort()
    t.match((await reading).error, { kind: 'cancelled' })
    t.ok(all.signals[0]?.aborted)
    t.match(
      all.ledger.last.row,
      { outcome: 'cancelled', costMicroUsd: 33 + 4 * 3 },
      'the text that was written is billed',
    )
    t.same(all.attempts, ['a/m cancelled'])
    isClean(t, all)
  })

  t.test('the attempt ends if the reader leaves before its first read', async (t) => {
    const all = setup([parts])
    const client = new AbortController()
    await all.stream({ signal: client.signal })
    client.abort()
    t.ok(all.signals[0]?.aborted)
    isClean(t, all)
  })

  t.test('the attempt ends if the reader calls return(), before or after the first event', async (t) => {
    for (const reads of [0, 1, 2]) {
      const all = setup([parts])
      const iterator = (await all.stream()).events[Symbol.asyncIterator]()
      for (let i = 0; i < reads; i++) await iterator.next()
      await iterator.return?.()
      t.ok(all.signals[0]?.aborted)
      t.match(await iterator.next().catch((error: unknown) => error), reads === 0 ? {} : { done: true })
      isClean(t, all)
    }
  })

  t.test('a slow reader does not make the provider count as slow', async (t) => {
    const all = setup([[text('a'), text('b'), theEnd]])
    const iterator = (await all.stream()).events[Symbol.asyncIterator]()
    await iterator.next()
    await all.clock.advance(8000)
    t.equal((await collect({ [Symbol.asyncIterator]: () => iterator })).error, null)
    isClean(t, all)
  })

  t.test('the attempt ends if the reader aborts its signal while events are ready', async (t) => {
    const all = setup([[text('a'), 'hang']])
    const client = new AbortController()
    const iterator = (await all.stream({ signal: client.signal })).events[Symbol.asyncIterator]()
    t.match(await iterator.next(), { value: { type: 'created' } })
    t.match(await iterator.next(), { value: { type: 'itemAdded' } })
    client.abort()
    t.match(await fault(iterator.next()), { kind: 'cancelled' })
    t.match(await iterator.next(), { done: true })
    t.match(all.ledger.last, { status: 'failed' })
    isClean(t, all)
  })

  t.test('if the reader is slower than the total time limit, the stream fails', async (t) => {
    const all = setup([[text('a'), theEnd]])
    const iterator = (await all.stream()).events[Symbol.asyncIterator]()
    await iterator.next()
    await iterator.next()
    await all.clock.advance(1_000_000)
    t.match(await fault(iterator.next()), { kind: 'timed_out' })
    t.match(all.ledger.last, { status: 'failed' })
    isClean(t, all)
  })

  t.test('if the reader aborts its signal after the settlement, the last events are still delivered', async (t) => {
    const all = setup([[text('a'), theEnd]])
    const client = new AbortController()
    const iterator = (await all.stream({ signal: client.signal })).events[Symbol.asyncIterator]()
    for (let i = 0; i < 3; i++) await iterator.next()
    t.match(await iterator.next(), { value: { type: 'itemCompleted' } })
    client.abort()
    t.match(await iterator.next(), { value: { type: 'completed' } })
    t.match(await iterator.next(), { done: true })
    t.match(all.ledger.last, { status: 'succeeded' })
    isClean(t, all)
  })

  t.test("the adapter's clean-up runs, however the stream ended", async (t) => {
    const parts: Part[] = [text('a'), text('b'), theEnd, text('after the end')]
    for (const reads of [0, 1, 2, 3, 100]) {
      const all = setup([parts])
      let cleaned = 0
      const llm = all.chooser.world.catalog.stage('llm')[0]?.provider.ports.llm
      if (!llm) throw new Error('no llm')
      llm.stream = async function* () {
        try {
          yield* script(parts) as AsyncIterable<LlmEvent>
        } finally {
          cleaned += 1
        }
      }
      const iterator = (await all.stream()).events[Symbol.asyncIterator]()
      for (let i = 0; i < reads; i++) await iterator.next()
      await iterator.return?.()
      await settled()
      t.equal(cleaned, 1, `after ${reads} reads`)
      isClean(t, all)
    }
  })
  t.end()
})
