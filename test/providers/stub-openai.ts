/**
 * A server on 127.0.0.1 with OpenAI's protocol. Each request takes the next behaviour that a test has set, such as a
 * failure. If no behaviour is left, the answer is correct.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import busboy from 'busboy'

export type Behaviour =
  | { kind: 'ok'; text?: string; finish?: string; usage?: object }
  /** Two function calls, with their arguments in pieces. */
  | { kind: 'tool_call' }
  /**
   * Acts as an agent's LLM: calls the request's first tool if there is one, repeats the result of a tool, and answers
   * in JSON if the request has a schema.
   */
  | { kind: 'agent' }
  /** One function call, after a text if there is one. */
  | { kind: 'call'; name: string; id?: string; arguments?: string; text?: string; usage?: object }
  | { kind: 'slow'; delayMs: number }
  /** Answers when the promise resolves. */
  | { kind: 'held'; until: Promise<void> }
  | { kind: 'hang' }
  /** Sends the status line and the headers, and then nothing. */
  | { kind: 'headers_only' }
  | { kind: 'status'; status: number; code?: string; headers?: Record<string, string> }
  /** Answers 200 with an error in the body. */
  | { kind: 'error_body'; code?: string }
  /** Answers 200 without content. */
  | { kind: 'empty' }
  /**
   * Stops in the middle: an event stream ends cleanly before its last event, and any other body ends before its length.
   */
  | { kind: 'cut' }
  | { kind: 'reset' }
  /** Sends an event `data: {"error": …}` in the middle of the stream. */
  | { kind: 'error_mid' }
  | { kind: 'garbage' }
  /** Sends speech in chunks with an odd byte count. */
  | { kind: 'half_sample' }
  | { kind: 'custom'; answer: (request: StubRequest, response: ServerResponse) => unknown }

export type StubPart = { name: string; filename?: string; type?: string; body: Buffer }
export type StubRequest = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
  /** The JSON body, or an empty object. */
  json: Record<string, unknown>
  /** The parts in their order of arrival. */
  parts: StubPart[]
  /** Resolves once the client has closed the connection or received the whole answer. */
  closed: Promise<void>
}

export type StubOpenAi = {
  /** `http://127.0.0.1:port`; the API is under `/v1`. */
  url: string
  port: number
  requests: StubRequest[]
  /** Sets the behaviours for the next requests, in this order. */
  behave(...next: Behaviour[]): void
  /** Counts the open connections. */
  connections(): number
  close(): Promise<void>
}

export const stubUsage = {
  prompt_tokens: 12,
  completion_tokens: 9,
  total_tokens: 21,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 3 },
}
export const stubText = 'Hello from the stub.'
/** 60 ms of a 440 Hz sine, 24 kHz s16le mono. */
export const stubSpeech = sine(1440)
/** Returns a digest instead of a transcript, so lost or doubled audio is noticed. */
export const transcriptOf = (file: Uint8Array) =>
  `heard ${createHash('sha256').update(file).digest('hex').slice(0, 16)}`

