/**
 * What was heard, out of the pieces in which vendors tell it. All tell two kinds: what will not change any more, once, and what may, again and again.
 *
 *   settled  Hello there,     ← added to
 *   guess    how are yo       ← replaced each time
 *
 * The domain is told the whole: guesses as partials, and one final when the speaker stops. Somebody who does not stop gets a final now and then, so that
 * neither what is held here nor the wait for a final grows with the speech.
 */

import type { SttStreamRequest, SttStreamSink, Word } from '../../domain/speech/stt.ts'

/** A word, a part of one, or a mark of punctuation. */
export type Piece = {
  /** As it stands in the text, with the space before it where there is one. */
  text: string
  /** It belongs to the word before it. */
  joins: boolean
  startMs: number
  endMs: number
  confidence?: number
  language?: string
}

/** Speech without a pause after which a final is told all the same. */
const settledMsMax = 15_000

export class Utterances {
  readonly #request: Pick<SttStreamRequest, 'interimResults' | 'words'>
  readonly #sink: Pick<SttStreamSink, 'speechStarted' | 'transcript'>
  #settled: Piece[] = []
  #guess: readonly Piece[] = []
  #utterance = 0
  #isStarted = false
  /** A final of the utterance that is not its last was told. */
  #isCut = false
  #partial = ''
  #endMs = 0

  constructor(
    request: Pick<SttStreamRequest, 'interimResults' | 'words'>,
    sink: Pick<SttStreamSink, 'speechStarted' | 'transcript'>,
  ) {
    this.#request = request
    this.#sink = sink
  }

  /** For a vendor that says so before the first word; else the first word says it. */
  started(startMs: number): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#sink.speechStarted(startMs)
  }

  /** They come after what was settled before, in place of the guess. */
  settle(pieces: readonly Piece[]): void {
    this.#settled.push(...pieces)
    this.#guess = []
    this.#startAt(pieces[0])
    if (spanMs(this.#settled) > settledMsMax) this.#cut()
  }

  /** All that comes after what is settled, in place of what was guessed before. Told as a partial. */
  guess(pieces: readonly Piece[]): void {
    this.#guess = pieces
    this.#startAt(pieces[0])
    if (this.#request.interimResults) this.#tellPartial()
  }

  /** The speaker has stopped: what is settled was the utterance. A guess is the next one's. */
  end(): void {
    const pieces = this.#settled
    this.#settled = []
    this.#guess = []
    this.#partial = ''
    this.#isStarted = false
    if (textOf(pieces) === '' && !this.#isCut) return
    this.#isCut = false
    this.#tell(pieces, true, true)
    this.#utterance++
  }

  /** Nothing more will come: a guess that the vendor left open is what was said. */
  finish(): void {
    this.#settled.push(...this.#guess)
    this.end()
  }

  #startAt(first: Piece | undefined): void {
    if (first) this.started(first.startMs)
  }

  #cut(): void {
    const pieces = this.#settled
    this.#settled = []
    this.#isCut = true
    this.#tell(pieces, true, false)
  }

  #tellPartial(): void {
    const pieces = [...this.#settled, ...this.#guess]
    const text = textOf(pieces)
    if (text === '' || text === this.#partial) return
    this.#partial = text
    this.#tell(pieces, false, false)
  }

  #tell(pieces: readonly Piece[], isFinal: boolean, speechFinal: boolean): void {
    const startMs = pieces[0]?.startMs ?? this.#endMs
    this.#endMs = pieces.at(-1)?.endMs ?? this.#endMs
    const confidence = meanConfidence(pieces)
    const language = pieces.findLast((piece) => piece.language !== undefined)?.language
    this.#sink.transcript({
      utterance: this.#utterance,
      text: textOf(pieces),
      isFinal,
      speechFinal,
      startMs,
      endMs: this.#endMs,
      ...(confidence !== undefined && { confidence }),
      ...(language !== undefined && { language }),
      ...(isFinal && this.#request.words && { words: wordsOf(pieces) }),
    })
  }
}

const spanMs = (pieces: readonly Piece[]) => (pieces.at(-1)?.endMs ?? 0) - (pieces[0]?.startMs ?? 0)

function textOf(pieces: readonly Piece[]): string {
  let text = ''
  for (const piece of pieces) text += piece.text
  return text.trim()
}

function wordsOf(pieces: readonly Piece[]): Word[] {
  const words: Word[] = []
  for (const { text, joins, startMs, endMs, confidence } of pieces) {
    const last = words.at(-1)
    if (joins && last) {
      last.text += text
      last.endMs = endMs
    } else if (text.trim() !== '') {
      words.push({ text: text.trim(), startMs, endMs, ...(confidence !== undefined && { confidence }) })
    }
  }
  return words
}

function meanConfidence(pieces: readonly Piece[]): number | undefined {
  let sum = 0
  let count = 0
  for (const { confidence } of pieces) {
    if (confidence === undefined) continue
    sum += confidence
    count++
  }
  return count === 0 ? undefined : Math.round((sum / count) * 1000) / 1000
}
