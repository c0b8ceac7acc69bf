/** Deepgram on 127.0.0.1. It refuses requests as the vendor documents, so a wrong adapter fails. */
import type { ServerResponse } from 'node:http'
import { wavHeader } from '../../../audio/wav.ts'
import type { Cell, SeenRequest, VendorStub } from '../suite/matrix.ts'
import {
  cutSoon,
  pause,
  pieces,
  type Refusal,
  refusals,
  resetSoon,
  type StubSocket,
  samplesOf,
  sendJson,
  slowMs,
  startStub,
  transcriptOf,
} from '../suite/stub-server.ts'
import { speechPcm } from '../suite/tts.ts'
import { playFlux, playListen, playSpeak } from './stub-sockets.ts'

type PlayHttp = (response: ServerResponse, request: SeenRequest) => void
type PlaySocket = (socket: StubSocket, request: SeenRequest) => void

export interface DeepgramStub extends VendorStub {
  /**
   * Sets the function that answers all HTTP requests, or the function that plays all sockets, until the next `behave`.
   */
  play(http: PlayHttp): void
  playSocket(socket: PlaySocket): void
}

export async function startDeepgramStub(): Promise<DeepgramStub> {
  let http: PlayHttp | null = null
  let socket: PlaySocket | null = null
  const stub = await startStub({
    http: (request, response, cell) => (http ? http(response, request) : answer(request, response, cell)),
    refuseUpgrade: (request, cell) => (cell === 'hang' ? 'hang' : refusalOf(request, cell)),
    socket: (open, request, cell) => {
      if (socket) return socket(open, request)
      if (request.path.startsWith('/v2/listen')) playFlux(open, cell)
      else if (request.path.startsWith('/v1/speak')) playSpeak(open, cell)
      else playListen(open, queryOf(request), cell)
    },
  })
  return {
    ...stub,
    get openSockets() {
      return stub.openSockets
    },
    get endedSockets() {
      return stub.endedSockets
    },
    behave(cell) {
      http = null
      socket = null
      stub.behave(cell)
    },
    play(custom) {
      stub.behave('ok')
      http = custom
    },
    playSocket(custom) {
      stub.behave('ok')
      socket = custom
    },
  }
}

export const queryOf = ({ path }: SeenRequest): URLSearchParams => new URL(path, 'http://stub').searchParams

/** The error bodies, in all forms of the vendor. */
const bodies: Partial<Record<Cell, object | string>> = {
  auth: { err_code: 'INVALID_AUTH', err_msg: 'Invalid credentials.', request_id: 'stub' },
  quota: { err_code: 'ASR_PAYMENT_REQUIRED', err_msg: 'Not enough credits.', request_id: 'stub' },
  rate_limited: { err_code: 'TOO_MANY_REQUESTS', err_msg: 'Too many requests.', request_id: 'stub' },
  rate_limited_bare: { err_code: 'Too Many Requests', err_msg: 'Please try again later.', request_id: 'stub' },
  overloaded: { error_code: 'Service Unavailable', err_msg: 'Please try again later', request_id: 'stub' },
  server: '"Internal server error"',
  bad_request: { category: 'INVALID_JSON', message: 'Invalid JSON submitted.', details: 'line 7', request_id: 'stub' },
}

function refusalOf(request: SeenRequest, cell: Cell): Refusal | null {
  const refused = refusals[cell]
  const body = bodies[cell]
  if (refused && body) return { ...refused, body }
  const complaint = complaintAbout(request)
  if (complaint === null) return null
  return { status: 400, body: { err_code: 'Bad Request', err_msg: complaint, request_id: 'stub' } }
}

const g711Rates = ['8000', '16000']
const rates: Partial<Record<string, string[]>> = {
  linear16: ['8000', '16000', '24000', '32000', '48000'],
  mulaw: g711Rates,
  alaw: g711Rates,
}
const fluxRates = ['8000', '16000', '24000', '44100', '48000']

