// The record for one test file in a run: its TAP test points, its failed points, the reasons for skipped tests, its
// output, and its end.
import { Parser } from 'tap-parser'

/** The line for a failure shows at most this many characters of a title, and of a difference. */
const titleMax = 300
const differenceMax = 200
const names = ['pass', 'fail', 'skip', 'todo']

export function noCounts() {
  return { pass: 0, fail: 0, skip: 0, todo: 0 }
}

export class FileRecord {
  #startedMs = performance.now()
  #parser = new Parser()
  #counts = noCounts()
  #failures = []
  #skips = []
  #output = []
  #testsCount = 0

  constructor(file) {
    this.file = file
    for (const name of names) this.#parser.on(name, () => this.#counts[name]++)
    this.#parser.on('fail', ({ fullname, diag }) =>
      this.#failures.push(`${fullname.slice(0, titleMax)}${differenceOf(diag)}`),
    )
    this.#parser.on('skip', ({ name, skip }) => this.#skips.push({ name, reason: skip }))
    this.#parser.on('todo', ({ name, todo }) => this.#skips.push({ name, reason: todo }))
  }

  get hasFailures() {
    return this.#counts.fail > 0
  }

  /** Handles a TAP line, or any other output line from the file. */
  line(text) {
    if (/^ *# Subtest: /.test(text)) this.#testsCount++
    this.#output.push(`${text}\n`)
    this.#parser.write(`${text}\n`)
  }

  note(text) {
    this.#output.push(text)
  }

  /**
   * Returns the file's result. If a file ended badly without a failed point (a crash, a time-out), it has failed all
   * the same. A file without any point has failed too.
   */
  result(isEndGood, end) {
    this.#parser.end()
    const { pass, fail, skip, todo } = this.#counts
    const isGood = isEndGood && this.#parser.ok && pass + skip + todo > 0
    return {
      file: this.file,
      counts: { ...this.#counts, fail: isGood ? 0 : Math.max(1, fail) },
      failures: isGood || this.#failures.length > 0 ? this.#failures : [`it ended with ${end}`],
      skips: this.#skips,
      testsCount: this.#testsCount,
      seconds: (performance.now() - this.#startedMs) / 1000,
      end,
      output: this.#output.join(''),
    }
  }
}

/** Returns the differing lines on one line, as ` (-2 +1)`: expected and found. */
function differenceOf(diag) {
  const lines = String(diag?.diff ?? '').split('\n')
  const differing = lines.filter((line) => /^[-+](?!-- |\+\+ )/.test(line)).map((line) => line.replace(/\s+/g, ' '))
  return differing.length === 0 ? '' : ` (${differing.join(' ').slice(0, differenceMax)})`
}
