/**
 * The Messages API on 127.0.0.1. It checks requests as strictly as the vendor documents, so a wrong request by an
 * adapter fails.
 */
import type { ServerResponse } from 'node:http'
import { answerText, callArguments } from '../suite/llm.ts'
import type { Cell, SeenRequest, VendorStub } from '../suite/matrix.ts'
import { cutSoon, pause, refusals, resetSoon, sendEvent, sendJson, slowMs, startStub } from '../suite/stub-server.ts'

export type Play = (response: ServerResponse, request: SeenRequest) => void | Promise<void>

export interface AnthropicStub extends VendorStub {
  /** Sets the behaviour until the next `behave`. */
  play(play: Play): void
}

/** The usage in the domain's counts: 20 + 5 input, 40 cached, 9 output, 3 reasoning. */
export const usage = {
  input_tokens: 20,
  cache_creation_input_tokens: 5,
  cache_read_input_tokens: 40,
  output_tokens: 12,
  output_tokens_details: { thinking_tokens: 3 },
  server_tool_use: null,
}

export async function startAnthropicStub(): Promise<AnthropicStub> {
  let custom: Play | null = null
  const stub = await startStub({
    http: (request, response, cell) => (custom ? custom(response, request) : answer(request, response, cell)),
  })
  return {
    ...stub,
    get openSockets() {
      return stub.openSockets
    },
    behave(cell) {
      custom = null
      stub.behave(cell)
    },
    play(play) {
      stub.behave('ok')
      custom = play
    },
  }
}

/** The vendor's error type and status for each refusal. */
const errors: Partial<Record<Cell, { status: number; type: string }>> = {
  auth: { status: 401, type: 'authentication_error' },
  quota: { status: 402, type: 'billing_error' },
  rate_limited: { status: 429, type: 'rate_limit_error' },
  rate_limited_bare: { status: 429, type: 'rate_limit_error' },
  overloaded: { status: 529, type: 'overloaded_error' },
  server: { status: 500, type: 'api_error' },
  bad_request: { status: 400, type: 'invalid_request_error' },
}

export const errorBody = (type: string, details?: object) => ({
  type: 'error',
  error: { type, message: 'the vendor says no', ...(details && { details }) },
  request_id: 'req_stub',
})

type Asked = {
  model?: string
  max_tokens?: number
  stream?: boolean
  messages?: { role: string; content: string | Block[] }[]
  tools?: { name: string; input_schema?: object }[]
}
type Block = { type: string; text?: string; id?: string; tool_use_id?: string }

async function answer(request: SeenRequest, response: ServerResponse, cell: Cell): Promise<void> {
  const refused = errors[cell]
  if (refused) {
    const headers = { 'request-id': 'req_stub', ...refusals[cell]?.headers }
    return sendJson(response, errorBody(refused.type), { status: refused.status, headers })
  }
  if (request.method === 'GET') return listModels(request, response, cell)
  const asked = JSON.parse(request.body.toString()) as Asked
  const complaint = complaintAbout(request, asked)
  if (complaint !== null) {
    response.statusMessage = complaint
    return sendJson(response, errorBody('invalid_request_error'), { status: 400 })
  }
  if (cell === 'hang') return
  if (asked.stream) return stream(asked, response, cell)
  if (cell === 'slow_first_byte') await pause(slowMs)
  if (cell === 'error_mid') return sendJson(response, errorBody('overloaded_error'))
  sendJson(response, message(asked, cell), {}, cell)
}

function listModels({ path }: SeenRequest, response: ServerResponse, cell: Cell): void {
  if (path.split('?')[0] !== '/v1/models') return sendJson(response, errorBody('not_found_error'), { status: 404 })
  const model = { type: 'model', id: 'claude-haiku-4-5', display_name: 'Haiku', created_at: '2025-10-01T00:00:00Z' }
  sendJson(response, { data: [model], has_more: false, first_id: model.id, last_id: model.id }, {}, cell)
}

