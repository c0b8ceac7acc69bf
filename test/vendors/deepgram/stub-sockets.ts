/**
 * Plays Deepgram's three WebSockets: recognition by Nova, recognition by Flux, and speech by Aura. If a test case
 * breaks a socket, the break comes after the first sound or the first text.
 */
import type { Cell } from '../suite/matrix.ts'
import { pause, pieces, type StubSocket, slowMs, transcriptOf } from '../suite/stub-server.ts'
import { speechPcm } from '../suite/tts.ts'

const bytesPerS = 32_000

export function playListen(socket: StubSocket, query: URLSearchParams, cell: Cell): void {
  const hearing = new Hearing()
  let isBroken = false
  const results = (transcript: string, flags: object) =>
    socket.send({
      type: 'Results',
      channel_index: [0, 1],
      duration: hearing.endS - hearing.startS,
      start: hearing.startS,
      channel: { alternatives: [{ transcript, confidence: 0.9, words: wordsOf(transcript, hearing.startS) }] },
      metadata: { request_id: 'stub', model_info: { name: 'stub', version: '1', arch: 'stub' }, model_uuid: 'stub' },
      ...flags,
    })
  const partial = () => {
    socket.send({ type: 'SpeechStarted', channel: [0, 1], timestamp: hearing.startS })
    if (query.get('interim_results') === 'true') results('heard', { is_final: false, speech_final: false })
  }
  /** Sends the final transcript in two segments, as if a pause within the utterance had ended the first segment. */
  const final = (flags: object) => {
    const [first = '', second = ''] = hearing.take().split(' ')
    if (first !== '') results(first, { is_final: true, speech_final: false })
    results(second, { is_final: true, speech_final: false, ...flags })
  }
  const breaking: Partial<Record<Cell, () => void>> = {
    empty: () => socket.close(1000),
    header_only: () => {
      results('', { is_final: false, speech_final: false })
      socket.close(1000)
    },
    cut: () => socket.cut(),
    reset: () => socket.reset(),
    garbage: () => socket.send('{"type": "Res'),
    error_mid: () => socket.close(1011, 'NET-0000'),
  }
  const inOrder = ordered(cell)
  socket.listen({
    binary(bytes) {
      if (bytes.length === 0) return socket.close(1011, 'NET-0001')
      if (isBroken || !hearing.push(bytes)) return
      inOrder(partial)
      isBroken = cell in breaking
      inOrder(() => breaking[cell]?.())
    },
    text(text) {
      if (isBroken) return
      const { type } = JSON.parse(text) as { type: string }
      if (type === 'Finalize') inOrder(() => final({ from_finalize: true }))
      else if (type === 'CloseStream')
        inOrder(() => {
          final({})
          socket.send({
            type: 'Metadata',
            transaction_key: 'deprecated',
            ...about,
            duration: hearing.endS,
            channels: 1,
          })
          socket.close(1000)
        })
      else if (type !== 'KeepAlive') socket.close(1008, 'DATA-0000')
    },
  })
}

