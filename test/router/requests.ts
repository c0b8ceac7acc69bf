/**
 * Sends requests to a running Parley. The requests are not made by the generated client, so each test shows the
 * important bytes.
 */
import { randomUUID } from 'node:crypto'
import type { TestClock } from '../clock.ts'
import { judge } from '../oracle.ts'

/** If there is a clock, time passes while a test waits for an answer. */
export type Target = { url: string; key: string; clock?: TestClock }
export type Answer = { status: number; headers: Headers; text: string; json: <T = Envelope>() => T }
export type Envelope = {
  error: {
    code: string
    message: string
    hint: string
    retryable: boolean
    request_id: string
    type: string
    param?: string
    retry_after_seconds?: number
    original_request_id?: string
    attempts?: { provider: string; model: string; outcome: string; milliseconds: number }[]
  }
}

export async function send(target: Target, path: string, init: RequestInit = {}): Promise<Answer> {
  const headers = { authorization: `Bearer ${target.key}`, ...(init.headers as Record<string, string> | undefined) }
  const url = target.url + path
  const asked = fetch(url, { ...init, headers }).then(async (answer) => {
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, text, json: <T>() => JSON.parse(text) as T }
  })
  const answer = await passing(target, asked)
  judge({ url, method: init.method }, { ...answer, type: answer.headers.get('content-type') })
  return answer
}

/** Lets time pass until the work is over. */
export function passing<T>({ clock }: Pick<Target, 'clock'>, work: Promise<T>): Promise<T> {
  return clock === undefined ? work : clock.during(work)
}

export function postJson(
  target: Target,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const usual = { 'content-type': 'application/json', 'idempotency-key': randomUUID() }
  return send(target, path, { method: 'POST', body: text, headers: { ...usual, ...headers } })
}

export type FormPart = { name: string; type: string; data: Uint8Array | string; filename?: string }

/** Writes a multipart/form-data body (RFC 7578) with the parts in this order. */
export function form(parts: readonly FormPart[], boundary = `b${randomUUID()}`): { body: Buffer; type: string } {
  const chunks: Buffer[] = []
  for (const part of parts) {
    const file = part.filename ? `; filename="${part.filename}"` : ''
    chunks.push(
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${part.name}"${file}\r\nContent-Type: ${part.type}\r\n\r\n`,
      ),
    )
    chunks.push(Buffer.from(part.data as Uint8Array), Buffer.from('\r\n'))
  }
  chunks.push(Buffer.from(`--${boundary}--\r\n`))
  return { body: Buffer.concat(chunks), type: `multipart/form-data; boundary=${boundary}` }
}

export function transcriptionParts(request: unknown, audio: Uint8Array): FormPart[] {
  return [
    {
      name: 'request',
      type: 'application/json',
      data: typeof request === 'string' ? request : JSON.stringify(request),
    },
    { name: 'audio', type: 'application/octet-stream', data: audio, filename: 'audio' },
  ]
}

export function postForm(
  target: Target,
  path: string,
  parts: readonly FormPart[],
  headers: Record<string, string> = {},
  boundary?: string,
): Promise<Answer> {
  const { body, type } = form(parts, boundary)
  return send(target, path, {
    method: 'POST',
    body,
    headers: { 'content-type': type, 'idempotency-key': randomUUID(), ...headers },
  })
}

export const transcriptions = '/router/v1/stt/transcriptions'
export const speech = '/router/v1/tts/speech'
export const responses = '/router/v1/llm/responses'

export function transcribe(
  target: Target,
  audio: Uint8Array,
  request: unknown = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  return postForm(target, transcriptions, transcriptionParts(request, audio), headers)
}

/** Returns a request body for the LLM route with one user message. */
export function ask(text: string, more: object = {}): object {
  return {
    input: [{ type: 'message', role: 'user', content: [{ type: 'text', text }] }],
    max_output_tokens: 200,
    ...more,
  }
}

export type StreamEvent = { id: string; event: string; data: unknown }

/** Splits a complete SSE body (WHATWG HTML §9.2) into its events and drops comments. */
export function readEvents(text: string): StreamEvent[] {
  return text
    .split('\n\n')
    .filter((block) => block.split('\n').some((line) => line !== '' && !line.startsWith(':')))
    .map((block) => {
      const field = (name: string) =>
        block
          .split('\n')
          .find((line) => line.startsWith(`${name}:`))
          ?.slice(name.length + 1)
          .trim() ?? ''
      return { id: field('id'), event: field('event'), data: JSON.parse(field('data')) as unknown }
    })
}
