/**
 * A provider and tool host for both organizations, in a separate process. The model's name chooses the answer: `quick`
 * answers at once, `endless` sends events until the reader leaves, `stopped` sends an empty text if the request has
 * stop words, and `tooled` calls its tool and then sends text. The path /hang never answers.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { jsonAnswer, word } from '../mock-answers.ts'

type Body = { model?: string; stop?: unknown; stream?: boolean; messages?: { role: string }[]; tools?: unknown[] }

const server = createServer((request, response) => void answer(request, response))
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit(0))

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf(request)
  if (request.url === '/hang') return
  if (request.url === '/tool') return void response.end('{"result":"sunny"}')
  if (request.url === '/hook') return void response.writeHead(204).end()
  const asked = JSON.parse(body) as Body
  if (asked.model === 'endless') return sendEndless(response)
  if (asked.model === 'hanging') return
  if (asked.model === 'tooled') return sendTooled(response, asked)
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(asked.model === 'stopped' && asked.stop ? emptyAnswer : jsonAnswer)
}

const emptyAnswer = JSON.stringify({
  id: 'chatcmpl-2',
  object: 'chat.completion',
  created: 1,
  model: 'stopped',
  choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 4, completion_tokens: 0, total_tokens: 4 },
})

/**
 * Each stream gets about 2 MB a second. At full speed this process would be busy, and the measurement would show how
 * long the honest organization's requests wait here.
 */
const endlessPageMs = 10

function sendEndless(response: ServerResponse): void {
  const page = word.repeat(100)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const timer = setInterval(() => {
    if (!response.writableNeedDrain) response.write(page)
  }, endlessPageMs)
  response.once('close', () => clearInterval(timer))
}

function sendTooled(response: ServerResponse, { messages = [], tools = [] }: Body): void {
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'tooled', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const isAsked = messages.at(-1)?.role === 'user' && tools.length > 0
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(
    isAsked
      ? `${chunk({ role: 'assistant', tool_calls: [call] }, null)}${chunk({}, 'tool_calls')}data: [DONE]\n\n`
      : `${chunk({ role: 'assistant', content: 'It is sunny.' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`,
  )
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const part of request) body += String(part)
  return body
}