export function playFlux(socket: StubSocket, cell: Cell): void {
  const hearing = new Hearing()
  let turn = 0
  let sequence = 0
  let isBroken = false
  const send = (frame: object) => socket.send({ request_id: 'stub', sequence_id: sequence++, ...frame })
  const info = (event: string, transcript: string) =>
    send({
      type: 'TurnInfo',
      event,
      turn_index: turn,
      audio_window_start: hearing.startS,
      audio_window_end: hearing.endS,
      transcript,
      words: wordsOf(transcript, hearing.startS),
      end_of_turn_confidence: event === 'EndOfTurn' ? 0.9 : 0.1,
      languages: ['en'],
      ...(event === 'EndOfTurn' && { trigger: 'manual' }),
    })
  const breaking: Partial<Record<Cell, () => void>> = {
    empty: () => socket.close(1000),
    header_only: () => {
      info('Update', '')
      socket.close(1000)
    },
    cut: () => socket.cut(),
    reset: () => socket.reset(),
    garbage: () => socket.send('{"type": "Tur'),
    error_mid: () => {
      send({ type: 'Error', code: 'INTERNAL_SERVER_ERROR', description: 'An internal error.' })
      socket.close(1011)
    },
  }
  const endTurn = () => {
    if (!hearing.isSpoken) return
    info('EndOfTurn', hearing.take())
    turn++
  }
  /** Closes the socket while the turn is open: no event ends the turn, and the close frame has no code. */
  const leaveTurn = () => {
    info('Update', hearing.take())
    socket.close()
  }
  const inOrder = ordered(cell)
  send({ type: 'Connected' })
  socket.listen({
    binary(bytes) {
      if (isBroken || !hearing.push(bytes)) return
      isBroken = cell in breaking
      const speak = () => {
        info('StartOfTurn', 'heard')
        info('Update', 'heard')
        breaking[cell]?.()
      }
      inOrder(speak)
    },
    text(text) {
      if (isBroken) return
      const { type } = JSON.parse(text) as { type: string }
      if (type === 'ForceEndTurn') inOrder(endTurn)
      else if (type === 'CloseStream') inOrder(leaveTurn)
      else socket.close(1008, 'DATA-0000')
    },
  })
}

export function playSpeak(socket: StubSocket, cell: Cell): void {
  let text = ''
  socket.send({ type: 'Metadata', ...about, model_name: 'stub', model_version: '1', model_uuid: 'stub' })
  const speak = async () => {
    if (text === '') return socket.close(1008, 'DATA-0000')
    if (cell === 'slow_first_byte') await pause(slowMs)
    if (cell === 'header_only') socket.send(new Uint8Array(0))
    const isSilent = cell === 'header_only' || cell === 'empty'
    for (const [at, piece] of (isSilent ? [] : pieces(speechPcm, cell)).entries()) {
      if (at === 3 && cell === 'cut') return socket.cut()
      if (at === 3 && cell === 'reset') return socket.reset()
      if (at === 3 && cell === 'garbage') return socket.send('{"type": "Flu')
      if (at === 3 && cell === 'error_mid') return socket.close(1011, 'NET-0000')
      socket.send(piece)
    }
    socket.send({ type: 'Flushed', sequence_id: 0 })
  }
  socket.listen({
    text(message) {
      const frame = JSON.parse(message) as { type: string; text?: string }
      if (frame.type === 'Speak') text += frame.text ?? ''
      else if (frame.type === 'Flush') void speak()
      else if (frame.type === 'Clear') socket.send({ type: 'Cleared', sequence_id: 0 })
      else if (frame.type === 'Close') socket.close(1000)
      else socket.close(1008, 'DATA-0000')
    },
    binary: () => socket.close(1003, 'MESSAGE-0000'),
  })
}

/** Runs one task after another. In the test case `slow_first_byte` each task waits first. */
function ordered(cell: Cell): (run: () => void) => void {
  let work = Promise.resolve()
  return (run) => {
    if (cell === 'slow_first_byte') work = work.then(() => pause(slowMs))
    work = work.then(run)
  }
}

const about = { request_id: 'stub', sha256: '', created: '2026-11-21T00:00:00Z' }

/** The audio since the last final transcript, and whether it contains sound. */
class Hearing {
  startS = 0
  endS = 0
  isSpoken = false
  #samples: Buffer[] = []

  /** Adds audio. Returns true if it has the first sound of an utterance. */
  push(bytes: Buffer): boolean {
    this.#samples.push(bytes)
    this.endS += bytes.length / bytesPerS
    const isFirst = !this.isSpoken && bytes.some((byte) => byte !== 0)
    this.isSpoken ||= isFirst
    return isFirst
  }

  take(): string {
    const text = transcriptOf(Buffer.concat(this.#samples))
    this.#samples = []
    this.isSpoken = false
    this.startS = this.endS
    return text
  }
}

function wordsOf(text: string, startS: number): object[] {
  const words = text.split(' ').filter(Boolean)
  return words.map((word, i) => ({ word, start: startS + i / 100, end: startS + (i + 1) / 100, confidence: 0.9 }))
}
