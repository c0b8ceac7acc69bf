/**
 * Plays Cartesia's three WebSockets: speech, recognition with commands, and recognition with turn detection. If a test
 * case breaks a socket, the break comes after the first sound, or in the middle of the speech.
 */
import type { Cell } from '../suite/matrix.ts'
import { pause, pieces, type StubSocket, slowMs, transcriptOf } from '../suite/stub-server.ts'
import { complaintAboutSpeech, errorFrame, failures, type OutputFormat, spoken } from './stub-answers.ts'

type Order = Record<string, unknown> & { context_id?: string; cancel?: boolean; continue?: boolean }

/** Plays several contexts, each up to its message `done`. The socket stays open. */
export function playSpeech(socket: StubSocket, cell: Cell): void {
  const cancelled = new Set<string>()
  const speak = async (context_id: string, order: Order) => {
    const send = (type: string, fields: object = {}) =>
      socket.send({ type, context_id, done: type === 'done', status_code: 200, ...fields })
    if (failures[cell] || complaintAboutSpeech(order)) return socket.send(errorFrame(cell, { context_id }))
    if (cell === 'header_only' || cell === 'slow_first_byte')
      send('timestamps', { word_timestamps: { words: [], start: [], end: [] } })
    if (cell === 'slow_first_byte') await pause(slowMs)
    const isSilent = cell === 'header_only' || cell === 'empty'
    const chunks = isSilent ? [] : pieces(spoken(order['output_format'] as OutputFormat), cell)
    if (order['add_timestamps'] === true) for (const part of timestamps(order)) send('timestamps', part)
    for (const [at, chunk] of chunks.entries()) {
      if (cancelled.has(context_id)) return
      if (at === 3 && cell === 'cut') return socket.close(1000)
      if (at === 3 && cell === 'reset') return socket.reset()
      if (at === 3 && cell === 'garbage') return socket.send('{"type": "chu')
      if (at === 3 && cell === 'error_mid') return socket.send(errorFrame('overloaded', { context_id }))
      send('chunk', { data: Buffer.from(chunk).toString('base64'), step_time: 1 })
      await new Promise(setImmediate)
    }
    send('done')
  }
  socket.listen({
    text(text) {
      const order = JSON.parse(text) as Order
      if (order.context_id === undefined) return socket.send(errorFrame('bad_request'))
      if (order.cancel) cancelled.add(order.context_id)
      else void speak(order.context_id, order)
    },
  })
}

/** Returns the word times for a request's text in two frames. A word takes 10 ms for each letter. */
function timestamps(order: Order): object[] {
  const words = String(order['transcript'])
    .split(/\s+/)
    .filter((word) => word !== '')
  const end = words.map((_, i) => words.slice(0, i + 1).join('').length / 100)
  const start = words.map((_, i) => words.slice(0, i).join('').length / 100)
  return [0, 1].map((half) => {
    const part = <T>(all: T[]) => all.slice(half * Math.ceil(all.length / 2), (half + 1) * Math.ceil(all.length / 2))
    return { word_timestamps: { words: part(words), start: part(start), end: part(end) } }
  })
}

/**
 * Plays the socket for recognition with commands. The client sends bare words such as `finalize`, not JSON. A
 * transcript comes in two pieces with a space between them, so an adapter that trims the pieces fails.
 */
export function playFinalizing(socket: StubSocket, query: URLSearchParams, cell: Cell): void {
  const hearing = new Hearing(query)
  const inOrder = ordered(cell)
  let isBroken = false
  const transcript = (text: string, is_final: boolean, seconds = 0) =>
    socket.send({
      type: 'transcript',
      is_final,
      request_id: 'stub',
      text,
      duration: seconds,
      language: query.get('language') ?? 'en',
      words: [wordsOf(text.trim(), hearing.startS)],
    })
  const breaking: Partial<Record<Cell, () => void>> = {
    empty: () => socket.close(1000),
    header_only: () => {
      transcript('', false)
      socket.close(1000)
    },
    cut: () => socket.cut(),
    reset: () => socket.reset(),
    garbage: () => socket.send('{"type": "tra'),
    error_mid: () => socket.send(errorFrame('overloaded')),
  }
  const finals = () => {
    const seconds = hearing.seconds
    const [first = '', second = ''] = hearing.take().split(' ')
    if (first === '') return
    transcript(first, true, seconds / 2)
    transcript(` ${second}`, true, seconds / 2)
  }
  if (failures[cell]) socket.send(errorFrame(cell))
  socket.listen({
    binary(bytes) {
      if (isBroken || !hearing.push(bytes)) return
      isBroken = cell in breaking
      inOrder(() => (breaking[cell] ?? (() => transcript('heard', false)))())
    },
    text(text) {
      if (isBroken) return
      if (text !== 'finalize' && text !== 'close') return socket.send(errorFrame('bad_request'))
      inOrder(() => {
        finals()
        socket.send({ type: text === 'close' ? 'done' : 'flush_done', request_id: 'stub' })
        if (text === 'close') socket.close(1000)
      })
    },
  })
}

