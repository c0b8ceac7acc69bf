/**
 * The marks and clears that a client has not answered. Its answers come about ten a second while the agent speaks, so
 * they do not count as text frames; an answer to nothing does.
 */
export class SentMarks {
  /** The oldest first. */
  #marks: { name: string; number: number }[] = []
  /** For each clear that is not answered: the number of the first mark after it. */
  #clears: number[] = []
  #nextNumber = 0
  #lastPassed: string | null = null

  mark(name: string): void {
    this.#marks.push({ name, number: this.#nextNumber })
    this.#nextNumber += 1
    if (this.#marks.length > marksMax) this.#marks.shift()
  }

  clear(): void {
    this.#clears.push(this.#nextNumber)
    if (this.#clears.length > clearsMax) this.#clears.shift()
  }

  /** False: no mark of this name waits for an answer. */
  passed(name: string | null): boolean {
    const index = this.#marks.findIndex((mark) => mark.name === name)
    if (index < 0) return false
    this.#marks.splice(0, index + 1)
    this.#lastPassed = name
    return true
  }

  /** The last mark that was passed; undefined when no clear waits for an answer. A mark that was never sent is not believed. */
  cleared(name: string | null): string | null | undefined {
    const firstAfter = this.#clears.shift()
    if (firstAfter === undefined) return undefined
    this.passed(name)
    this.#marks = this.#marks.filter(({ number }) => number >= firstAfter)
    return this.#lastPassed
  }
}

/** A client that never answers has this many kept: more than ten seconds of speech. */
const marksMax = 128
const clearsMax = 128
