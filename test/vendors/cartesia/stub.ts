/** Cartesia on 127.0.0.1. It refuses requests that the vendor's types do not allow, so a wrong adapter fails. */
import type { ServerResponse } from 'node:http'
import type { Cell, SeenRequest, VendorStub } from '../suite/matrix.ts'
import {
  cutSoon,
  pause,
  pieces,
  type Refusal,
  resetSoon,
  samplesOf,
  sendJson,
  slowMs,
  startStub,
  transcriptOf,
} from '../suite/stub-server.ts'
import { complaintAboutSpeech, encodings, failures, type OutputFormat, says, spoken } from './stub-answers.ts'
import { playFinalizing, playSpeech, playTurns } from './stub-sockets.ts'

export function startCartesiaStub(tls?: { key: string; cert: string }): Promise<VendorStub> {
  return startStub({
    ...(tls && { tls }),
    http: answer,
    refuseUpgrade: (request, cell) => (cell === 'hang' ? 'hang' : upgradeRefusal(request, cell)),
    socket: (socket, request, cell) => {
      const url = urlOf(request)
      if (url.pathname === '/tts/websocket') playSpeech(socket, cell)
      else if (url.pathname === '/stt/turns/websocket') playTurns(socket, url.searchParams, cell)
      else playFinalizing(socket, url.searchParams, cell)
    },
  })
}

export const urlOf = ({ path }: SeenRequest): URL => new URL(path, 'http://stub')

function refusalOf(cell: Cell): Refusal | null {
  const failure = failures[cell]
  if (!failure) return null
  const { status, ...rest } = failure
  return {
    status,
    body: { ...rest, ...says },
    ...(cell === 'rate_limited' && { headers: { 'retry-after': '7' } }),
  }
}

/** Refuses a request without the API key or the API version. The error for a missing version is plain text. */
function identityRefusal({ headers, path }: SeenRequest): Refusal | null {
  const { searchParams } = urlOf({ path } as SeenRequest)
  if (!headers['authorization']?.startsWith('Bearer ')) return refusalOf('auth')
  if ((headers['cartesia-version'] ?? searchParams.get('cartesia_version')) === '2026-08-14') return null
  return { status: 400, body: 'Bad request: no version' }
}

/** Refuses an upgrade, or returns null. Other errors come in a frame after the upgrade. */
function upgradeRefusal(request: SeenRequest, cell: Cell): Refusal | null {
  if (cell === 'auth' || cell === 'rate_limited') return refusalOf(cell)
  const { pathname, searchParams } = urlOf(request)
  const identity = identityRefusal(request)
  if (identity || pathname === '/tts/websocket') return identity
  const isSupported =
    Number(searchParams.get('sample_rate')) > 0 && encodings.includes(searchParams.get('encoding') ?? '')
  const model = searchParams.get('model') ?? ''
  if (pathname === '/stt/turns/websocket') return isSupported && model === 'ink-2' ? null : refusalOf('bad_request')
  if (pathname === '/stt/websocket') return isSupported && model.startsWith('ink-') ? null : refusalOf('bad_request')
  return { status: 404 }
}

async function answer(request: SeenRequest, response: ServerResponse, cell: Cell): Promise<void> {
  if (cell === 'hang') return
  const refusal = refusalOf(cell) ?? identityRefusal(request)
  if (refusal) return sendJson(response, refusal.body, refusal)
  const { pathname } = urlOf(request)
  if (pathname === '/tts/bytes') return speak(request, response, cell)
  if (pathname === '/stt') return transcribe(request, response, cell)
  if (pathname === '/voices') return sendJson(response, { data: [], has_more: false }, {}, cell)
  sendJson(response, {}, { status: 404 })
}

async function speak({ body }: SeenRequest, response: ServerResponse, cell: Cell): Promise<void> {
  const order = JSON.parse(body.toString()) as Record<string, unknown>
  const complaint = complaintAboutSpeech(order)
  if (complaint !== null) return sendJson(response, { error_code: null, ...says, title: complaint }, { status: 400 })
  if (cell === 'garbage') return sendJson(response, {}, {}, cell)
  response.writeHead(200, { 'content-type': 'audio/wav' })
  response.flushHeaders()
  if (cell === 'empty') return void response.end()
  if (cell === 'slow_first_byte') await pause(slowMs)
  const chunks = pieces(spoken(order['output_format'] as OutputFormat), cell)
  for (const chunk of chunks.slice(0, 3)) {
    response.write(chunk)
    await new Promise(setImmediate)
  }
  if (cell === 'cut') return cutSoon(response)
  if (cell === 'reset') return resetSoon(response)
  response.end(Buffer.concat(chunks.slice(3)))
}

async function transcribe(request: SeenRequest, response: ServerResponse, cell: Cell): Promise<void> {
  if (cell === 'slow_first_byte') await pause(slowMs)
  if (cell === 'header_only') return void response.writeHead(200, { 'content-type': 'application/json' }).end()
  if (cell === 'empty') return sendJson(response, { type: 'transcript' })
  const { fields, file } = await formOf(request)
  if (!fields['model']?.startsWith('ink-whisper')) return sendJson(response, {}, { status: 400 })
  const samples = samplesOf(file)
  const duration = samples.length / 32_000
  const text = transcriptOf(samples)
  const body = { type: 'transcript', text, language: fields['language'] ?? 'en', duration, request_id: says.request_id }
  const words = fields['timestamp_granularities[]'] === 'word' ? { words: wordsOf(text, duration) } : {}
  sendJson(response, { ...body, ...words }, {}, cell)
}

function wordsOf(text: string, durationS: number): object[] {
  const words = text.split(' ').filter(Boolean)
  const step = durationS / Math.max(1, words.length)
  return words.map((word, i) => ({ word, start: i * step, end: (i + 1) * step }))
}

/** Reads the multipart form like any server. */
export async function formOf({
  headers,
  body,
}: SeenRequest): Promise<{ fields: Record<string, string>; file: Buffer }> {
  const response = new Response(body, { headers: { 'content-type': headers['content-type'] ?? '' } })
  const entries = [...(await response.formData()).entries()]
  const file = entries.find(([name]) => name === 'file')?.[1]
  return {
    fields: Object.fromEntries(entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))),
    file: file instanceof Blob ? Buffer.from(await file.arrayBuffer()) : Buffer.alloc(0),
  }
}
