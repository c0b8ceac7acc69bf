/**
 * ElevenLabs on 127.0.0.1, with its failures: speech and transcripts over HTTP, stream-input and Scribe realtime over
 * sockets.
 */
import type { ServerResponse } from 'node:http'
import type { Cell, SeenRequest, VendorStub } from '../suite/matrix.ts'
import {
  cutSoon,
  pause,
  pieces,
  type Refusal,
  resetSoon,
  type StubSocket,
  samplesOf,
  sendJson,
  sinePcm,
  slowMs,
  startStub,
  transcriptOf,
} from '../suite/stub-server.ts'
import { account } from './stub-account.ts'

export function startElevenLabsStub(): Promise<VendorStub> {
  return startStub({
    http: answer,
    refuseUpgrade: ({ path }, cell) => (isSpeech(path) ? speechUpgrades : scribeUpgrades)[cell] ?? null,
    socket: (socket, request, cell) => {
      if (isSpeech(request.path)) new StreamInput(socket, request, cell).begin()
      else new Realtime(socket, request, cell).begin()
    },
  })
}

const isSpeech = (path: string) => path.startsWith('/v1/text-to-speech/')

/** 200 ms in the requested format; G.711 and other formats are arbitrary bytes. */
export function spoken(format: string): Buffer {
  const [codec, rate] = format.split('_')
  if (codec === 'opus') return Buffer.concat([Buffer.from('OggS'), Buffer.alloc(500, 7)])
  const pcm = sinePcm(Number(rate) / 5, Number(rate))
  return codec === 'pcm' ? pcm : pcm.subarray(0, pcm.length / 2)
}

const said = { message: 'What the vendor says to people.' }
const detail = (status: string): object => ({ detail: { status, ...said } })
const later = { 'retry-after': '7' }

/** ElevenLabs answers 401 if credit is missing, and 429 both for a rate limit and for overload. */
const refusals: Partial<Record<Cell, Refusal>> = {
  auth: { status: 401, body: detail('invalid_api_key') },
  quota: { status: 401, body: detail('quota_exceeded') },
  rate_limited: { status: 429, headers: later, body: detail('too_many_concurrent_requests') },
  rate_limited_bare: { status: 429, body: detail('too_many_concurrent_requests') },
  overloaded: { status: 429, body: detail('system_busy') },
  server: { status: 500, body: 'Internal Server Error' },
  bad_request: { status: 422, body: { detail: [{ loc: ['body', 'text'], msg: 'field required', type: 'missing' }] } },
}
/** Only these failures refuse the upgrade. Other failures come as a frame. */
const { auth, rate_limited, overloaded } = refusals as Record<Cell, Refusal>
const speechUpgrades: Partial<Record<Cell, Refusal>> = { auth, rate_limited, overloaded }
const scribeUpgrades: Partial<Record<Cell, Refusal>> = { rate_limited }

async function answer(request: SeenRequest, response: ServerResponse, cell: Cell): Promise<void> {
  if (cell === 'hang') return
  const refusal = refusals[cell]
  if (refusal) return sendJson(response, refusal.body, refusal)
  const { pathname, searchParams } = new URL(request.path, 'http://stub')
  if (pathname === '/v1/user') return sendJson(response, account, {}, cell)
  if (pathname === '/v1/speech-to-text') return transcribe(request, response, cell)
  if (/^\/v1\/text-to-speech\/[^/]+(\/stream)?$/.test(pathname))
    return speak(response, cell, searchParams.get('output_format') ?? 'mp3_44100_128')
  sendJson(response, { detail: 'Not Found' }, { status: 404 })
}

async function speak(response: ServerResponse, cell: Cell, format: string): Promise<void> {
  if (cell === 'garbage') return sendJson(response, {}, {}, cell)
  response.writeHead(200, { 'content-type': format.startsWith('pcm') ? 'audio/pcm' : 'audio/basic' })
  response.flushHeaders()
  if (cell === 'empty') return void response.end()
  if (cell === 'slow_first_byte') await pause(slowMs)
  const chunks = pieces(spoken(format), cell)
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
  if (cell === 'empty') return sendJson(response, {})
  if (cell === 'error_mid') return sendJson(response, detail('system_busy'), { status: 429 })
  const form = formOf(request)
  const samples = samplesOf(form.file)
  const text = transcriptOf(samples)
  const seconds = samples.length / 32_000
  const words = tokens(text, seconds).map((word) => ({
    ...word,
    ...(form.fields['diarize'] === 'true' && { speaker_id: 'speaker_0' }),
  }))
  const body = {
    language_code: 'eng',
    language_probability: 0.9,
    text,
    words,
    transcription_id: 'id',
    audio_duration_secs: seconds,
  }
  sendJson(response, body, {}, cell)
}

