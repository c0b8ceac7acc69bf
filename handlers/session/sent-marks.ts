/**
 * The `mark` and `clear` frames still unanswered by the client. While the agent speaks, about ten answers (`played`
 * frames) come a second, so they do not count against the limit on text frames. An answer to no sent frame does count.
 */
export class SentMarks {
  /** Sent marks without an answer, oldest first. */
  #marks: { name: string; number: number }[] = []
  /** For each unanswered clear: the number of the first mark after it. */
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

  /** Removes an answered mark and all marks before it. Returns false if no mark with this name waits for an answer. */
  passed(name: string | null): boolean {
    const index = this.#marks.findIndex((mark) => mark.name === name)
    if (index < 0) return false
    this.#marks.splice(0, index + 1)
    this.#lastPassed = name
    return true
  }

  /**
   * Handles the client's answer to a `clear` frame. Returns the last passed mark, or undefined if no `clear` frame
   * waits for an answer. A mark that was never sent is ignored.
   */
  cleared(name: string | null): string | null | undefined {
    const firstAfter = this.#clears.shift()
    if (firstAfter === undefined) return undefined
    this.passed(name)
    this.#marks = this.#marks.filter(({ number }) => number >= firstAfter)
    return this.#lastPassed
  }
}

/**
 * The maximum number of marks to keep. They cover more than ten seconds of speech. A client that never answers reaches
 * this limit.
 */
const marksMax = 128
const clearsMax = 128
