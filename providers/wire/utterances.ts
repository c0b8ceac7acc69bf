/**
 * Builds transcripts from vendors' text pieces. There are two kinds: fixed pieces are sent once and do not change,
 * interim pieces are sent again and again.
 *
 *   fixed    Hello there,     ← added to
 *   interim  how are yo       ← replaced each time
 *
 * The domain receives the whole text: an interim transcript for each change, and a final transcript when the speech
 * ends. During speech without a pause a final transcript is sent from time to time, to limit the stored text and the
 * wait for a final.
 */

import type { SttStreamRequest, SttStreamSink, Word } from '../../domain/ports/stt.ts'

/** A word, a part of a word, or a punctuation mark. */
export type Piece = {
  /** The text, including the space before it, if any. */
  text: string
  /** True if the piece continues the previous word. */
  joins: boolean
  startMs: number
  endMs: number
  confidence?: number
  language?: string
}

/** After this much speech without a pause, a final transcript is sent, but the utterance continues. */
const fixedMsMax = 15_000

export class Utterances {
  readonly #request: Pick<SttStreamRequest, 'interimResults' | 'words'>
  readonly #sink: Pick<SttStreamSink, 'speechStarted' | 'transcript'>
  #fixed: Piece[] = []
  #interim: readonly Piece[] = []
  #utterance = 0
  #isStarted = false
  /** True if the open utterance already has a final transcript for its first part. */
  #isCut = false
  #lastInterimText = ''
  #endMs = 0

  constructor(
    request: Pick<SttStreamRequest, 'interimResults' | 'words'>,
    sink: Pick<SttStreamSink, 'speechStarted' | 'transcript'>,
  ) {
    this.#request = request
    this.#sink = sink
  }

  /**
   * Starts the utterance, for vendors that report the start of speech. For other vendors the first piece starts the
   * utterance.
   */
  started(startMs: number): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#sink.speechStarted(startMs)
  }

  /** Adds fixed pieces and drops the interim pieces. */
  addFixed(pieces: readonly Piece[]): void {
    this.#fixed.push(...pieces)
    this.#interim = []
    this.#startAt(pieces[0])
    if (spanMs(this.#fixed) > fixedMsMax) this.#cut()
  }

  /** Replaces the interim pieces. `pieces` are all pieces after the fixed pieces. */
  setInterim(pieces: readonly Piece[]): void {
    this.#interim = pieces
    this.#startAt(pieces[0])
    if (this.#request.interimResults) this.#reportInterim()
  }

  /** Ends the utterance with the fixed pieces. Interim pieces belong to the next utterance. */
  end(): void {
    const pieces = this.#fixed
    this.#fixed = []
    this.#interim = []
    this.#lastInterimText = ''
    this.#isStarted = false
    if (textOf(pieces) === '' && !this.#isCut) return
    this.#isCut = false
    this.#report(pieces, true, true)
    this.#utterance++
  }

  /** Ends the utterance when no other piece will arrive: the interim pieces then count as fixed. */
  finish(): void {
    this.#fixed.push(...this.#interim)
    this.end()
  }

  #startAt(first: Piece | undefined): void {
    if (first) this.started(first.startMs)
  }

  #cut(): void {
    const pieces = this.#fixed
    this.#fixed = []
    this.#isCut = true
    this.#report(pieces, true, false)
  }

  #reportInterim(): void {
    const pieces = [...this.#fixed, ...this.#interim]
    const text = textOf(pieces)
    if (text === '' || text === this.#lastInterimText) return
    this.#lastInterimText = text
    this.#report(pieces, false, false)
  }

  #report(pieces: readonly Piece[], isFinal: boolean, speechFinal: boolean): void {
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
