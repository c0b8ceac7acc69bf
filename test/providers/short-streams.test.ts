/** Tests provider streams whose last event has no closing blank line, as several servers send it. */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import t from 'tap'
import type { LlmEvent, PassThroughPart } from '../../domain/ports/llm.ts'
import { MessageTurn } from '../../providers/anthropic/answer.ts'
import { ContentTurn } from '../../providers/gemini/answer.ts'
import type { JsonObject } from '../../providers/wire/json.ts'
import { type AnswerReader, readLlmEvents } from '../../providers/wire/llm-events.ts'
import type { StreamedAnswer } from '../../runtime/outbound/answer.ts'
import { readEventStream } from '../../runtime/outbound/event-stream.ts'
import { OutboundError } from '../../runtime/outbound/outbound-error.ts'
import { ask, collect, failure, never, openStub } from './openai-setup.ts'
import type { Behaviour } from './stub-openai.ts'

const { stub, provider, real } = await openStub(t)
const responses = provider({ responses: true })
t.teardown(() => responses.close())

const chunk = (delta: object, finish: string | null, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: finish }], ...more })}`
const text = chunk({ role: 'assistant', content: 'all of it' }, null)
const stop = chunk({}, 'stop')
const usage = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } })}`

function bodies(...texts: string[]): Behaviour[] {
  const answerOf = (body: string) => (_: unknown, response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body)
  return texts.map((body) => ({ kind: 'custom', answer: answerOf(body) }))
}

const whole = [
  `${text}\n\n${stop}\n`,
  `${text}\n\n${stop}`,
  `${text}\r\n\r\n${stop}\r\n`,
  `${text}\r\n\r\n${stop}\r\n\r`,
  `${text}\n\nevent: message\nid: 7\n${stop}`,
  `${text}\n\n${stop}\n\ndata: [DONE]`,
  `${text}\n\n${stop}\n\n: a comment`,
  `${text}\n\n${stop}\n\ndata: [DO`,
  `${text}\n\n${stop}\n\n${usage.slice(0, -3)}`,
  `${text}\r\r${stop}\r`,
  `\ufeff${text}\n\n${stop}`,
  `${text}\n\n${stop.replace('data: ', 'data:')}`,
  `retry: 3000\n\n: PROCESSING\n\n${text}\n\n${stop}\nid: 9`,
  `${text}\n\n${stop}\n\ndata:`,
  `${text}\n\n${stop}\n\ndata: [DONE]\n\ndata: {"late":`,
]

t.test('the last event of a chat stream is read even if no blank line follows', async (t) => {
  for (const body of whole) {
    stub.behave(...bodies(body, body))
    const parts = await collect(real.llm.chat!.stream({ model: 'chat', body: { messages: [] } }, never))
    t.match(parts.at(-1)?.content, [{ finish_reason: 'stop' }], JSON.stringify(body.slice(-20)))
    const events = await collect<LlmEvent>(real.llm.stream(ask, never))
    t.match(events, [
      { type: 'text', delta: 'all of it' },
      { type: 'end', stopReason: 'stop' },
    ])
  }
})

t.test('usage in the last event of a chat stream is read even if no blank line follows', async (t) => {
  const body = `${text}\n\n${stop}\n\n${usage}\n`
  stub.behave(...bodies(body, body))
  const parts = await collect(real.llm.chat!.stream({ model: 'chat', body: { messages: [] } }, never))
  t.match(parts.at(-1)?.usage?.counts, { inputTokens: 3, outputTokens: 4 })
  t.match((await collect<LlmEvent>(real.llm.stream(ask, never))).at(-1), { usage: { inputTokens: 3 } })
})

t.test(
  'an answer is whole if the connection is cut after the finish reason, and has failed if it is cut before',
  async (t) => {
    const cutBehind = (sent: string): Behaviour => ({
      kind: 'custom',
      answer: (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(sent, () => response.socket?.resetAndDestroy())
      },
    })
    const both = () => [
      collect(real.llm.chat!.stream({ model: 'chat', body: { messages: [] } }, never)),
      collect<LlmEvent>(real.llm.stream(ask, never)),
    ]
    for (const last of [`${stop}\n\n`, `${stop}\n\n${usage}\n\n`, `${stop}\n\n${usage}`, stop]) {
      const cut = cutBehind(`${text}\n\n${last}`)
      stub.behave(cut, cut)
      const [parts, events] = (await Promise.all(both())) as [PassThroughPart[], LlmEvent[]]
      t.match(parts[1]?.content, [{ finish_reason: 'stop' }], last)
      t.equal(parts.at(-1)?.usage?.counts.inputTokens, last.includes(usage) ? 3 : undefined)
      t.match(events, [{ delta: 'all of it' }, { type: 'end', stopReason: 'stop' }])
    }
    for (const last of ['', stop.slice(0, -4)]) {
      const cut = cutBehind(`${text}\n\n${last}`)
      stub.behave(cut, cut)
      for (const stream of both()) t.equal((await failure(stream)).errorClass, 'protocol', last)
    }
  },
)