/** Splits a text into tokens with times in seconds. Spaces are separate tokens. */
function tokens(
  text: string,
  seconds: number,
): { text: string; start: number; end: number; type: string; logprob: number }[] {
  const parts = text === '' ? [] : text.split(/( )/)
  const step = seconds / Math.max(1, parts.length)
  return parts.map((part, i) => {
    return { text: part, start: i * step, end: (i + 1) * step, type: part === ' ' ? 'spacing' : 'word', logprob: -0.1 }
  })
}

/** Reads a form from our client or from the SDK: names are quoted, and a part's headers may come in any order. */
export function formOf({ headers, body }: SeenRequest): {
  fields: Record<string, string>
  all: [string, string][]
  file: Buffer
} {
  const boundary = /boundary=(\S+)/.exec(headers['content-type'] ?? '')?.[1] ?? ''
  const all: [string, string][] = []
  let file: Buffer = Buffer.alloc(0)
  const mark = Buffer.from(`--${boundary}`)
  for (let at = body.indexOf(mark); at >= 0; ) {
    const next = body.indexOf(mark, at + mark.length)
    const part = body.subarray(at + mark.length + 2, next < 0 ? body.length : next - 2)
    const split = part.indexOf('\r\n\r\n')
    const head = part.toString('latin1', 0, Math.max(0, split))
    const value = part.subarray(split + 4)
    const name = /name="([^"]*)"/.exec(head)?.[1]
    if (name === 'file') file = value
    else if (name !== undefined) all.push([name, value.toString()])
    at = next
  }
  return { fields: Object.fromEntries(all), all, file }
}

/**
 * Plays the socket for speech: takes text, sends audio for flushed text, and sends a last frame after the empty text.
 */
class StreamInput {
  readonly #socket: StubSocket
  readonly #query: URLSearchParams
  readonly #cell: Cell
  #text = ''
  #isInitialised = false
  #sent = 0

  constructor(socket: StubSocket, { path }: SeenRequest, cell: Cell) {
    this.#socket = socket
    this.#query = new URL(path, 'http://stub').searchParams
    this.#cell = cell
  }

  begin(): void {
    this.#socket.listen({ text: (text) => void this.#message(JSON.parse(text) as { text?: string }) })
  }

