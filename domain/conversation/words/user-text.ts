/**
 * The words in the user's turn so far: the final transcripts, then the interim transcript after them. `take` ends the
 * turn. Late transcripts of the same speech may arrive afterwards, and they are dropped.
 */
import type { StreamTranscript } from '../../ports/stt.ts'

type Segment = Pick<StreamTranscript, 'utterance' | 'text' | 'startMs' | 'endMs'>

export class UserText {
  #startedMs: number | null = null
  #finals: Segment[] = []
  #interim: Segment | null = null
  #isSpeechFinal = false
  /** The interim transcript at the end of the last turn. Its final transcript has not arrived yet. */
  #pending: Segment | null = null

  /** Returns the turn's start on the monotonic clock. Null if the turn has not begun. */
  get startedMs(): number | null {
    return this.#startedMs
  }

  /** Begins the turn at this time, unless it has begun already. */
  begin(atMs: number): void {
    this.#startedMs ??= atMs
  }

  /** Adds a transcript. Returns false if it adds nothing to this turn. */
  add(transcript: StreamTranscript): boolean {
    const { utterance, startMs, endMs, isFinal } = transcript
    const text = this.#newText(transcript)
    if (isFinal && this.#pending?.utterance === utterance) this.#pending = null
    if (text === '' && this.#interim === null) {
      if (transcript.speechFinal && this.#finals.length > 0) this.#isSpeechFinal = true
      return false
    }
    const segment = { utterance, text, startMs, endMs }
    this.#isSpeechFinal = transcript.speechFinal
    this.#interim = isFinal ? null : segment
    if (isFinal) this.#addFinal(segment)
    return true
  }

  get text(): string {
    const segments = this.#interim === null ? this.#finals : [...this.#finals, this.#interim]
    return segments
      .map(({ text }) => text)
      .filter((text) => text !== '')
      .join(' ')
  }

  /** Returns true if the whole text is final. */
  get isFinal(): boolean {
    return this.#interim === null
  }

  /** Returns true if the provider has found the end of the utterance. */
  get isSpeechFinal(): boolean {
    return this.#isSpeechFinal && this.#interim === null
  }

  /** Returns the text as a finished turn, and begins a new turn. */
  take(): string {
    const text = this.text
    this.#pending = this.#interim
    this.#startedMs = null
    this.#drop()
    return text
  }

  /**
   * Call this when a new stream begins, because its utterance numbers begin at 0 again. If the turn began less than
   * `replayedMs` ago, its audio is to be transcribed again, so the text is dropped and this returns true.
   */
  reopened(nowMs: number, replayedMs: number): boolean {
    const isReplayed = nowMs - (this.#startedMs ?? nowMs) < replayedMs
    if (isReplayed) this.#drop()
    else if (this.#interim !== null) this.#addFinal(this.#interim)
    this.#interim = this.#pending = null
    return isReplayed
  }

  #drop(): void {
    this.#finals = []
    this.#interim = null
    this.#isSpeechFinal = false
  }

  #newText({ utterance, text, startMs }: Segment): string {
    const pending = this.#pending
    if (pending === null || pending.utterance !== utterance || startMs > pending.startMs) return text.trim()
    return wordsOf(text).slice(wordsOf(pending.text).length).join(' ')
  }

  #addFinal(segment: Segment): void {
    const last = this.#finals.at(-1)
    // Some models send the whole utterance again with each final transcript.
    const isWhole = last?.utterance === segment.utterance && segment.startMs <= last.startMs && last.text !== ''
    if (isWhole) this.#finals.pop()
    this.#finals.push(segment)
  }
}

export function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}

/** Compares two texts without case and punctuation. */
export function sameWords(a: string, b: string): boolean {
  return comparable(a) === comparable(b)
}

function comparable(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}
