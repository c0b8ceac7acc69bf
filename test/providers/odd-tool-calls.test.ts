/** Streams with tool calls as servers send them: without an index, with one index for all, or with changing ids. */
import type { ServerResponse } from 'node:http'
import t from 'tap'
import type { LlmEvent } from '../../domain/ports/llm.ts'
import { ask, collect, failure, json, never, openStub } from './openai-setup.ts'

const { stub, real } = await openStub(t)

type Piece = { index?: number; id?: string | null; function?: { name?: string | null; arguments?: unknown } }

/** Makes a chat stream with one chunk for each list of tool call pieces. */
function streamOf(chunks: readonly Piece[][]): string {
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: 'c1', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  return [...chunks.map((pieces) => chunk({ tool_calls: pieces }, null)), chunk({}, 'tool_calls')].join('')
}

function answer(body: string): void {
  const send = (_: unknown, response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body)
  stub.behave({ kind: 'custom', answer: send })
}

/** Returns the calls, each as a string such as `a weather {"city":"Oslo"}`. */
async function callsIn(chunks: readonly Piece[][]): Promise<string[]> {
  answer(streamOf(chunks))
  const calls: string[] = []
  for (const event of await collect<LlmEvent>(real.llm.stream(ask, never))) {
    if (event.type === 'call') calls[event.index] = `${event.callId} ${event.name} `
    if (event.type === 'arguments') calls[event.index] += event.delta
  }
  return calls
}

const oslo = '{"city":"Oslo"}'
const both = [`a weather ${oslo}`, 'b clock {}']
const weather = (more: Piece = {}): Piece => ({ id: 'a', function: { name: 'weather', arguments: oslo }, ...more })
const clock = (more: Piece = {}): Piece => ({ id: 'b', function: { name: 'clock', arguments: '{}' }, ...more })

const rows: [name: string, chunks: Piece[][], calls: string[]][] = [
  ['an index for each call', [[weather({ index: 0 })], [clock({ index: 1 })]], both],
  ['indexes with gaps', [[weather({ index: 1 })], [clock({ index: 7 })]], both],
  ['the index 0 for each call', [[weather({ index: 0 })], [clock({ index: 0 })]], both],
  ['the index 0 for each call, in one chunk', [[weather({ index: 0 }), clock({ index: 0 })]], both],
  ['no index', [[weather()], [clock()]], both],
  [
    'no index and no id',
    [[weather({ id: '' }), clock({ id: '' })]],
    [`call_c1_0 weather ${oslo}`, 'call_c1_1 clock {}'],
  ],
  [
    'a new id with each piece of a call',
    [
      [{ index: 0, id: 'a', function: { name: 'weather' } }],
      [{ index: 0, id: 'x', function: { arguments: oslo.slice(0, 5) } }],
      [{ index: 0, id: 'y', function: { name: '', arguments: oslo.slice(5) } }],
    ],
    [`a weather ${oslo}`],
  ],
  [
    'the id and the name with each piece of a call',
    [
      [weather({ function: { name: 'weather', arguments: '{"city":' } })],
      [weather({ function: { name: 'weather', arguments: '"Oslo"}' } })],
    ],
    [`a weather ${oslo}`],
  ],
  [
    'pieces with neither an index nor an id',
    [[weather({ function: { name: 'weather', arguments: '' } })], [{ function: { arguments: oslo } }], [clock()]],
    both,
  ],
  [
    'arguments as an object',
    [[weather({ function: { name: 'weather', arguments: { city: 'Oslo' } } })]],
    [`a weather ${oslo}`],
  ],
  ['no arguments', [[{ id: 'b', function: { name: 'clock' } }]], ['b clock ']],
  ['arguments that are null', [[{ id: 'b', function: { name: 'clock', arguments: null } }]], ['b clock ']],
]

for (const [name, chunks, calls] of rows)
  t.test(`each tool call in a stream is read separately if the server sends ${name}`, async (t) => {
    t.same(await callsIn(chunks), calls)
  })

t.test('a piece of a tool call without a name is refused if no tool call has begun', async (t) => {
  answer(streamOf([[{ function: { arguments: '{}' } }]]))
  t.equal((await failure(collect(real.llm.stream(ask, never)))).errorClass, 'protocol')
})

t.test('the text parts of an answer are read, and its parts with reasoning are not', async (t) => {
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Let me see.' }] },
    { type: 'text', text: 'All ' },
    { type: 'text', text: 'of it' },
  ]
  stub.behave(json({ choices: [{ message: { content: parts }, finish_reason: 'stop' }] }))
  t.equal((await real.llm.respond(ask, never)).text, 'All of it')
  const chunks = [...parts.map((part) => ({ content: [part] })), { content: '.' }]
  const texts = chunks.map((delta) => `data: ${JSON.stringify({ choices: [{ delta, finish_reason: null }] })}\n\n`)
  answer(`${texts.join('')}data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: 'stop' }] })}\n\n`)
  const events = await collect<LlmEvent>(real.llm.stream(ask, never))
  t.equal(events.map((event) => (event.type === 'text' ? event.delta : '')).join(''), 'All of it.')
})
