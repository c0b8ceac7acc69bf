/** The live socket of Speechmatics on 127.0.0.1, with its failures. */
import type { Cell, SeenRequest, VendorStub } from '../suite/matrix.ts'
import { pause, type StubSocket, slowMs, startStub, transcriptOf } from '../suite/stub-server.ts'

export function startSpeechmaticsStub(): Promise<VendorStub> {
  return startStub({
    refuseUpgrade: ({ path }, cell) => (path.startsWith('/v2') ? (upgradeRefusals[cell] ?? null) : { status: 404 }),
    socket: (socket, request, cell) => new Session(socket, request, cell).begin(),
  })
}

/** These refusals need a header or a status, so they come before the upgrade. */
const upgradeRefusals: Partial<Record<Cell, { status: number; headers?: Record<string, string> }>> = {
  rate_limited: { status: 429, headers: { 'retry-after': '7' } },
  overloaded: { status: 503 },
}

/** These refusals come after the upgrade, instead of RecognitionStarted. */
const errorTypes: Partial<Record<Cell, string>> = {
  auth: 'not_authorised',
  quota: 'timelimit_exceeded',
  rate_limited_bare: 'quota_exceeded',
  server: 'job_error',
  bad_request: 'invalid_config',
}

type Start = {
  audio_format: { type: string; encoding: string; sample_rate: number }
  transcription_config: { language: string; enable_partials?: boolean }
}

class Session {
  readonly #socket: StubSocket
  readonly #request: SeenRequest
  readonly #cell: Cell
  #start: Start | null = null
  #audio: Buffer[] = []
  #frames = 0
  #startS = 0
  #hasSpoken = false

  constructor(socket: StubSocket, request: SeenRequest, cell: Cell) {
    this.#socket = socket
    this.#request = request
    this.#cell = cell
  }

  begin(): void {
    this.#socket.listen({ text: (text) => void this.#text(text), binary: (bytes) => this.#hear(bytes) })
    this.#socket.send({ message: 'Info', type: 'concurrent_session_usage', reason: '1 of 2', usage: 1, quota: 2 })
  }

  async #text(text: string): Promise<void> {
    const message = JSON.parse(text) as { message: string; last_seq_no?: number }
    // In the test case `reset` the stub answers nothing after the speech, so that the TCP reset does not overtake the
    // data already written.
    if (this.#cell === 'reset' && this.#hasSpoken) return
    if (message.message === 'StartRecognition') return this.#begin(message as unknown as Start)
    if (!this.#start) return this.#fail('protocol_error')
    if (this.#cell === 'slow_first_byte') await pause(slowMs)
    if (message.message === 'ForceEndOfUtterance') return this.#endUtterance()
    if (message.message !== 'EndOfStream') return this.#fail('invalid_message')
    if (message.last_seq_no !== this.#frames) return this.#fail('protocol_error')
    this.#endUtterance()
    this.#socket.send({ message: 'EndOfTranscript' })
    this.#socket.close(1000)
  }

  #begin(start: Start): void {
    const type = errorTypes[this.#cell] ?? (this.#isSigned() ? undefined : 'not_authorised')
    if (type !== undefined) return this.#fail(type)
    if (start.audio_format.type !== 'raw' || !start.transcription_config.language) return this.#fail('invalid_config')
    this.#start = start
    if (this.#cell === 'hang') return
    const languagePack = { language_description: 'English', word_delimiter: ' ', writing_direction: 'left-to-right' }
    this.#socket.send({ message: 'RecognitionStarted', id: 'session', language_pack_info: languagePack })
  }

  #isSigned(): boolean {
    return this.#request.headers['authorization']?.startsWith('Bearer ') === true || this.#request.path.includes('jwt=')
  }

  #fail(type: string): void {
    this.#socket.send({ message: 'Error', type, reason: 'What the vendor says to people.' })
    this.#socket.close(1008, type)
  }

  #hear(bytes: Buffer): void {
    if (!this.#start) return this.#fail('protocol_error')
    this.#audio.push(bytes)
    this.#frames++
    this.#socket.send({ message: 'AudioAdded', seq_no: this.#frames })
    if (this.#hasSpoken || this.#cell === 'slow_first_byte' || transcriptOf(bytes) === '') return
    this.#hasSpoken = true
    if (this.#cell === 'empty') return this.#socket.close(1000)
    if (this.#cell === 'header_only') {
      this.#send('AddPartialTranscript', '', this.#startS, this.#startS)
      return this.#socket.close(1000)
    }
    this.#guess()
    if (this.#cell === 'cut') this.#socket.cut()
    if (this.#cell === 'reset') this.#socket.reset()
    if (this.#cell === 'garbage') this.#socket.send('{"message":"AddTransc')
    if (this.#cell === 'error_mid') this.#fail('job_error')
  }

  #guess(): void {
    if (this.#start?.transcription_config.enable_partials)
      this.#send('AddPartialTranscript', 'heard', this.#startS, this.#startS + 0.05)
  }

  /** Sends the final words one by one, and then EndOfUtterance. */
  #endUtterance(): void {
    const audio = Buffer.concat(this.#audio)
    const endS = this.#startS + this.#secondsOf(audio.length)
    const words = transcriptOf(audio).split(' ').filter(Boolean)
    if (words.length > 0 && !this.#hasSpoken) this.#guess()
    for (const [i, word] of words.entries()) {
      const stepS = (endS - this.#startS) / words.length
      this.#send('AddTranscript', word, this.#startS + i * stepS, this.#startS + (i + 1) * stepS)
    }
    if (words.length > 0)
      this.#socket.send({ message: 'EndOfUtterance', metadata: { start_time: endS, end_time: endS } })
    this.#audio = []
    this.#startS = endS
    this.#hasSpoken = false
  }

  #send(message: string, transcript: string, startS: number, endS: number): void {
    const alternatives = [
      { content: transcript, confidence: 0.9, language: this.#start?.transcription_config.language },
    ]
    const word = { type: 'word', start_time: startS, end_time: endS, alternatives }
    this.#socket.send({
      message,
      format: '2.9',
      metadata: { start_time: startS, end_time: endS, transcript },
      results: transcript === '' ? [] : [word],
    })
  }

  #secondsOf(bytes: number): number {
    const { encoding = '', sample_rate: rateHz = 1 } = this.#start?.audio_format ?? {}
    return bytes / (encoding === 'mulaw' ? 1 : 2) / rateHz
  }
}