t.test('an error in the last event has its error class, and an incomplete event is dropped', async (t) => {
  const broken = [
    [`${text}\n\ndata: {"error":{"message":"no","type":"server_error"}}\n`, 'server'],
    [`${text}\n\n${stop.slice(0, -4)}`, 'protocol'],
    [`${text}\n\n${stop.slice(0, -1)}\n`, 'protocol'],
    [text, 'protocol'],
  ] as const
  for (const [body, expected] of broken) {
    stub.behave(...bodies(body, body))
    const passed = collect(real.llm.chat!.stream({ model: 'chat', body: { messages: [] } }, never))
    t.equal((await failure(passed)).errorClass, expected, body.slice(-20))
    t.equal((await failure(collect(real.llm.stream(ask, never)))).errorClass, expected)
  }
})

t.test('the last event of an OpenAI response is read even if no blank line follows', async (t) => {
  const completed = { status: 'completed', usage: { input_tokens: 3, output_tokens: 4 }, output: [] }
  const delta = 'data: {"type":"response.output_text.delta","delta":"all of it"}'
  const last = `data: ${JSON.stringify({ type: 'response.completed', response: completed })}`
  stub.behave(...bodies(`${delta}\n\n${last}`))
  t.match((await collect<LlmEvent>(responses.llm.stream(ask, never))).at(-1), { type: 'end', stopReason: 'stop' })
})

/** Yields the body, and then fails if the connection is cut. */
async function* chunksOf(body: string, cut?: OutboundError): AsyncGenerator<Buffer> {
  yield await Promise.resolve(Buffer.from(body))
  if (cut) throw cut
}

/** Each vendor's events for one answer. */
const vendors: [name: string, reader: () => AnswerReader, events: object[]][] = [
  [
    'Anthropic',
    () => new MessageTurn(),
    [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'all of it' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    ],
  ],
  [
    'Gemini',
    () => new ContentTurn(),
    [
      { candidates: [{ content: { parts: [{ text: 'all of it' }] } }] },
      { candidates: [{ content: { parts: [] }, finishReason: 'STOP' }] },
      { usageMetadata: { candidatesTokenCount: 3 } },
    ],
  ],
]

for (const [name, reader, events] of vendors)
  t.test(`the last event of a stream from ${name} is read even if no blank line follows`, async (t) => {
    const read = (body: string, cut?: OutboundError) => {
      const chunks = Object.assign(Readable.from(chunksOf(body, cut)), { discard: () => {} })
      const answer = { body: chunks } as unknown as StreamedAnswer
      return collect(readLlmEvents(answer, reader(), (data) => JSON.parse(data) as JsonObject, 1000))
    }
    for (const [line, between, end] of [
      ['', '\n\n', ''],
      ['', '\n\n', '\n'],
      ['event: x\n', '\r\n\r\n', '\r\n'],
      ['', '\r\r', '\r'],
    ] as const) {
      const body = events.map((event) => `${line}data: ${JSON.stringify(event)}`).join(between) + end
      t.match(await read(body), [
        { type: 'text', delta: 'all of it' },
        { type: 'end', stopReason: 'stop', usage: { outputTokens: 3 } },
      ])
    }
    const [first, second] = events.map((event) => `data: ${JSON.stringify(event)}\n\n`)
    for (const cut of [undefined, new OutboundError('cut', true)]) {
      const finished = await read(`${first}${second}`, cut)
      t.match(finished.at(-1), { type: 'end', stopReason: 'stop' }, 'only its end is missing')
      t.equal((await failure(read(first ?? '', cut))).errorClass, 'protocol', 'nothing has ended it')
    }
  })

t.test('an event of several lines is read, and so is an event whose character is split over two chunks', async (t) => {
  const read = (...pieces: (string | Buffer)[]) =>
    collect(readEventStream(Readable.from(pieces.map((piece) => Buffer.from(piece))), 200))
  t.same(await read('event: x\ndata: {\ndata: "a": 1}'), [{ event: 'x', data: '{\n"a": 1}' }])
  const umlaut = Buffer.from('data: {"a":"größer"}')
  t.same(await read(umlaut.subarray(0, 13), umlaut.subarray(13)), [{ data: '{"a":"größer"}' }])
  t.same(await read('data: {"a":1}\n\ndata: {"b"', ':2}'), [{ data: '{"a":1}' }, { data: '{"b":2}' }])
  t.same(await read('data: {\ndata: "a": 1'), [], 'cut off')
  t.same(await read('data: '), [])
})
