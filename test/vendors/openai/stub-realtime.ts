/**
 * GET /realtime?intent=transcription. An item is transcribed when the client commits it; the stub never commits an item
 * itself.
 */
import type { Cell, SeenRequest } from '../suite/matrix.ts'
import { pause, type Refusal, type StubSocket, slowMs, transcriptOf } from '../suite/stub-server.ts'
import { overloaded, refusalOf } from './stub-answers.ts'

export const refuseUpgrade = (request: SeenRequest, cell: Cell): Refusal | 'hang' | null =>
  cell === 'hang' ? 'hang' : refusalOf(request, cell)

export function listen(socket: StubSocket, request: SeenRequest, cell: Cell): void {
  const session = new Session(socket, request, cell)
  socket.listen({ text: (text) => session.readSpeech(JSON.parse(text) as ClientEvent) })
  if (cell === 'empty') return socket.close(1000)
  session.send('session.created', { session: { type: 'transcription', object: 'realtime.transcription_session' } })
}

type ClientEvent = { type: string; event_id?: string; audio?: string; session?: object }

class Session {
  readonly #socket: StubSocket
  readonly #request: SeenRequest
  readonly #cell: Cell
  #events = 0
  #items = 0
  #buffer: Buffer[] = []
  #isSpeaking = false

  constructor(socket: StubSocket, request: SeenRequest, cell: Cell) {
    this.#socket = socket
    this.#request = request
    this.#cell = cell
  }

  send(type: string, fields: object): void {
    this.#socket.send({ type, event_id: `event_${this.#events++}`, ...fields })
  }

  readSpeech(event: ClientEvent): void {
    switch (event.type) {
      case 'session.update':
        if (this.#cell === 'header_only') return this.#socket.close(1000)
        return this.send('session.updated', { session: event.session })
      case 'input_audio_buffer.append':
        return this.#append(Buffer.from(event.audio ?? '', 'base64'))
      case 'input_audio_buffer.clear':
        this.#buffer = []
        return this.send('input_audio_buffer.cleared', {})
      case 'input_audio_buffer.commit':
        return void this.#commit(event.event_id)
    }
  }

  #append(bytes: Buffer): void {
    this.#buffer.push(bytes)
    this.#request.audio = Buffer.concat([this.#request.audio, bytes])
    if (this.#isSpeaking || transcriptOf(bytes) === '') return
    this.#isSpeaking = true
    this.send('input_audio_buffer.speech_started', { audio_start_ms: 0, item_id: `item_${this.#items}` })
    // This is the middle of the session, because the stub has answered all audio so far.
    if (this.#cell === 'cut') this.#socket.cut()
    else if (this.#cell === 'reset') this.#socket.reset()
    else if (this.#cell === 'garbage') this.#socket.send('{"type": "conv')
    else if (this.#cell === 'error_mid') this.send('error', { error: overloaded(this.#request) })
  }

  async #commit(event_id: string | undefined): Promise<void> {
    const samples = Buffer.concat(this.#buffer)
    this.#buffer = []
    this.#isSpeaking = false
    if (samples.length === 0) {
      const code = 'input_audio_buffer_commit_empty'
      const error = { type: 'invalid_request_error', code, message: 'buffer too small', param: null, event_id }
      return this.send('error', { error })
    }
    const item_id = `item_${this.#items++}`
    this.send('input_audio_buffer.committed', {
      item_id,
      previous_item_id: this.#items > 1 ? `item_${this.#items - 2}` : null,
    })
    if (this.#cell === 'slow_first_byte') await pause(slowMs)
    const transcript = transcriptOf(samples)
    const kind = 'conversation.item.input_audio_transcription'
    for (const delta of transcript.match(/\S+\s*/g) ?? [])
      this.send(`${kind}.delta`, { item_id, content_index: 0, delta })
    this.send(`${kind}.completed`, { item_id, content_index: 0, transcript, usage: { type: 'duration', seconds: 1 } })
  }
}
