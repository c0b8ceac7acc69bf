/**
 * Sends requests and makes resources for the hostile organization's attacks, and for the honest organization's measured
 * requests (probes).
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Target } from '../../test/router/requests.ts'
import { readFixture } from '../../test/speech/fixtures.ts'
import { made } from './made.ts'

export const callPath = { chat: '/v1/chat/completions', transcribe: '/v1/audio/transcriptions' } as const

/** If a probe gets no answer in this time, it has failed. */
const answerMsMax = 10_000

export const chatBody = (model: string, stream = false): string =>
  JSON.stringify({ model: `mock/${model}`, messages: [{ role: 'user', content: 'Which lines are open?' }], stream })

export function recordingBody(): FormData {
  const form = new FormData()
  form.set('model', 'auto')
  form.set('language', 'en')
  form.set('file', new Blob([readFixture('please-try-call-later')]), 'a.wav')
  return form
}

/** Resolves with the status, or with 0 if there was no answer in time. Reads the whole answer. */
export async function post(target: Target, body: string | FormData, path: string = callPath.chat): Promise<number> {
  const type = typeof body === 'string' ? { 'content-type': 'application/json' } : {}
  const headers = { authorization: `Bearer ${target.key}`, 'idempotency-key': randomUUID(), ...type }
  const signal = AbortSignal.timeout(answerMsMax)
  try {
    const answer = await fetch(target.url + path, { method: 'POST', body, headers, signal })
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return 0
  }
}

/** Names the embedded voice: otherwise another provider would take the texts while this voice is busy. */
export function speak(target: Target, input: string): Promise<number> {
  const body = { model: 'local/flite', voice: 'auto', input, response_format: 'wav' }
  return post(target, JSON.stringify(body), '/v1/audio/speech')
}

/** Connects to the realtime API. */
export function realtimeSocket({ url, key }: Target): WebSocket {
  const address = `${url.replace('http', 'ws')}/v1/synthesize/stream`
  return new WebSocket(address, 'service.realtime.v1', { headers: { authorization: `Bearer ${key}` } })
}

/** Opens a realtime socket, configures it and waits until it is ready. */
export async function readySocket(target: Target): Promise<WebSocket> {
  const socket = realtimeSocket(target)
  const signal = AbortSignal.timeout(answerMsMax)
  await once(socket, 'open', { signal })
  socket.send(JSON.stringify({ type: 'config', model: 'loopback/loopback' }))
  const [frame] = (await once(socket, 'message', { signal })) as [Buffer]
  if (!frame.includes('ready')) throw new Error(`the first frame was ${frame.toString()}`)
  return socket
}

/** Creates a voice session and joins it. */
export async function joinSession(target: Target, agentId?: string): Promise<WebSocket> {
  const setup = agentId === undefined ? { intent: { language: 'en' } } : { agentId }
  const session = await made<{ transportUrl: string; transportToken: string }>(target, '/v1/sessions', setup)
  const socket = new WebSocket(session.transportUrl, [
    'service.session.v1',
    `service.ephemeral.${session.transportToken}`,
  ])
  await once(socket, 'open', { signal: AbortSignal.timeout(answerMsMax) })
  return socket
}

/** Makes an agent whose model calls the tool in each turn. */
export async function toolAgent(target: Target, url: string): Promise<string> {
  const { id } = await made<{ id: string }>(target, '/v1/agents', {
    name: 'Weather desk',
    systemPrompt: 'Answer questions about the weather.',
    intent: { language: 'en' },
    llmOptions: { model: 'mock:tooled' },
  })
  await made(target, `/v1/agents/${id}/tools`, {
    name: 'weather',
    description: 'Says the weather.',
    parameters: { type: 'object', properties: {} },
    source: { kind: 'webhook', url },
  })
  return id
}

/** A peer's address and port in its SIP messages. */
export type SipSender = { address: string; port: number }

export const optionsOf = (sender: SipSender): string => sipText('OPTIONS', sender, 'sip:any@127.0.0.1')

/** Writes an INVITE. If no organization has the number, the answer is a refusal and ends the call. */
export const inviteOf = (sender: SipSender, number: string): string =>
  sipText('INVITE', sender, `sip:${number}@127.0.0.1`)

function sipText(method: string, { address, port }: SipSender, uri: string): string {
  const id = randomUUID()
  const lines = [
    `${method} ${uri} SIP/2.0`,
    `Via: SIP/2.0/UDP ${address}:${port};branch=z9hG4bK-${id};rport`,
    `From: <sip:+15557654321@${address}>;tag=${id.slice(0, 8)}`,
    `To: <${uri}>`,
    `Call-ID: ${id}`,
    `CSeq: 1 ${method}`,
    'Max-Forwards: 70',
    `Contact: <sip:far@${address}:${port}>`,
    'Content-Length: 0',
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}