  async #message({ text }: { text?: string }): Promise<void> {
    if (this.#cell === 'hang') return
    const failure = speechFailures[this.#cell]
    if (failure) return this.#fail(failure)
    if (typeof text !== 'string' || (!this.#isInitialised && text !== ' ')) return this.#fail('invalid_input_message')
    this.#isInitialised = true
    if (text !== '') {
      this.#text += text
      return
    }
    await this.#speak()
  }

  async #speak(): Promise<void> {
    const cell = this.#cell
    if (cell === 'empty' || this.#text.trim() === '') return this.#final()
    if (cell === 'header_only' || cell === 'slow_first_byte') this.#audio('')
    if (cell === 'header_only') return this.#final()
    if (cell === 'slow_first_byte') await pause(slowMs)
    if (cell === 'garbage') return this.#socket.send('{"audio": "AA')
    const chunks = pieces(spoken(this.#query.get('output_format') ?? ''), cell)
    for (const [i, chunk] of chunks.entries()) {
      if (i === 3 && cell === 'cut') return this.#socket.close(1000)
      if (i === 3 && cell === 'reset') return this.#socket.reset()
      if (i === 3 && cell === 'error_mid') return this.#fail('system_busy', 1013)
      this.#audio(Buffer.from(chunk).toString('base64'))
    }
    this.#final()
  }

  #audio(audio: string): void {
    const alignment = this.#query.get('sync_alignment') === 'true' ? this.#alignment(audio) : null
    this.#socket.send({ audio, isFinal: null, normalizedAlignment: null, alignment })
  }

  /** Returns the characters that end in a frame's audio, with times from the frame's start. A character takes 5 ms. */
  #alignment(audio: string): object {
    const perMs = Number(/\d+$/.exec(this.#query.get('output_format') ?? '')?.[0]) / 500
    const fromMs = this.#sent / perMs
    this.#sent += Buffer.from(audio, 'base64').length
    const characters = [...this.#text].map((character, i) => ({ character, startMs: i * 5 }))
    const own = characters.filter(({ startMs }) => startMs + 5 > fromMs && startMs + 5 <= this.#sent / perMs)
    return {
      chars: own.map(({ character }) => character),
      charStartTimesMs: own.map(({ startMs }) => startMs - fromMs),
      charDurationsMs: own.map(() => 5),
    }
  }

  #final(): void {
    this.#socket.send({ audio: null, isFinal: true, normalizedAlignment: null, alignment: null })
    this.#socket.close(1000)
  }

  #fail(error: string, code = 1008): void {
    this.#socket.send({ ...said, error, code })
    this.#socket.close(code, said.message)
  }
}

const speechFailures: Partial<Record<Cell, string>> = {
  quota: 'quota_exceeded',
  rate_limited_bare: 'too_many_concurrent_requests',
  server: 'internal_error',
  bad_request: 'invalid_input_message',
}

/**
 * Plays the socket for recognition: takes samples. A commit ends an utterance, and needs 0.3 s of audio since the last
 * commit.
 */
class Realtime {
  readonly #socket: StubSocket
  readonly #request: SeenRequest
  readonly #query: URLSearchParams
  readonly #cell: Cell
  #utterance: Buffer[] = []
  #bytes = 0
  #committedBytes = 0
  #hasReported = false
  /** True after the stub has reset the connection. The reset waits a moment, so that written data still leaves. */
  #isBroken = false

  constructor(socket: StubSocket, request: SeenRequest, cell: Cell) {
    this.#socket = socket
    this.#request = request
    this.#query = new URL(request.path, 'http://stub').searchParams
    this.#cell = cell
  }

  begin(): void {
    this.#socket.listen({ text: (text) => void this.#message(text) })
    const failure = scribeFailures[this.#cell]
    if (failure) return this.#fail(failure)
    if (this.#cell === 'hang') return
    if (this.#cell === 'empty') return this.#socket.close(1000)
    this.#send('session_started', { session_id: 'session', config: { sample_rate: this.#rateHz } })
    if (this.#cell === 'header_only') this.#socket.close(1000)
  }

  get #rateHz(): number {
    return Number(this.#query.get('audio_format')?.split('_')[1])
  }

  get #bytesPerS(): number {
    return this.#rateHz * (this.#query.get('audio_format')?.startsWith('pcm') ? 2 : 1)
  }

  async #message(text: string): Promise<void> {
    const message = JSON.parse(text) as { message_type: string; audio_base_64: string; commit?: boolean }
    if (message.message_type !== 'input_audio_chunk') return this.#fail('input_error')
    const samples = Buffer.from(message.audio_base_64, 'base64')
    this.#request.audio = Buffer.concat([this.#request.audio, samples])
    this.#utterance.push(samples)
    this.#bytes += samples.length
    if (samples.some((byte) => byte !== 0)) await this.#partial()
    if (message.commit && !this.#isBroken) await this.#commit()
  }

  async #partial(): Promise<void> {
    if (this.#hasReported) return
    this.#hasReported = true
    const cell = this.#cell
    if (cell === 'garbage') return this.#socket.send('{"message_type":')
    if (cell === 'slow_first_byte') await pause(slowMs)
    this.#send('partial_transcript', { text: 'heard' })
    if (cell === 'error_mid') this.#fail('resource_exhausted')
    if (cell === 'cut') this.#socket.close(1000)
    if (cell === 'reset') this.#socket.reset()
    this.#isBroken = cell === 'reset'
  }

  async #commit(): Promise<void> {
    if (this.#bytes - this.#committedBytes < this.#bytesPerS * 0.3)
      return this.#send('commit_throttled', { error: 'Commit request ignored: too little uncommitted audio.' })
    const text = transcriptOf(Buffer.concat(this.#utterance))
    const startS = this.#committedBytes / this.#bytesPerS
    const seconds = this.#bytes / this.#bytesPerS - startS
    this.#utterance = []
    this.#committedBytes = this.#bytes
    this.#hasReported = false
    if (this.#cell === 'slow_first_byte') await pause(slowMs)
    this.#send('committed_transcript', { text })
    if (this.#query.get('include_timestamps') !== 'true') return
    const words = tokens(text, seconds).map((word) => ({ ...word, start: word.start + startS, end: word.end + startS }))
    this.#send('committed_transcript_with_timestamps', { text, language_code: 'eng', words })
  }

  #send(message_type: string, fields: object): void {
    this.#socket.send({ message_type, ...fields })
  }

  #fail(message_type: string): void {
    this.#send(message_type, { error: said.message })
    this.#socket.close(1000)
  }
}

const scribeFailures: Partial<Record<Cell, string>> = {
  auth: 'auth_error',
  quota: 'quota_exceeded',
  rate_limited_bare: 'rate_limited',
  overloaded: 'queue_overflow',
  server: 'transcriber_error',
  bad_request: 'invalid_request',
}
