/**
 * Keeps settlements on disk while the database cannot take them. Their requests were served already, so they must not
 * be lost if this process ends. Each process appends to a separate file, and reads it again when the database is back.
 * A settlement that is written twice counts once (ledger.ts), so after a crash the whole file is read again.
 *
 *   settlements/<instance id>.jsonl             a line for each settlement, after an empty line for each append
 *   settlements/<instance id>.<adopter>.jsonl   the same file, while another process writes it into the database
 *   settlements/refused/<instance id>-refused.jsonl   settlements that the database refuses, for the operator
 *
 * A refused settlement delays no other settlement, because it is not tried again. If the operator removes the cause and
 * moves the file to `settlements`, a process adopts it.
 *
 * An append that was cut leaves half a line at the end of the file, and the next append begins a new line. A routing
 * choice is in the first line of a file that refers to it.
 *
 * A process without a connection to the database seems to have ended, but it goes on appending. So an adopter first
 * renames the file, and only then reads it. After each append, the process checks if its file still has its name. If
 * the file was renamed, the adopter may have missed the rows, so they are appended again to a new file.
 */
import { createReadStream, existsSync, renameSync, statSync, unlinkSync } from 'node:fs'
import { link, mkdir, open, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Log } from '../../domain/ports/system.ts'

/** A settlement as text. `choice.text` is missing if an earlier line with it was lost. */
export type JournalRow<Row> = Row & { organizationId: string; choice: { id: string; text: string | null } }

export type JournalOptions = {
  dataDir: string
  instanceId: string
  /** Names the order of the columns in the rows. Rows of another order cannot be read. */
  columns: string
  /** At this size no more requests are admitted. Requests under way are still appended. */
  bytesMax: number
  log: Log
}

const rowsInBatch = 256
const ending = '.jsonl'
const refused = 'refused'
/** An append is repeated at most this often if another process adopts the file meanwhile. Adoption is rare. */
const triesMax = 3

export class SettlementJournal<Row> {
  readonly #options: JournalOptions
  readonly #folder: string
  readonly #file: string
  readonly #choices = new Set<string>()
  #bytes = 0
  #rows = 0
  #appendsUnderWay = 0
  #isBroken = false

  constructor(options: JournalOptions) {
    this.#options = options
    this.#folder = path.join(options.dataDir, 'settlements')
    this.#file = this.#pathOf(options.instanceId)
  }

  /** Counts the settlements in this process's file. */
  get rows(): number {
    return this.#rows
  }

  /** The size of this process's file. */
  get bytes(): number {
    return this.#bytes
  }

  /** False if the file is full, or if the last append failed. */
  get hasRoom(): boolean {
    return !this.#isBroken && this.#bytes < this.#options.bytesMax
  }