export async function startStubOpenAi(options: { port?: number } = {}): Promise<StubOpenAi> {
  const requests: StubRequest[] = []
  const behaviours: Behaviour[] = []
  const sockets = new Set<Socket>()
  const server = createServer((incoming, response) => {
    void receive(incoming, response).then((request) => {
      requests.push(request)
      return answer(behaviours.shift() ?? { kind: 'ok' }, request, response)
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    behave: (...next) => void behaviours.push(...next),
    connections: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Holds the answer to one request until a test releases it. */
export function holding(): { behaviour: Behaviour; release: () => void } {
  let release = () => {}
  const until = new Promise<void>((resolve) => {
    release = resolve
  })
  return { behaviour: { kind: 'held', until }, release }
}

async function receive(incoming: IncomingMessage, response: ServerResponse): Promise<StubRequest> {
  const closed = new Promise<void>((resolve) => response.once('close', resolve))
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  const type = incoming.headers['content-type'] ?? ''
  const json = type.startsWith('application/json') ? (JSON.parse(body.toString()) as Record<string, unknown>) : {}
  const parts = type.startsWith('multipart/form-data') ? await readParts(incoming.headers, body) : []
  const { method = '', url = '', headers } = incoming
  return { method, path: url, headers, body, json, parts, closed }
}

function readParts(headers: IncomingHttpHeaders, body: Buffer): Promise<StubPart[]> {
  return new Promise((resolve, reject) => {
    const parts: StubPart[] = []
    const parser = busboy({ headers })
    parser.on('field', (name, value) => parts.push({ name, body: Buffer.from(value) }))
    parser.on('file', (name, stream, { filename, mimeType }) => {
      const part: StubPart = { name, filename, type: mimeType, body: Buffer.alloc(0) }
      const chunks: Buffer[] = []
      parts.push(part)
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        part.body = Buffer.concat(chunks)
      })
    })
    parser.on('close', () => resolve(parts))
    parser.on('error', reject)
    parser.end(body)
  })
}

async function answer(behaviour: Behaviour, request: StubRequest, response: ServerResponse): Promise<void> {
  switch (behaviour.kind) {
    case 'hang':
      return
    case 'headers_only':
      response.writeHead(200, { 'content-type': mediaType(request) })
      return response.flushHeaders()
    case 'status':
      return sendError(response, behaviour.status, behaviour.code ?? null, behaviour.headers)
    case 'error_body':
      return sendError(response, 200, behaviour.code ?? null)
    case 'custom':
      return void (await behaviour.answer(request, response))
    case 'agent':
      return succeed(agentTurn(request), request, response)
    case 'slow':
      await new Promise((resolve) => setTimeout(resolve, behaviour.delayMs))
      return succeed({ kind: 'ok' }, request, response)
    case 'held':
      await behaviour.until
      return succeed({ kind: 'ok' }, request, response)
    case 'garbage':
      response.writeHead(200, { 'content-type': mediaType(request) })
      return void response.end(streams(request) ? 'data: {"choices": [{\n\n' : '{"text": "tr')
    case 'ok':
    case 'tool_call':
    case 'call':
    case 'empty':
    case 'cut':
    case 'reset':
    case 'error_mid':
    case 'half_sample':
      return succeed(behaviour, request, response)
  }
}

function succeed(behaviour: Behaviour, request: StubRequest, response: ServerResponse): Promise<void> | void {
  const path = request.path.split('?')[0] ?? ''
  if (path.endsWith('/models'))
    return sendJson(response, { object: 'list', data: [{ id: 'stub', object: 'model' }] }, behaviour)
  if (path.endsWith('/audio/transcriptions')) return transcribe(behaviour, request, response)
  if (path.endsWith('/audio/speech')) return speak(behaviour, request, response)
  if (path.endsWith('/chat/completions'))
    return streams(request) ? chatStream(behaviour, response) : chat(behaviour, response)
  sendError(response, 404, 'unknown_url')
}

/** The model name in the stub's answers. */
const stubModel = 'chat-2026-11-01'

function chat(behaviour: Behaviour, response: ServerResponse): void {
  const text = textIn(behaviour)
  const calls = callsOf(behaviour)
  const content = calls.length > 0 && text === '' ? null : text
  const message = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }
  const finish = calls.length > 0 ? 'tool_calls' : (behaviour.kind === 'ok' && behaviour.finish) || 'stop'
  const completion = {
    id: 'chatcmpl-1',
    model: stubModel,
    choices: [{ index: 0, message, finish_reason: finish }],
    usage: usageIn(behaviour),
  }
  sendJson(response, completion, behaviour)
}

function chatStream(behaviour: Behaviour, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (value: object) => response.write(`data: ${JSON.stringify(value)}\n\n`)
  const delta = (value: object, finish: string | null = null) =>
    send({ id: 'chatcmpl-1', model: stubModel, choices: [{ index: 0, delta: value, finish_reason: finish }] })
  delta({ role: 'assistant', content: '' })
  const calls = callsOf(behaviour)
  const words = textIn(behaviour).match(/\S+\s*/g) ?? []
  for (const [index, word] of words.entries()) {
    if (index === 2 && behaviour.kind === 'cut') return void response.end()
    if (index === 2 && behaviour.kind === 'reset') return resetSoon(response)
    if (index === 2 && behaviour.kind === 'error_mid') {
      send({ error: { message: 'broken', type: 'server_error', param: null, code: null } })
      return void response.end()
    }
    delta({ content: word })
  }
  for (const [index, call] of calls.entries()) sendCall(delta, call, index)
  delta({}, calls.length > 0 ? 'tool_calls' : (behaviour.kind === 'ok' && behaviour.finish) || 'stop')
  send({ id: 'chatcmpl-1', choices: [], usage: usageIn(behaviour) })
  response.end('data: [DONE]\n\n')
}

function textIn(behaviour: Behaviour): string {
  if (behaviour.kind === 'empty' || behaviour.kind === 'tool_call') return ''
  if (behaviour.kind === 'call') return behaviour.text ?? ''
  return (behaviour.kind === 'ok' && behaviour.text) || stubText
}

function usageIn(behaviour: Behaviour): object {
  return ('usage' in behaviour && behaviour.usage) || stubUsage
}

type Message = { role: string; content: string | { text: string }[] | null }

/** Answers one step in a conversation with tools, chosen by the request's content. */
function agentTurn({ json }: StubRequest): Behaviour {
  const last = (json['messages'] as Message[] | undefined)?.at(-1)
  if (last?.role === 'tool') return { kind: 'ok', text: `The tool says: ${textOf(last)}` }
  const [tool] = (json['tools'] as { function: { name: string } }[] | undefined) ?? []
  if (tool) return { kind: 'call', name: tool.function.name }
  return json['response_format'] ? { kind: 'ok', text: '{"city":"Oslo"}' } : { kind: 'ok' }
}

function textOf({ content }: Message): string {
  return typeof content === 'string' ? content : (content ?? []).map((part) => part.text).join('')
}

type ToolCall = { id: string; type: 'function'; function: { name: string; arguments: string } }
const toolCalls: ToolCall[] = [
  { id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
  { id: 'call_b', type: 'function', function: { name: 'clock', arguments: '{}' } },
]

function callsOf(behaviour: Behaviour): ToolCall[] {
  if (behaviour.kind === 'tool_call') return toolCalls
  if (behaviour.kind !== 'call') return []
  const { id = 'call_a', name, arguments: text = '{"city":"Oslo"}' } = behaviour
  return [{ id, type: 'function', function: { name, arguments: text } }]
}

function sendCall(delta: (value: object) => void, call: ToolCall, index: number): void {
  const [name, text] = [call.function.name, call.function.arguments]
  delta({ tool_calls: [{ index, id: call.id, type: 'function', function: { name, arguments: '' } }] })
  for (const piece of text.match(/.{1,8}/g) ?? []) delta({ tool_calls: [{ index, function: { arguments: piece } }] })
}

function transcribe(behaviour: Behaviour, request: StubRequest, response: ServerResponse): void {
  const file = request.parts.find((part) => part.name === 'file')
  const model = request.parts.findIndex((part) => part.name === 'model')
  if (!file || model !== 0) return sendError(response, 400, 'bad_parts')
  const text = behaviour.kind === 'empty' ? '' : transcriptOf(file.body)
  const verbose = request.parts.some((part) => part.body.toString() === 'verbose_json')
  const segments = [{ id: 0, start: 0, end: 1.25, text: ` ${text}` }]
  const words = text.split(' ').map((word, index) => ({ word, start: index * 0.5, end: index * 0.5 + 0.4 }))
  const usage = { type: 'duration', seconds: 2 }
  sendJson(
    response,
    verbose ? { text, language: 'english', duration: 1.25, segments, words, usage } : { text, usage },
    behaviour,
  )
}

async function speak(behaviour: Behaviour, request: StubRequest, response: ServerResponse): Promise<void> {
  if (typeof request.json['voice'] !== 'string') return sendError(response, 400, 'voice_required')
  response.writeHead(200, { 'content-type': mediaType(request) })
  if (behaviour.kind === 'empty') return void response.end()
  const chunkBytes = behaviour.kind === 'half_sample' ? 577 : 960
  for (let at = 0; at < stubSpeech.length; at += chunkBytes) {
    if (at > 0 && behaviour.kind === 'cut') return void response.socket?.end()
    if (at > 0 && behaviour.kind === 'reset') return resetSoon(response)
    response.write(stubSpeech.subarray(at, at + chunkBytes))
    // Each chunk is sent in a separate packet.
    await new Promise(setImmediate)
  }
  response.end()
}

const streams = (request: StubRequest) => request.json['stream'] === true

function mediaType(request: StubRequest): string {
  if (request.path.endsWith('/audio/speech')) return 'audio/pcm'
  return streams(request) ? 'text/event-stream' : 'application/json'
}

function sendJson(response: ServerResponse, value: object, behaviour?: Behaviour): void {
  const text = JSON.stringify(value)
  const length = Buffer.byteLength(text)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length })
  if (behaviour?.kind !== 'cut' && behaviour?.kind !== 'reset') return void response.end(text)
  response.write(text.slice(0, 10))
  if (behaviour.kind === 'reset') return resetSoon(response)
  response.socket?.end()
}

function sendError(
  response: ServerResponse,
  status: number,
  code: string | null,
  headers?: Record<string, string>,
): void {
  const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
  const error = { message: 'the vendor says no', type, param: null, code }
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ error }))
}

/** Resets the connection a little later, so the client receives the written beginning first. */
function resetSoon(response: ServerResponse): void {
  setTimeout(() => response.socket?.resetAndDestroy(), 20)
}

function sine(samples: number): Buffer {
  const audio = Buffer.alloc(samples * 2)
  for (let i = 0; i < samples; i++)
    audio.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * 440 * i) / 24_000)), i * 2)
  return audio
}
