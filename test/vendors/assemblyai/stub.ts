/** AssemblyAI on 127.0.0.1, with its failures: /v2 over HTTP, /v3/ws as a socket. */
import type { ServerResponse } from 'node:http'
import type { Cell, SeenRequest, VendorStub } from '../suite/matrix.ts'
import {
  pause,
  refusals,
  type StubSocket,
  samplesOf,
  sendJson,
  slowMs,
  startStub,
  transcriptOf,
} from '../suite/stub-server.ts'

/** The billed time of every session. */
export const sessionS = 3

export function startAssemblyaiStub(tls?: { key: string; cert: string }): Promise<VendorStub> {
  const jobs = new Map<string, Job>()
  return startStub({
    http: (request, response, cell) => answer(request, response, cell, jobs),
    refuseUpgrade: (_request, cell) => upgradeRefusals[cell] ?? null,
    socket: (socket, request, cell) => new Session(socket, request, cell).begin(),
    ...(tls && { tls }),
  })
}

const noTranscripts = {
  page_details: { limit: 1, result_count: 0, current_url: '', prev_url: null, next_url: null },
  transcripts: [],
}

type Job = { audio: Buffer; order: Record<string, unknown>; readyMs: number }

function answer(request: SeenRequest, response: ServerResponse, cell: Cell, jobs: Map<string, Job>): void {
  if (cell === 'hang') return
  const refusal = refusals[cell]
  if (refusal) return sendJson(response, { error: 'What the vendor says to people.' }, refusal)
  const { method, path } = request
  if (method === 'POST' && path === '/v2/upload') {
    const id = `upload-${jobs.size}`
    jobs.set(id, { audio: samplesOf(request.body), order: {}, readyMs: 0 })
    return sendJson(response, { upload_url: `https://cdn.assemblyai.com/${id}` })
  }
  if (method === 'POST' && path === '/v2/transcript') return order(request, response, cell, jobs)
  if (method === 'GET' && path.startsWith('/v2/transcript?')) return sendJson(response, noTranscripts, {}, cell)
  const id = path.split('/').at(-1) ?? ''
  const job = jobs.get(id)
  if (!path.startsWith('/v2/transcript/') || !job) return sendJson(response, { error: 'Not found' }, { status: 404 })
  if (method === 'DELETE') {
    jobs.delete(id)
    return sendJson(response, { id, status: 'completed', text: 'Deleted by user.' })
  }
  if (performance.now() < job.readyMs) return sendJson(response, { id, status: 'processing', text: null })
  if (cell === 'error_mid') return sendJson(response, { id, status: 'error', error: 'What the vendor says to people.' })
  if (cell === 'empty') return sendJson(response, { id, status: 'completed' })
  if (cell === 'header_only') return void response.writeHead(200, { 'content-type': 'application/json' }).end()
  sendJson(response, transcript(id, job), {}, cell)
}

function order(request: SeenRequest, response: ServerResponse, cell: Cell, jobs: Map<string, Job>): void {
  const asked = JSON.parse(request.body.toString()) as Record<string, unknown>
  const upload = jobs.get(String(asked['audio_url']).split('/').at(-1) ?? '')
  if (!upload) return sendJson(response, { error: 'No such upload' }, { status: 400 })
  const id = `job-${jobs.size}`
  jobs.set(id, {
    audio: upload.audio,
    order: asked,
    readyMs: performance.now() + (cell === 'slow_first_byte' ? slowMs * 2 : 0),
  })
  sendJson(response, { id, status: 'queued', text: null, audio_url: asked['audio_url'] })
}

function transcript(id: string, { audio, order }: Job): object {
  const text = transcriptOf(audio)
  const words = wordsOf(text, 0, audio.length / 32).map((word) => ({
    ...word,
    speaker: order['speaker_labels'] ? 'A' : null,
  }))
  return {
    id,
    status: 'completed',
    text,
    words,
    utterances:
      order['speaker_labels'] && text
        ? [{ speaker: 'A', text, start: 0, end: audio.length / 32, confidence: 0.9, words }]
        : null,
    confidence: 0.9,
    audio_duration: Math.ceil(audio.length / 32_000),
    language_code: order['language_code'] ?? 'en_us',
  }
}

/** Returns a text's words with the vendor's times, in milliseconds. */
function wordsOf(
  text: string,
  startMs: number,
  endMs: number,
): { text: string; start: number; end: number; confidence: number }[] {
  const words = text === '' ? [] : text.split(' ')
  const stepMs = (endMs - startMs) / Math.max(1, words.length)
  return words.map((word, i) => ({
    text: word,
    start: Math.round(startMs + i * stepMs),
    end: Math.round(startMs + (i + 1) * stepMs),
    confidence: 0.9,
  }))
}

