/**
 * Counts each DTMF key press once. Some phones report a press twice, as an RTP telephone event and in an INFO request.
 * If both reports for the same key come within two seconds, the second report is ignored.
 */
export type KeyWay = 'event' | 'info'
type Report = { digit: string; way: KeyWay; atMs: number }

const pairMs = 2_000
const waitingMax = 32

export class PressedKeys {
  readonly #nowMs: () => number
  #waiting: Report[] = []

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Returns false if the same key press was already reported by the other method (RTP or INFO). */
  isNew(digit: string, way: KeyWay): boolean {
    const atMs = this.#nowMs()
    this.#waiting = this.#waiting.filter((report) => atMs - report.atMs <= pairMs).slice(-waitingMax)
    const pair = this.#waiting.find((report) => report.digit === digit && report.way !== way)
    if (pair === undefined) this.#waiting.push({ digit, way, atMs })
    else this.#waiting.splice(this.#waiting.indexOf(pair), 1)
    return pair === undefined
  }
}
