/** Sends correct requests to the router API's POST operations. A test can replace single parts. */
import { randomUUID } from 'node:crypto'
import {
  type Answer,
  ask,
  form,
  postJson,
  responses,
  send,
  speech,
  type Target,
  transcriptionParts,
  transcriptions,
} from './requests.ts'

/** The parts of one request to a POST operation. A part that is absent gets a correct value. */
export type Shot = { target?: Target; pin?: string; key?: string; content?: string; bytes?: number; type?: string }
export type Post = { operationId: string; pin: string; priced: string | null; shoot: (shot?: Shot) => Promise<Answer> }

export const explicit = (model: string) => ({ routing: { mode: 'explicit', model } })
function json(server: Target, path: string, pin: string, body: (text: string) => object) {
  return ({ target = server, key = randomUUID(), content = 'Hello.', bytes = 0, ...shot }: Shot = {}) => {
    const text = JSON.stringify({ ...body(content), ...explicit(shot.pin ?? pin) })
    const headers = { 'idempotency-key': key, ...(shot.type && { 'content-type': shot.type }) }
    return postJson(target, path, text.padEnd(bytes), headers)
  }
}

export function createPosts(server: Target): readonly Post[] {
  return [
    {
      operationId: 'createTranscription',
      pin: 'mock/mock-stt',
      priced: 'groq/whisper-large-v3',
      shoot: ({ target = server, key = randomUUID(), content = '', bytes = 3200, ...shot } = {}) => {
        const audio = { encoding: 'pcm_s16le', sample_rate_hz: 8000, channels: 1 }
        const request = {
          audio,
          ...(content === '' ? {} : { language: content }),
          ...explicit(shot.pin ?? 'mock/mock-stt'),
        }
        const { body, type } = form(transcriptionParts(request, Buffer.alloc(bytes)))
        const headers = { 'content-type': shot.type ?? type, 'idempotency-key': key }
        return send(target, transcriptions, { method: 'POST', body, headers })
      },
    },
    {
      operationId: 'createSpeech',
      pin: 'mock/mock-tts',
      // This operation cannot run out of credit, because no vendor in the catalog prices speech by the character.
      priced: null,
      shoot: json(server, speech, 'mock/mock-tts', (input) => ({ input })),
    },
    {
      operationId: 'createResponse',
      pin: 'mock/mock',
      priced: 'groq/openai/gpt-oss-20b',
      shoot: json(server, responses, 'mock/mock', (text) => ask(text)),
    },
  ]
}
