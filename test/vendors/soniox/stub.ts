/** Soniox on 127.0.0.1: its sockets, with their failures, and its list of models. */
import type { ServerResponse } from 'node:http'
import type { Cell, SeenRequest, VendorStub } from '../suite/matrix.ts'
import { pause, refusals, type StubSocket, sendJson, slowMs, startStub, transcriptOf } from '../suite/stub-server.ts'
import { errorCodes } from './stub-answers.ts'
import { playSpeech } from './stub-speech.ts'

export function startSonioxStub(): Promise<VendorStub> {
  return startStub({
    http: listModels,
    refuseUpgrade: ({ path }, cell) => {
      if (path !== '/transcribe-websocket' && path !== speechPath) return { status: 404 }
      return cell === 'hang' ? 'hang' : (upgradeRefusals[cell] ?? null)
    },
    socket(socket, request, cell) {
      if (request.path === speechPath) playSpeech(socket, request, cell)
      else new Session(socket, request, cell).begin()
    },
  })
}

const speechPath = '/tts-websocket'

function listModels({ method, path }: SeenRequest, response: ServerResponse, cell: Cell): void {
  if (cell === 'hang') return
  const refusal = method === 'GET' && path === '/v1/models' ? refusals[cell] : { status: 404 }
  if (!refusal) return sendJson(response, { models: [] }, {}, cell)
  const { status } = refusal
  sendJson(
    response,
    { status_code: status, error_type: 'refused', message: 'What the vendor says to people.' },
    refusal,
  )
}

/** These refusals need a header, so they come before the upgrade. */
const upgradeRefusals: Partial<Record<Cell, { status: number; headers: Record<string, string> }>> = {
  rate_limited: { status: 429, headers: { 'retry-after': '7' } },
}

type Start = { api_key?: string; model?: string; audio_format?: string; sample_rate?: number; num_channels?: number }
type Token = { text: string; start_ms?: number; end_ms?: number; confidence?: number; is_final: boolean }

class Session {
  readonly #socket: StubSocket
  readonly #request: SeenRequest
  readonly #cell: Cell
  #start: Start | null = null
  #audio: Buffer[] = []
  #startMs = 0
  #hasSpoken = false

  constructor(socket: StubSocket, request: SeenRequest, cell: Cell) {
    this.#socket = socket
    this.#request = request
    this.#cell = cell
  }

  begin(): void {
    this.#socket.listen({ text: (text) => void this.#text(text), binary: (bytes) => this.#hear(bytes) })
  }

  async #text(text: string): Promise<void> {
    // In the test case `reset` the stub answers nothing after the speech, so that the TCP reset does not overtake the
    // data already written.
    if (this.#cell === 'reset' && this.#hasSpoken) return
    if (!this.#start) return this.#begin(JSON.parse(text) as Start)
    if (this.#cell === 'slow_first_byte') await pause(slowMs)
    if (text === '') return this.#finish()
    const { type } = JSON.parse(text) as { type: string }
    if (type === 'finalize') this.#send([...this.#settled(), { text: '<fin>', is_final: true }])
    else if (type !== 'keepalive') this.#fail(400)
  }

  #begin(start: Start): void {
    const isSigned = this.#request.headers['authorization']?.startsWith('Bearer ') || start.api_key
    const code = errorCodes[this.#cell] ?? (isSigned ? undefined : 401)
    if (code !== undefined) return this.#fail(code)
    if (!start.model || !start.audio_format) return this.#fail(400)
    this.#start = start
  }

  #fail(code: number): void {
    this.#socket.send({ tokens: [], error_code: code, error_message: 'What the vendor says to people.' })
    this.#socket.close(1000)
  }

  #hear(bytes: Buffer): void {
    if (!this.#start) return this.#fail(400)
    this.#audio.push(bytes)
    if (this.#hasSpoken || this.#cell === 'slow_first_byte' || transcriptOf(bytes) === '') return
    this.#hasSpoken = true
    if (this.#cell === 'empty') return this.#socket.close(1000)
    if (this.#cell === 'header_only') {
      this.#send([])
      return this.#socket.close(1000)
    }
    this.#guess()
    if (this.#cell === 'cut') this.#socket.cut()
    if (this.#cell === 'reset') this.#socket.reset()
    if (this.#cell === 'garbage') this.#socket.send('{"tokens":[{"te')
    if (this.#cell === 'error_mid') this.#fail(503)
  }

  /** Sends the last tokens and closes the socket, because an empty frame from the client has ended the audio. */
  #finish(): void {
    const tokens = this.#settled()
    this.#send(tokens)
    this.#socket.send({
      tokens: [],
      final_audio_proc_ms: this.#startMs,
      total_audio_proc_ms: this.#startMs,
      finished: true,
    })
    this.#socket.close(1000)
  }

  #guess(): void {
    const times = { start_ms: this.#startMs, end_ms: this.#startMs + 50, confidence: 0.6 }
    this.#send([{ text: 'he', is_final: false, ...times }])
  }

  /**
   * Returns the final tokens for the audio so far, two for each word. The first token of a word begins with a space,
   * except in the first word.
   */
  #settled(): Token[] {
    const audio = Buffer.concat(this.#audio)
    const text = transcriptOf(audio)
    if (text !== '' && !this.#hasSpoken) this.#guess()
    const durationMs = this.#msOf(audio.length)
    const texts = text.split(' ').flatMap((word, i) => [(i > 0 ? ' ' : '') + word.slice(0, 3), word.slice(3)])
    const stepMs = durationMs / texts.length
    const tokens = texts.map((part, i) => ({
      text: part,
      start_ms: Math.round(this.#startMs + i * stepMs),
      end_ms: Math.round(this.#startMs + (i + 1) * stepMs),
      confidence: 0.9,
      is_final: true,
    }))
    this.#audio = []
    this.#startMs += durationMs
    this.#hasSpoken = false
    return text === '' ? [] : tokens
  }

  #send(tokens: Token[]): void {
    this.#socket.send({ tokens, final_audio_proc_ms: this.#startMs, total_audio_proc_ms: this.#startMs })
  }

  #msOf(bytes: number): number {
    const { audio_format: format, sample_rate: rateHz = 16_000 } = this.#start ?? {}
    return (bytes / (format === 'pcm_s16le' ? 2 : 1) / rateHz) * 1000
  }
}