/** These refusals need a header or a status, so they come before the upgrade. */
const upgradeRefusals: Partial<Record<Cell, { status: number; headers?: Record<string, string> }>> = {
  rate_limited: { status: 429, headers: { 'retry-after': '7' } },
  overloaded: { status: 503 },
}

/** These refusals come after the upgrade, instead of Begin. */
const errorCodes: Partial<Record<Cell, number>> = {
  auth: 4001,
  quota: 4002,
  rate_limited_bare: 3009,
  server: 3005,
  bad_request: 3006,
}

class Session {
  readonly #socket: StubSocket
  readonly #cell: Cell
  readonly #query: URLSearchParams
  #audio: Buffer[] = []
  #turn = 0
  #startMs = 0
  #hasSpoken = false

  constructor(socket: StubSocket, request: SeenRequest, cell: Cell) {
    this.#socket = socket
    this.#cell = cell
    this.#query = new URLSearchParams(request.path.split('?')[1])
  }

  begin(): void {
    this.#socket.listen({ text: (text) => void this.#text(text), binary: (bytes) => this.#hear(bytes) })
    const code = errorCodes[this.#cell]
    if (code !== undefined) return this.#fail(code)
    if (this.#cell !== 'hang') this.#socket.send({ type: 'Begin', id: 'session', expires_at: 1_800_000_000 })
  }

  #fail(code: number): void {
    this.#socket.send({ type: 'Error', error_code: code, error: 'What the vendor says to people.' })
    this.#socket.close(code, 'See Error message for details')
  }

  #hear(bytes: Buffer): void {
    this.#audio.push(bytes)
    const durationMs = this.#msOf(bytes.length)
    if (durationMs < 50 || durationMs > 1000) return this.#fail(3007)
    if (this.#hasSpoken || this.#cell === 'slow_first_byte' || transcriptOf(bytes) === '') return
    this.#hasSpoken = true
    if (this.#cell === 'empty') return this.#socket.close(1000)
    this.#socket.send({ type: 'SpeechStarted', timestamp: this.#startMs })
    this.#guess()
    if (this.#cell === 'header_only') this.#socket.close(1000)
    if (this.#cell === 'cut') this.#socket.cut()
    if (this.#cell === 'reset') this.#socket.reset()
    if (this.#cell === 'garbage') this.#socket.send('{"type":"Turn","transcr')
    if (this.#cell === 'error_mid') this.#fail(3005)
  }

  async #text(text: string): Promise<void> {
    const { type } = JSON.parse(text) as { type: string }
    // In the test case `reset` the stub answers nothing from here on, because more data could be lost in the TCP reset.
    if (this.#cell === 'reset') return
    if (this.#cell === 'slow_first_byte') await pause(slowMs)
    if (type === 'ForceEndpoint') return this.#endTurn()
    if (type !== 'Terminate') return
    this.#endTurn()
    this.#socket.send({ type: 'Termination', audio_duration_seconds: 1, session_duration_seconds: sessionS })
    this.#socket.close(1000)
  }

  #guess(): void {
    const [word] = wordsOf('heard', this.#startMs, this.#startMs + 50)
    this.#sendTurn('', [{ ...word, word_is_final: false }], false, false)
  }

  #endTurn(): void {
    const audio = Buffer.concat(this.#audio)
    const endMs = this.#startMs + this.#msOf(audio.length)
    const text = transcriptOf(audio)
    const words = wordsOf(text, this.#startMs, endMs).map((word) => ({ ...word, word_is_final: true }))
    if (text !== '' && !this.#hasSpoken) this.#guess()
    this.#audio = []
    this.#startMs = endMs
    this.#hasSpoken = false
    if (text === '') return
    this.#sendTurn(text, words, true, false)
    if (this.#query.get('format_turns') === 'true') this.#sendTurn(text, words, true, true)
    this.#turn++
  }

  #sendTurn(transcript: string, words: object[], isEnd: boolean, isFormatted: boolean): void {
    this.#socket.send({
      type: 'Turn',
      turn_order: this.#turn,
      turn_is_formatted: isFormatted,
      end_of_turn: isEnd,
      transcript,
      end_of_turn_confidence: isEnd ? 0.9 : 0.1,
      words,
      ...(this.#query.get('language_detection') === 'true' && { language_code: 'en' }),
    })
  }

  #msOf(bytes: number): number {
    const bytesPerSample = this.#query.get('encoding') === 'pcm_mulaw' ? 1 : 2
    return (bytes / bytesPerSample / Number(this.#query.get('sample_rate'))) * 1000
  }
}
