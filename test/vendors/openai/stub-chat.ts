/** Answers POST /chat/completions. */
import type { ServerResponse } from 'node:http'
import { answerText, callArguments } from '../suite/llm.ts'
import type { Cell, SeenRequest } from '../suite/matrix.ts'
import { cutSoon, pause, resetSoon, sendEvent, sendJson, slowMs } from '../suite/stub-server.ts'
import { bodyOf, overloaded } from './stub-answers.ts'

export const chatUsage = {
  prompt_tokens: 12,
  completion_tokens: 9,
  total_tokens: 21,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 3 },
}

export function chat(request: SeenRequest, response: ServerResponse, cell: Cell): Promise<void> {
  const body = bodyOf(request)
  const call = Array.isArray(body['tools']) ? nameOf(body['tools']) : null
  return body['stream'] === true ? stream(request, response, cell, call) : whole(request, response, cell, call)
}

const nameOf = (tools: unknown[]) => (tools as { function: { name: string } }[])[0]?.function.name ?? ''
const head = { id: 'chatcmpl-1', created: 1_790_000_000, model: 'stub' }

async function whole(request: SeenRequest, response: ServerResponse, cell: Cell, call: string | null): Promise<void> {
  if (cell === 'slow_first_byte') await pause(slowMs)
  if (cell === 'error_mid') return sendJson(response, { error: overloaded(request) })
  const message = { role: 'assistant', ...(cell !== 'header_only' && said(cell === 'empty' ? '' : answerText, call)) }
  const finish = call === null ? 'stop' : 'tool_calls'
  const choices = [{ index: 0, message, finish_reason: finish }]
  sendJson(response, { ...head, object: 'chat.completion', choices, usage: chatUsage }, {}, cell)
}

const said = (content: string, call: string | null) =>
  call === null ? { content } : { content: null, tool_calls: [toolCall(call, JSON.stringify(callArguments))] }
const toolCall = (name: string, text: string) => ({
  id: 'call_a',
  type: 'function',
  function: { name, arguments: text },
})

async function stream(request: SeenRequest, response: ServerResponse, cell: Cell, call: string | null): Promise<void> {
  const chunk = (choices: object[], usage: object | null = null) =>
    sendEvent(response, { ...head, object: 'chat.completion.chunk', choices, usage })
  const delta = (value: object, finish: string | null = null) =>
    chunk([{ index: 0, delta: value, finish_reason: finish }])
  if (cell !== 'empty') await delta({ role: 'assistant', content: '' })
  if (cell === 'slow_first_byte') await pause(slowMs)
  if (call !== null) await callInPieces(delta, call)
  for (const [index, word] of (call === null && !saysNothing(cell)
    ? (answerText.match(/\S+\s*/g) ?? [])
    : []
  ).entries()) {
    if (index === 2) {
      if (cell === 'cut') return cutSoon(response)
      if (cell === 'reset') return resetSoon(response)
      if (cell === 'garbage') await sendEvent(response, '{"choices": [{')
      if (cell === 'error_mid') return void (await sendEvent(response, { error: overloaded(request) }), response.end())
    }
    await delta({ content: word })
  }
  await delta({}, call === null ? 'stop' : 'tool_calls')
  await chunk([], chatUsage)
  await sendEvent(response, '[DONE]')
  response.end()
}

const saysNothing = (cell: Cell) => cell === 'empty' || cell === 'header_only'

async function callInPieces(delta: (value: object) => Promise<void>, name: string): Promise<void> {
  await delta({ tool_calls: [{ index: 0, ...toolCall(name, '') }] })
  for (const piece of JSON.stringify(callArguments).match(/.{1,6}/g) ?? [])
    await delta({ tool_calls: [{ index: 0, function: { arguments: piece } }] })
}