  /** Resolves when the rows are on the disk. */
  async append(rows: readonly JournalRow<Row>[]): Promise<void> {
    this.#appendsUnderWay += 1
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      for (let tries = 1; !(await this.#appendOnce(rows)); tries += 1)
        if (tries === triesMax) throw new Error(`${this.#file} was adopted during each append`)
      this.#isBroken = false
    } catch (error) {
      this.#isBroken = true
      // The lines with these choices may be lost, so the next lines have them again.
      this.#choices.clear()
      throw error
    } finally {
      this.#appendsUnderWay -= 1
    }
  }

  /** Keeps a settlement that the database refuses. Rejects if `bytesMax` are kept already. */
  async setAside(row: JournalRow<Row>): Promise<void> {
    const { instanceId, columns, bytesMax } = this.#options
    const folder = path.join(this.#folder, refused)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // A running process never has a file with this name, so the operator's move replaces no file.
    const file = path.join(folder, `${instanceId}-${refused}${ending}`)
    const handle = await open(file, 'a', 0o600)
    try {
      if ((await handle.stat()).size >= bytesMax) throw new Error(`${file} is full`)
      await handle.appendFile(`\n${JSON.stringify({ columns, ...row })}\n`)
      await handle.datasync()
    } finally {
      await handle.close()
    }
  }

  /** Returns false if the file was adopted before the rows were certainly in it. */
  async #appendOnce(rows: readonly JournalRow<Row>[]): Promise<boolean> {
    if (this.#isAdopted()) this.#forget()
    const text = `\n${rows.map((row) => `${this.#lineOf(row)}\n`).join('')}`
    const handle = await open(this.#file, 'a', 0o600)
    try {
      await handle.appendFile(text)
      await handle.datasync()
      if (this.#bytes === 0) await syncFolder(this.#folder)
      const { ino, size } = await handle.stat({ bigint: true })
      if (!this.#isNameOf(ino)) {
        this.#forget()
        return false
      }
      this.#bytes = Number(size)
      this.#rows += rows.length
      return true
    } finally {
      await handle.close()
    }
  }

  /**
   * If the last append failed, tries again. If this fails too, `canDoWithout` decides: if it resolves, the journal
   * counts as usable again.
   */
  async repair(canDoWithout: () => Promise<void>): Promise<void> {
    if (!this.#isBroken) return
    await this.append([]).catch(canDoWithout)
    this.#isBroken = false
  }

  /** Passes the rows to `write` in their order, and removes them when all are written. Rejects if `write` does. */
  async replay(write: (rows: readonly JournalRow<Row>[]) => Promise<void>): Promise<void> {
    if (this.#isAdopted() && this.#appendsUnderWay === 0) this.#forget()
    if (this.#bytes === 0) return
    // While this handle is open, no later file can have the same inode number.
    const handle = await open(this.#file, 'r')
    try {
      const { ino } = await handle.stat({ bigint: true })
      const texts = new Map<string, string>()
      // Rows appended meanwhile are written too. If another process adopts the file meanwhile, it writes the remaining
      // rows.
      for (let start = 0; this.#isNameOf(ino) && this.#bytes > start; ) {
        const end = this.#bytes
        await this.#read(this.#file, { start, end: end - 1 }, texts, write)
        start = end
      }
      if (this.#appendsUnderWay > 0 || !this.#isNameOf(ino)) return
      this.#options.log.info({ rows: this.#rows }, 'settlements of an outage are written')
      unlinkSync(this.#file)
      this.#forget()
    } finally {
      await handle.close()
    }
  }

  #forget(): void {
    this.#choices.clear()
    this.#bytes = 0
    this.#rows = 0
  }

  /** Returns true if another process has taken the file, because this process seemed to have ended. */
  #isAdopted(): boolean {
    return this.#bytes > 0 && !existsSync(this.#file)
  }

  /** Returns true if the path still leads to the file with this inode number. */
  #isNameOf(ino: bigint): boolean {
    return statSync(this.#file, { bigint: true, throwIfNoEntry: false })?.ino === ino
  }

  /** Writes the files of processes that have ended. `isLive` tells if an instance still runs. */
  async adopt(
    isLive: (instanceId: string) => Promise<boolean>,
    write: (rows: readonly JournalRow<Row>[]) => Promise<void>,
  ): Promise<void> {
    const names = await readdir(this.#folder).catch(() => [])
    const failures: unknown[] = []
    for (const name of names) {
      if (!name.endsWith(ending) || name === path.basename(this.#file)) continue
      const owner = path.basename(name, ending).split('.').at(-1) ?? ''
      if (owner !== this.#options.instanceId && (await isLive(owner))) continue
      await this.#adoptFile(name, write).catch((error: unknown) => failures.push(error))
    }
    if (failures.length > 0) throw failures[0]
  }

  async #adoptFile(name: string, write: (rows: readonly JournalRow<Row>[]) => Promise<void>): Promise<void> {
    const [author = ''] = name.split('.')
    const file = path.join(this.#folder, name)
    const adopted = this.#pathOf(`${author}.${this.#options.instanceId}`)
    if (file !== adopted && !hasMoved(file, adopted)) return
    try {
      await this.#read(adopted, {}, new Map(), write)
    } catch (error) {
      await giveBack(adopted, this.#pathOf(author))
      throw error
    }
    await rm(adopted, { force: true })
  }

  #pathOf(instanceId: string): string {
    return path.join(this.#folder, `${instanceId}${ending}`)
  }

  #lineOf(row: JournalRow<Row>): string {
    const { id, text } = row.choice
    const name = `${row.organizationId} ${id}`
    const isKnown = this.#choices.has(name)
    this.#choices.add(name)
    return JSON.stringify({ columns: this.#options.columns, ...row, choice: { id, text: isKnown ? null : text } })
  }

  async #read(
    file: string,
    range: { start?: number; end?: number },
    texts: Map<string, string>,
    write: (rows: readonly JournalRow<Row>[]) => Promise<void>,
  ): Promise<void> {
    const input = createReadStream(file, range)
    let rows: JournalRow<Row>[] = []
    try {
      for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
        const row = this.#rowOf(line, file)
        if (row === null) continue
        const { id, text } = row.choice
        if (text !== null) texts.set(id, text)
        rows.push({ ...row, choice: { id, text: texts.get(id) ?? null } })
        if (rows.length < rowsInBatch) continue
        await write(rows)
        rows = []
      }
      if (rows.length > 0) await write(rows)
    } finally {
      // After a failure the line reader ends without closing the file, so the file is closed here.
      input.destroy()
    }
  }

  /** Returns null for an empty line, and for a line that was cut. */
  #rowOf(line: string, file: string): JournalRow<Row> | null {
    if (line === '') return null
    let row: JournalRow<Row> & { columns: string }
    try {
      row = JSON.parse(line) as typeof row
    } catch {
      this.#options.log.warn({ file, bytes: line.length }, 'a settlement on disk was cut by a crash: it is left out')
      return null
    }
    if (row.columns === this.#options.columns) return row
    throw new Error(`${file} has settlements of another version: start that version once to write them`)
  }
}

/** Renames a file, but never replaces an existing file. Returns false if another process has renamed it earlier. */
function hasMoved(from: string, to: string): boolean {
  if (existsSync(to)) return false
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/**
 * Restores an adopted file's first name, so that any process can adopt it. A hard link is used, because it never
 * replaces a file. If the file's first process has begun a new file under this name, the adopted file keeps its name
 * and is adopted again later.
 */
async function giveBack(adopted: string, file: string): Promise<void> {
  const isLinked = await link(adopted, file).then(
    () => true,
    () => false,
  )
  if (isLinked) await rm(adopted, { force: true })
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