type Command = { type: string; turn?: { end_timeout_ms?: number } }

/** Plays the socket for recognition with turn detection: a turn is over after enough silence. */
export function playTurns(socket: StubSocket, query: URLSearchParams, cell: Cell): void {
  const hearing = new Hearing(query)
  const inOrder = ordered(cell)
  let timeoutMs = Number(query.get('turn_end_timeout_ms') ?? 5600)
  let isBroken = false
  const send = (type: string, fields: object = {}) => socket.send({ type, request_id: 'stub', ...fields })
  const breaking: Partial<Record<Cell, () => void>> = {
    empty: () => socket.close(1000),
    header_only: () => {
      send('turn.update', { transcript: '' })
      socket.close(1000)
    },
    cut: () => socket.cut(),
    reset: () => socket.reset(),
    garbage: () => socket.send('{"type": "tur'),
    error_mid: () => socket.send(errorFrame('overloaded')),
  }
  const begin = () => {
    send('turn.start')
    send('turn.update', { transcript: 'heard' })
    breaking[cell]?.()
  }
  const end = (transcript: string) => {
    if (transcript === '') return
    send('turn.update', { transcript })
    send('turn.eager_end', { transcript })
    send('turn.end', { transcript })
  }
  if (failures[cell]) return socket.send(errorFrame(cell))
  send('connected')
  socket.listen({
    binary(bytes) {
      if (isBroken) return
      if (hearing.push(bytes)) inOrder(begin)
      isBroken = hearing.isSpoken && cell in breaking
      if (isBroken || !hearing.isSpoken || hearing.silentMs < timeoutMs) return
      const transcript = hearing.take()
      inOrder(() => end(transcript))
    },
    text(text) {
      if (isBroken) return
      const { type, turn } = JSON.parse(text) as Command
      if (type === 'config') timeoutMs = turn?.end_timeout_ms ?? timeoutMs
      else if (type !== 'close') socket.send(errorFrame('bad_request'))
      else
        inOrder(() => {
          end(hearing.take())
          socket.close(1000)
        })
    },
  })
}

/** Speech without the silence around it. */
export function withoutSilence(samples: Buffer): Buffer {
  const isSound = (byte: number) => byte !== 0
  const from = samples.findIndex(isSound)
  return from < 0 ? Buffer.alloc(0) : samples.subarray(from, samples.findLastIndex(isSound) + 1)
}

/** Runs one task after another. In the test case `slow_first_byte` each task waits first. */
function ordered(cell: Cell): (run: () => void) => void {
  let work = Promise.resolve()
  return (run) => {
    if (cell === 'slow_first_byte') work = work.then(() => pause(slowMs))
    work = work.then(run)
  }
}

/** Returns three lists: the words, their starts and their ends. */
function wordsOf(text: string, startS: number): object {
  const words = text.split(' ').filter(Boolean)
  return { words, start: words.map((_, i) => startS + i / 100), end: words.map((_, i) => startS + (i + 1) / 100) }
}

/** The audio since the last transcript, and whether it contains sound. */
class Hearing {
  isSpoken = false
  /** The length of the silence since the last sound. */
  silentMs = 0
  startS = 0
  readonly #bytesPerS: number
  #samples: Buffer[] = []
  #bytes = 0

  constructor(query: URLSearchParams) {
    const bytes: Record<string, number> = { pcm_s16le: 2, pcm_f32le: 4 }
    this.#bytesPerS = Number(query.get('sample_rate')) * (bytes[query.get('encoding') ?? ''] ?? 1)
  }

  get seconds(): number {
    return this.#bytes / this.#bytesPerS - this.startS
  }

  /** Adds audio. Returns true if it has the first sound. */
  push(bytes: Buffer): boolean {
    this.#samples.push(bytes)
    this.#bytes += bytes.length
    const isSilent = bytes.every((byte) => byte === 0)
    this.silentMs = isSilent ? this.silentMs + (bytes.length / this.#bytesPerS) * 1000 : 0
    const isFirst = !isSilent && !this.isSpoken
    this.isSpoken ||= isFirst
    return isFirst
  }

  take(): string {
    const text = transcriptOf(withoutSilence(Buffer.concat(this.#samples)))
    this.#samples = []
    this.isSpoken = false
    this.startS = this.#bytes / this.#bytesPerS
    return text
  }
}
