/** Answers POST /responses. */
import type { ServerResponse } from 'node:http'
import { answerText, callArguments } from '../suite/llm.ts'
import type { Cell, SeenRequest } from '../suite/matrix.ts'
import { cutSoon, pause, resetSoon, sendEvent, sendJson, slowMs } from '../suite/stub-server.ts'
import { bodyOf, overloaded } from './stub-answers.ts'

export const responseUsage = {
  input_tokens: 12,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 21,
}

export function respond(request: SeenRequest, response: ServerResponse, cell: Cell): Promise<void> {
  const body = bodyOf(request)
  const call = Array.isArray(body['tools']) ? ((body['tools'] as { name: string }[])[0]?.name ?? '') : null
  return body['stream'] === true ? stream(request, response, cell, call) : whole(request, response, cell, call)
}

const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] }
const messageOf = (text: string, status: string) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status,
  content: status === 'completed' ? [{ type: 'output_text', text, annotations: [] }] : [],
})
const callOf = (name: string, text: string, status: string) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_a',
  name,
  arguments: text,
  status,
})
const responseOf = (output: object[], status: string, error: object | null = null) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_790_000_000,
  model: 'stub',
  status,
  error,
  incomplete_details: null,
  output,
  usage: status === 'completed' ? responseUsage : null,
})

function outputOf(cell: Cell, call: string | null): object[] {
  if (cell === 'empty') return []
  if (cell === 'header_only') return [reasoning]
  return [
    reasoning,
    call === null ? messageOf(answerText, 'completed') : callOf(call, JSON.stringify(callArguments), 'completed'),
  ]
}

async function whole(request: SeenRequest, response: ServerResponse, cell: Cell, call: string | null): Promise<void> {
  if (cell === 'slow_first_byte') await pause(slowMs)
  if (cell === 'error_mid') return sendJson(response, responseOf([], 'failed', overloaded(request)))
  sendJson(response, responseOf(outputOf(cell, call), 'completed'), {}, cell)
}

async function stream(request: SeenRequest, response: ServerResponse, cell: Cell, call: string | null): Promise<void> {
  let sequence = 0
  const send = (type: string, fields: object) =>
    sendEvent(response, { type, sequence_number: sequence++, ...fields }, type)
  const output = outputOf(cell, call)
  await send('response.created', { response: responseOf([], 'in_progress') })
  await send('response.in_progress', { response: responseOf([], 'in_progress') })
  for (const [index, item] of output.slice(0, 1).entries()) {
    await send('response.output_item.added', { output_index: index, item })
    await send('response.output_item.done', { output_index: index, item })
  }
  if (cell === 'slow_first_byte') await pause(slowMs)
  if (output.length > 1) {
    if (call !== null) await streamCall(send, call)
    else if (!(await streamText(send, request, response, cell))) return
  }
  await send('response.completed', { response: responseOf(output, 'completed') })
  response.end()
}

type Send = (type: string, fields: object) => Promise<void>

async function streamText(send: Send, request: SeenRequest, response: ServerResponse, cell: Cell): Promise<boolean> {
  const at = { item_id: 'msg_1', output_index: 1, content_index: 0 }
  await send('response.output_item.added', { output_index: 1, item: messageOf('', 'in_progress') })
  await send('response.content_part.added', { ...at, part: { type: 'output_text', text: '', annotations: [] } })
  for (const [index, word] of (answerText.match(/\S+\s*/g) ?? []).entries()) {
    if (index === 2 && (await breaks(send, request, response, cell))) return false
    await send('response.output_text.delta', { ...at, delta: word, logprobs: [] })
  }
  await send('response.output_text.done', { ...at, text: answerText, logprobs: [] })
  await send('response.output_item.done', { output_index: 1, item: messageOf(answerText, 'completed') })
  return true
}

async function breaks(send: Send, request: SeenRequest, response: ServerResponse, cell: Cell): Promise<boolean> {
  if (cell === 'cut') cutSoon(response)
  else if (cell === 'reset') resetSoon(response)
  else if (cell === 'garbage') await sendEvent(response, '{"type": "resp')
  else if (cell === 'error_mid') {
    const { code, message, param } = overloaded(request)
    await send('error', { code, message, param })
    response.end()
  } else return false
  return cell !== 'garbage'
}

async function streamCall(send: Send, name: string): Promise<void> {
  const text = JSON.stringify(callArguments)
  await send('response.output_item.added', { output_index: 1, item: callOf(name, '', 'in_progress') })
  for (const delta of text.match(/.{1,6}/g) ?? [])
    await send('response.function_call_arguments.delta', { item_id: 'fc_1', output_index: 1, delta })
  await send('response.function_call_arguments.done', { item_id: 'fc_1', output_index: 1, name, arguments: text })
  await send('response.output_item.done', { output_index: 1, item: callOf(name, text, 'completed') })
}
