/**
 * OpenAI on 127.0.0.1: chat completions, responses, transcriptions, speech, realtime transcription. A model named
 * voxtral behaves like Mistral's.
 */
import type { ServerResponse } from 'node:http'
import type { Cell, SeenRequest, VendorStub } from '../suite/matrix.ts'
import { sendJson, startStub } from '../suite/stub-server.ts'
import { refuse } from './stub-answers.ts'
import { chat } from './stub-chat.ts'
import { listen, refuseUpgrade } from './stub-realtime.ts'
import { respond } from './stub-responses.ts'
import { speak, transcribe } from './stub-speech.ts'

export function startOpenAiStub(options: { tls?: { key: string; cert: string } } = {}): Promise<VendorStub> {
  return startStub({ ...options, http: answer, refuseUpgrade, socket: listen, protocol: 'realtime' })
}

/** Operations by the end of the path. Any version may come before it. */
const operations: [
  path: string,
  play: (request: SeenRequest, response: ServerResponse, cell: Cell) => Promise<void> | void,
][] = [
  ['/chat/completions', chat],
  ['/responses', respond],
  ['/audio/transcriptions', transcribe],
  ['/audio/speech', speak],
  ['/models', (_request, response, cell) => sendJson(response, { object: 'list', data: [model] }, {}, cell)],
  // The key of the request, at OpenRouter.
  ['/key', (_request, response, cell) => sendJson(response, { data: { label: 'stub', usage: 0 } }, {}, cell)],
]
const model = { id: 'stub', object: 'model', created: 0, owned_by: 'stub' }

function answer(request: SeenRequest, response: ServerResponse, cell: Cell): Promise<void> | void {
  if (cell === 'hang') return
  if (refuse(request, response, cell)) return
  const operation = operations.find(([path]) => request.path.split('?')[0]?.endsWith(path))
  if (!operation) return void response.writeHead(404).end('{}')
  return operation[1](request, response, cell)
}
