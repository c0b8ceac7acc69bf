/**
 * generateContent on 127.0.0.1, for text and for speech. It checks requests as strictly as the vendor documents, so a
 * wrong request fails.
 */
import type { ServerResponse } from 'node:http'
import { wavHeader } from '../../../audio/wav.ts'
import { answerText, callArguments } from '../suite/llm.ts'
import type { Cell, SeenRequest, VendorStub } from '../suite/matrix.ts'
import { cutSoon, pause, pieces, resetSoon, sendEvent, sendJson, slowMs, startStub } from '../suite/stub-server.ts'
import { speechPcm } from '../suite/tts.ts'

export type Play = (response: ServerResponse, request: SeenRequest) => void | Promise<void>

export interface GeminiStub extends VendorStub {
  /** Sets the behaviour until the next `behave`. */
  play(play: Play): void
}

/** The usage in the domain's counts: 25 input, 40 cached, 9 output, 3 reasoning. */
export const usageMetadata = {
  promptTokenCount: 65,
  cachedContentTokenCount: 40,
  candidatesTokenCount: 9,
  thoughtsTokenCount: 3,
  totalTokenCount: 77,
}

export async function startGeminiStub(): Promise<GeminiStub> {
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

/** Makes an error body in the form google.rpc.Status. */
export const errorBody = (code: number, status: string, details?: object[]) => ({
  error: { code, message: 'the vendor says no', status, ...(details && { details }) },
})

const type = (name: string) => ({ '@type': `type.googleapis.com/google.rpc.${name}` })
export const errorInfo = (reason: string) => ({ ...type('ErrorInfo'), reason, domain: 'googleapis.com' })
export const retryInfo = (retryDelay: string) => ({ ...type('RetryInfo'), retryDelay })
export const quotaFailure = (quotaId: string) => ({ ...type('QuotaFailure'), violations: [{ quotaId }] })

const errors: Partial<Record<Cell, ReturnType<typeof errorBody>>> = {
  auth: errorBody(400, 'INVALID_ARGUMENT', [errorInfo('API_KEY_INVALID')]),
  quota: errorBody(429, 'RESOURCE_EXHAUSTED', [
    quotaFailure('GenerateRequestsPerDayPerProjectPerModel-FreeTier'),
    retryInfo('37s'),
  ]),
  rate_limited: errorBody(429, 'RESOURCE_EXHAUSTED', [
    quotaFailure('GenerateRequestsPerMinutePerProjectPerModel'),
    retryInfo('6.2s'),
  ]),
  rate_limited_bare: errorBody(429, 'RESOURCE_EXHAUSTED'),
  overloaded: errorBody(503, 'UNAVAILABLE'),
  server: errorBody(500, 'INTERNAL'),
  bad_request: errorBody(400, 'INVALID_ARGUMENT'),
}

type Asked = {
  contents?: { role: string; parts: { text?: string; functionCall?: object; functionResponse?: object }[] }[]
  tools?: { functionDeclarations: { name: string }[] }[]
  generationConfig?: { responseModalities?: string[]; speechConfig?: object }
}

async function answer(request: SeenRequest, response: ServerResponse, cell: Cell): Promise<void> {
  const refused = errors[cell]
  if (refused) return sendJson(response, refused, { status: refused.error.code })
  if (request.method === 'GET') return listModels(request, response, cell)
  const asked = JSON.parse(request.body.toString()) as Asked
  const complaint = complaintAbout(request, asked)
  if (complaint !== null) {
    response.statusMessage = complaint
    return sendJson(response, errorBody(400, 'INVALID_ARGUMENT'), { status: 400 })
  }
  if (cell === 'hang') return
  const speaks = asked.generationConfig?.responseModalities?.includes('AUDIO') === true
  if (request.path.includes(':stream')) return stream(response, speaks ? speech(cell) : text(asked, cell), cell)
  if (cell === 'slow_first_byte') await pause(slowMs)
  if (cell === 'error_mid') return sendJson(response, errorBody(503, 'UNAVAILABLE'))
  const parts = (speaks ? speech(cell) : text(asked, cell)).flat()
  sendJson(response, piece(parts, 'STOP'), {}, cell)
}

function listModels({ path }: SeenRequest, response: ServerResponse, cell: Cell): void {
  if (path.split('?')[0] !== '/v1beta/models') return sendJson(response, errorBody(404, 'NOT_FOUND'), { status: 404 })
  sendJson(response, { models: [{ name: 'models/gemini-2.5-flash', displayName: 'Flash' }] }, {}, cell)
}

/** Returns null if the request is valid, else the fault. */
function complaintAbout({ path, headers }: SeenRequest, { contents = [] }: Asked): string | null {
  const count = (at: number, field: 'functionCall' | 'functionResponse') =>
    (contents[at]?.parts ?? []).filter((part) => part[field]).length
  if (!/^\/v1beta\/models\/[\w.-]+:(generateContent|streamGenerateContent\?alt=sse)$/.test(path)) return 'path'
  if (!headers['x-goog-api-key']) return 'key'
  if (contents.length === 0) return 'contents'
  if (contents.some(({ role }) => role !== 'user' && role !== 'model')) return 'role'
  if (contents.some(({ parts }) => parts.length === 0 || parts.some((part) => part.text === ''))) return 'empty part'
  const answered = contents.every(
    (_, at) => count(at, 'functionCall') === 0 || count(at, 'functionCall') === count(at + 1, 'functionResponse'),
  )
  return answered ? null : 'a call without its response'
}

type Part = Record<string, unknown>

/**
 * Returns the parts for each event. The first two events, a thought and a signature without text, do not belong to the
 * answer.
 */
function text({ tools }: Asked, cell: Cell): Part[][] {
  if (cell === 'empty') return []
  const preface = [[{ text: 'Hm.', thought: true }], [{ text: '', thoughtSignature: 'c2lnbmVk' }]]
  if (cell === 'header_only') return preface
  const name = tools?.[0]?.functionDeclarations[0]?.name
  if (name) return [...preface, [{ functionCall: { name, args: callArguments }, thoughtSignature: 'c2lnbmVk' }]]
  return [...preface, [{ text: answerText.slice(0, 7) }], [{ text: answerText.slice(7) }]]
}

/** Returns the parts for each event. In two test cases the speech begins with a WAV header, cut into two events. */
function speech(cell: Cell): Part[][] {
  if (cell === 'empty') return []
  const header = wavHeader({ encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }, speechPcm.length)
  const torn = cell === 'slow_first_byte' || cell === 'header_only' ? [header.subarray(0, 3), header.subarray(3)] : []
  const samples = cell === 'header_only' ? [] : pieces(speechPcm, cell)
  return [...torn, ...samples].map((bytes) => [audioPart(bytes)])
}

export const audioPart = (bytes: Uint8Array, mimeType = 'audio/L16;codec=pcm;rate=24000'): Part => ({
  inlineData: { mimeType, data: Buffer.from(bytes).toString('base64') },
})

export const piece = (parts: readonly Part[], finishReason?: string) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...(finishReason !== undefined && { finishReason }) }],
  usageMetadata,
  modelVersion: 'stub',
  responseId: 'resp-stub',
})

/** Sends the events. Failures occur after the third event; in `slow_first_byte` the wait comes after the second. */
async function stream(response: ServerResponse, events: Part[][], cell: Cell): Promise<void> {
  if (cell === 'garbage') {
    await sendEvent(response, '{"candidates": [{"con')
    return void response.end()
  }
  for (const [at, parts] of events.entries()) {
    if (at === 2 && cell === 'slow_first_byte') await pause(slowMs)
    await sendEvent(response, piece(parts))
    if (at < 2) continue
    if (cell === 'cut') return void response.end()
    if (cell === 'reset') return resetSoon(response)
    if (cell === 'error_mid') {
      await sendEvent(response, errorBody(503, 'UNAVAILABLE'))
      return cutSoon(response)
    }
  }
  await sendEvent(response, piece([], 'STOP'))
  response.end()
}
