/** The TypeScript client leaves no connection open: it cancels each response if the body is not read to its end. */
import t, { type Test } from 'tap'
import type { ClientOptions } from '../../generated/clients/typescript/call.ts'
import { createCompatClient } from '../../generated/clients/typescript/compat.ts'
import { createPlatformClient } from '../../generated/clients/typescript/platform.ts'
import { createRouterClient } from '../../generated/clients/typescript/router.ts'

const delta = 'event: response.text.delta\ndata: {"delta":"a"}\n\n'
const status = 'id: 0:0\nevent: status\ndata: {"status":"in_progress","endedAt":null}\n\n'
const request = { body: { input: [], max_output_tokens: 20, stream: true } }
const sse = 'text/event-stream'
/** The longest JSON body for a client. */
const jsonBytesMax = 64 * 1024 * 1024

/** Answers each request with the text, and never ends the response. Returns how many responses were cancelled. */
function endless(type: string, text: string): { options: ClientOptions; cancelled: () => number } {
  let cancelled = 0
  const fetch = () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
      cancel: () => void cancelled++,
    })
    return Promise.resolve(new Response(body, { headers: { 'content-type': type } }))
  }
  return { options: { baseUrl: 'http://parley.test', apiKey: 'key', fetch }, cancelled: () => cancelled }
}

/** Runs the program, and asserts that its response was then cancelled. */
async function leaves(
  t: Test,
  [type, text]: [type: string, text: string],
  run: (options: ClientOptions) => Promise<unknown>,
): Promise<void> {
  const { options, cancelled } = endless(type, text)
  await run(options)
  t.equal(cancelled(), 1)
}

async function eventsOf(options: ClientOptions) {
  const answer = await createRouterClient(options).createResponse(request)
  if (answer.type !== sse) throw new Error(answer.type)
  return answer.body
}

const iterator = <Item>(items: AsyncIterable<Item>) => items[Symbol.asyncIterator]()

t.test("leaving a loop over a response's events early cancels the response", (t) =>
  leaves(t, [sse, delta], async (options) => {
    for await (const event of await eventsOf(options)) if (event.event === 'response.text.delta') break
  }),
)

t.test("an exception in a loop over a response's events cancels the response", (t) =>
  leaves(t, [sse, delta], async (options) => {
    const events = await eventsOf(options)
    const read = async () => {
      for await (const { event } of events) throw new Error(event)
    }
    await t.rejects(read(), { message: 'response.text.delta' })
  }),
)

t.test('closing the event iterator before its first event cancels the response', (t) =>
  leaves(t, [sse, delta], async (options) => iterator(await eventsOf(options)).return?.()),
)

t.test('leaving the events of a resumable stream cancels the response too', async (t) => {
  const events = async (options: ClientOptions) =>
    (await createPlatformClient(options).streamSession({ path: { id: 's' } })).body
  await leaves(t, [sse, status], async (options) => {
    for await (const { event } of await events(options)) if (event === 'status') break
  })
  await leaves(t, [sse, status], async (options) => iterator(await events(options)).return?.())
})

t.test('an error event in a stream cancels the response', async (t) => {
  const error = { code: 'overloaded', type: 'server_error', message: 'No.', hint: 'Wait.', retryable: true }
  await leaves(t, [sse, 'event: response.text.delta\ndata: {\n\n'], async (options) => {
    await t.rejects(iterator(await eventsOf(options)).next(), { name: 'ProtocolError' })
  })
  await leaves(t, [sse, `data: ${JSON.stringify({ error })}\n\n`], async (options) => {
    const body = { model: 'm', messages: [], stream: true }
    const answer = await createCompatClient(options).createChatCompletion({ body })
    if (answer.type !== sse) throw new Error(answer.type)
    await t.rejects(iterator(answer.body).next(), { code: 'overloaded' })
  })
})

t.test('leaving an audio stream early cancels the response', (t) =>
  leaves(t, ['application/octet-stream', 'au'], async (options) => {
    const { body } = await createRouterClient(options).createSpeech({ body: { input: 'Hi.' } })
    for await (const chunk of body) if (chunk.length > 0) break
  }),
)

t.test('a response that is not in the contract, or has an unexpected or too long body, is cancelled', async (t) => {
  await leaves(t, ['text/html', '<p>Welcome'], (options) =>
    t.rejects(createRouterClient(options).listModels(), { name: 'ProtocolError' }),
  )
  await leaves(t, ['', 'Deleted.'], async (options) => {
    await createPlatformClient(options).deleteWebhook({ path: { id: 'a' } })
  })
  await leaves(t, ['application/json', ' '.repeat(jsonBytesMax + 1)], (options) =>
    t.rejects(createRouterClient(options).listModels(), { name: 'ProtocolError' }),
  )
})