/** Returns the fault in a request; null if the request is valid. */
function complaintAbout(request: SeenRequest): string | null {
  const { path, method, headers } = request
  const query = queryOf(request)
  const [route = ''] = path.split('?')
  const encoding = query.get('encoding') ?? ''
  const rate = query.get('sample_rate') ?? ''
  const model = query.get('model') ?? ''
  if (!headers['authorization']?.startsWith('Token ')) return 'key'
  if (model.startsWith('nova-3') && query.has('keywords')) return 'keywords'
  if (!model.startsWith('nova-3') && !model.startsWith('flux') && query.has('keyterm')) return 'keyterm'
  if (route === '/v1/auth/token') return method === 'GET' ? null : 'method'
  if (route === '/v1/speak') {
    if (!/^aura-2-[a-z]+-[a-z]{2}$/.test(model)) return 'no such model'
    if (encoding === 'opus') return query.has('sample_rate') || query.get('container') !== 'ogg' ? 'opus' : null
    return rates[encoding]?.includes(rate) ? null : 'sample_rate'
  }
  if (route === '/v2/listen')
    return model.startsWith('flux-') && fluxRates.includes(rate) && !query.has('language') ? null : 'flux'
  if (route !== '/v1/listen' || !model.startsWith('nova')) return 'no such model'
  if (method === 'POST')
    return /^(audio\/|application\/octet-stream$)/.test(headers['content-type'] ?? '') ? null : 'content-type'
  return encoding !== '' && rate !== '' && !query.has('detect_language') ? null : 'encoding'
}

async function answer(request: SeenRequest, response: ServerResponse, cell: Cell): Promise<void> {
  const refused = refusalOf(request, cell)
  if (refused) return refuse(response, refused)
  if (cell === 'hang') return
  if (request.path.startsWith('/v1/speak')) return speak(response, cell)
  if (request.path === '/v1/auth/token') return sendJson(response, { api_key_id: 'stub', scopes: ['usage'] }, {}, cell)
  if (cell === 'slow_first_byte') await pause(slowMs)
  if (cell === 'header_only') return void response.writeHead(200, { 'content-type': 'application/json' }).end()
  sendJson(response, cell === 'empty' ? {} : transcription(request), {}, cell)
}

function refuse(response: ServerResponse, { status, headers, body = '' }: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

function transcription({ body }: SeenRequest): object {
  const samples = samplesOf(body)
  const duration = samples.length / 2 / 16_000
  const transcript = transcriptOf(samples)
  const words = transcript
    .split(' ')
    .filter(Boolean)
    .map((word, i) => ({ word, punctuated_word: word, start: i / 10, end: (i + 1) / 10, confidence: 0.9, speaker: i }))
  const utterances = transcript === '' ? [] : [{ start: 0, end: duration, transcript, words, speaker: 0, channel: 0 }]
  return {
    metadata: {
      request_id: 'stub',
      sha256: '',
      created: '2026-11-21T00:00:00Z',
      duration,
      channels: 1,
      models: [],
      model_info: {},
    },
    results: {
      channels: [{ alternatives: [{ transcript, confidence: 0.9, words }], detected_language: 'en' }],
      utterances,
    },
  }
}

async function speak(response: ServerResponse, cell: Cell): Promise<void> {
  if (cell === 'garbage') return sendJson(response, {}, {}, cell)
  const isWav = cell === 'header_only'
  response.writeHead(200, { 'content-type': isWav ? 'audio/wav' : 'audio/l16;rate=24000' })
  if (isWav) response.write(wavHeader({ encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }, speechPcm.length))
  if (isWav || cell === 'empty') return void response.end()
  response.flushHeaders()
  if (cell === 'slow_first_byte') await pause(slowMs)
  for (const [at, piece] of pieces(speechPcm, cell).entries()) {
    if (at === 3 && cell === 'cut') return cutSoon(response)
    if (at === 3 && cell === 'reset') return resetSoon(response)
    response.write(piece)
    await new Promise(setImmediate)
  }
  response.end()
}