/** Returns null if the request is valid, else the fault. */
function complaintAbout({ path, headers }: SeenRequest, asked: Asked): string | null {
  const blocks = (asked.messages ?? []).map(({ content }) => (typeof content === 'string' ? [] : content))
  const results = (at: number) => (blocks[at] ?? []).map(({ tool_use_id: id }) => id)
  if (path !== '/v1/messages') return 'path'
  if (!headers['x-api-key'] && !headers['authorization']?.startsWith('Bearer ')) return 'key'
  if (!headers['anthropic-version']) return 'version'
  if (!asked.model || !asked.max_tokens || !asked.messages?.length) return 'required'
  if (asked.messages.some(({ role }) => role !== 'user' && role !== 'assistant')) return 'role'
  if (blocks.flat().some(({ type, text }) => type === 'text' && !text)) return 'empty text'
  if (asked.tools?.some(({ input_schema: schema }) => !schema)) return 'input_schema'
  const answered = blocks.every((turn, at) =>
    turn.every(({ type, id }) => type !== 'tool_use' || results(at + 1).includes(id)),
  )
  return answered ? null : 'a call without its result'
}

const textBlock = { type: 'text', text: answerText, citations: null }
const thinkingBlock = { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' }
const toolBlock = (name: string) => ({ type: 'tool_use', id: 'toolu_1', name, input: callArguments })

function message(asked: Asked, cell: Cell) {
  const tool = asked.tools?.[0]
  const nothing = cell === 'empty' || cell === 'header_only'
  return {
    id: 'msg_stub',
    type: 'message',
    role: 'assistant',
    model: asked.model,
    content: nothing ? [] : tool ? [thinkingBlock, toolBlock(tool.name)] : [thinkingBlock, textBlock],
    stop_reason: tool && !nothing ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage,
  }
}

type StreamEvent = { type: string; [field: string]: unknown }

async function stream(asked: Asked, response: ServerResponse, cell: Cell): Promise<void> {
  const send = (event: StreamEvent) => sendEvent(response, event, event.type)
  const opened = {
    ...message(asked, 'empty'),
    stop_reason: null,
    usage: { ...usage, output_tokens: 1, output_tokens_details: null },
  }
  await send({ type: 'message_start', message: opened })
  await send({ type: 'ping' })
  if (cell === 'slow_first_byte') await pause(slowMs)
  if (cell === 'garbage') {
    await sendEvent(response, '{"type": "content_bl', 'content_block_start')
    return void response.end()
  }
  const { content, stop_reason } = message(asked, cell)
  for (const [index, block] of content.entries()) {
    await send({ type: 'content_block_start', index, content_block: startOf(block) })
    for (const [at, delta] of deltasOf(block).entries()) {
      await send({ type: 'content_block_delta', index, delta })
      if (block.type === 'thinking' || at > 0) continue
      if (cell === 'cut') return void response.end()
      if (cell === 'reset') return resetSoon(response)
      if (cell === 'error_mid') {
        await send(errorBody('overloaded_error'))
        return cutSoon(response)
      }
    }
    await send({ type: 'content_block_stop', index })
  }
  await send({
    type: 'message_delta',
    delta: { stop_reason, stop_sequence: null },
    usage: { ...usage, input_tokens: null },
  })
  await send({ type: 'message_stop' })
  response.end()
}

type Content = ReturnType<typeof message>['content'][number]

function startOf(block: Content): object {
  if ('text' in block) return { ...block, text: '' }
  if ('thinking' in block) return { ...block, thinking: '', signature: '' }
  return { ...block, input: {} }
}

/** Answers in pieces. Like the vendor, it leaves the first piece of a tool call's arguments empty. */
function deltasOf(block: Content): object[] {
  if ('text' in block) return halves(block.text).map((text) => ({ type: 'text_delta', text }))
  if ('input' in block)
    return ['', ...halves(JSON.stringify(block.input))].map((partial_json) => ({
      type: 'input_json_delta',
      partial_json,
    }))
  return [
    { type: 'thinking_delta', thinking: block.thinking },
    { type: 'signature_delta', signature: block.signature },
  ]
}

const halves = (text: string) => [text.slice(0, 7), text.slice(7)]
