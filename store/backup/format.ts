/**
 * A backup's content: text lines, compressed as a whole by gzip (RFC 1952). Gzip's checksum covers all lines.
 *
 *   {"format":"parley backup 1","schema":48,"createdAt":"…"}
 *   {"table":"agents","columns":[…],"counters":{…}}
 *   one line for each row, as COPY writes it (PostgreSQL, COPY, "Text Format")
 *   \.
 *   … the other tables
 *   {"tables":45,"rows":4213}
 *
 * If the last line is there and its counts are right, nothing is missing.
 */
import type { TableShape } from './tables.ts'

export const backupFormat = 'parley backup 1'

export type BackupHeader = { schema: number; createdAt: string }
export type BackupCounts = { tables: number; rows: number }

export const endOfRows = '\\.\n'
const newline = 0x0a
/** The longest line, which is a row. A row can have a transcript or a stored HTTP response with several MiB. */
const lineBytesMax = 256 * 1024 * 1024
/** The longest JSON line. JSON lines are between the tables' rows. */
const jsonBytesMax = 1024 * 1024

/** A backup cannot be written or restored. The message is for the operator. */
export class BackupError extends Error {}

export type Section = { kind: 'table'; table: TableShape } | { kind: 'end'; counts: BackupCounts }

export class BackupReader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  async header(): Promise<BackupHeader> {
    const { format, schema, createdAt } = await this.#json()
    const isOfSchema = Number.isInteger(schema) && Number(schema) >= 1
    if (format !== backupFormat || !isOfSchema || typeof createdAt !== 'string' || Number.isNaN(Date.parse(createdAt)))
      throw new BackupError('this is not a backup that this version of Parley can read')
    return { schema: Number(schema), createdAt }
  }

  async section(): Promise<Section> {
    const line = await this.#json()
    const { table, columns, counters, tables, rows } = line
    if (typeof tables === 'number' && typeof rows === 'number') return { kind: 'end', counts: { tables, rows } }
    if (typeof table !== 'string' || !areNames(columns) || !areNumbers(counters)) throw damaged()
    return { kind: 'table', table: { name: table, columns, counters } }
  }

  /** Yields the current table's rows in chunks, each with whole lines. */
  async *rows(): AsyncGenerator<Buffer> {
    for (;;) {
      const lines = this.#rest.subarray(0, this.#rest.lastIndexOf(newline) + 1)
      const endsAt = endOf(lines)
      const length = endsAt ?? lines.length
      if (length > 0) yield lines.subarray(0, length)
      this.#rest = this.#rest.subarray(endsAt === null ? length : length + endOfRows.length)
      if (endsAt !== null) return
      await this.#more()
    }
  }

  async #json(): Promise<Record<string, unknown>> {
    let at = this.#rest.indexOf(newline)
    while (at < 0) {
      if (this.#rest.length > jsonBytesMax) throw damaged()
      await this.#more()
      at = this.#rest.indexOf(newline)
    }
    const line = this.#rest.toString('utf8', 0, at)
    this.#rest = this.#rest.subarray(at + 1)
    try {
      // If the JSON is a number, a text or null, `Object` makes an object without our fields, so the checks below
      // refuse it.
      return Object(JSON.parse(line)) as Record<string, unknown>
    } catch (cause) {
      throw new BackupError('this is not a backup of Parley', { cause })
    }
  }

  /**
   * Reads to the next newline, or until the buffer has doubled. If each chunk were joined to a long line at once, the
   * line would be copied thousands of times.
   */
  async #more(): Promise<void> {
    const chunks = [this.#rest]
    let bytes = this.#rest.length
    const enough = 2 * bytes
    for (let hasNewline = false; !hasNewline && (chunks.length === 1 || bytes < enough); ) {
      const next = await this.#chunks.next()
      if (next.done === true || bytes > lineBytesMax) throw damaged()
      chunks.push(next.value)
      bytes += next.value.length
      hasNewline = next.value.includes(newline)
    }
    this.#rest = Buffer.concat(chunks)
  }
}

const areNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string')

const areNumbers = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((number) => typeof number === 'string' && /^\d{1,18}$/.test(number))

/** Finds the line that ends the rows. Null if it is not in `lines`, which must begin at the start of a line. */
function endOf(lines: Buffer): number | null {
  if (lines.toString('latin1', 0, endOfRows.length) === endOfRows) return 0
  const before = lines.indexOf(`\n${endOfRows}`)
  return before < 0 ? null : before + 1
}

const damaged = () => new BackupError('the backup is not whole: it was cut off, or changed')
