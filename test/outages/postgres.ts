/** A Postgres for the drill, to be killed, frozen and filled. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { isAlive, readLockFile } from '../../store/embedded/postmaster.ts'
import { descendants } from '../process/machine.ts'
import { startRunPostgres } from '../store/run-postgres.ts'

/** Room for the cluster and its log. */
const diskSize = '192m'

export class DrillPostgres {
  readonly #root: string
  readonly #folder: string
  /** True if the data is on a small disk in memory. */
  readonly hasDisk: boolean
  socketDir = ''

  private constructor() {
    this.#root = mkdtempSync(path.join(tmpdir(), 'parley-drill-'))
    chmodSync(this.#root, 0o711)
    this.hasDisk = mounted(this.#root)
    this.#folder = path.join(this.#root, 'data')
    mkdirSync(this.#folder, { mode: 0o711 })
  }

  static async start(): Promise<DrillPostgres> {
    const postgres = new DrillPostgres()
    await postgres.revive()
    return postgres
  }

  get url(): string {
    return `postgres://parley@localhost/parley?host=${encodeURIComponent(this.socketDir)}`
  }

  kill(): void {
    this.#signal('SIGKILL')
  }

  get isRunning(): boolean {
    return isAlive(readLockFile(path.join(this.#folder, 'postgres'))?.pid ?? 0)
  }

  /** Starts Postgres again over the same data. */
  async revive(): Promise<void> {
    this.socketDir = (await startRunPostgres(this.#folder)).socketDir
  }

  freeze(): void {
    this.#signal('SIGSTOP')
  }

  thaw(): void {
    this.#signal('SIGCONT')
  }

  fill(): void {
    const { bavail, bsize } = statfsSync(this.#root)
    try {
      writeFileSync(this.#ballast, Buffer.alloc(bavail * bsize, 1))
    } catch (error) {
      // Postgres has used some of the space meanwhile, so the disk is full earlier.
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }

  empty(): void {
    rmSync(this.#ballast, { force: true })
  }

  stop(): void {
    this.thaw()
    this.kill()
    if (this.hasDisk) execFileSync('umount', ['-l', this.#root])
    rmSync(this.#root, { recursive: true, force: true })
  }

  get #ballast(): string {
    return path.join(this.#root, 'ballast')
  }

  /** Signals the Postgres server and its processes, the server first. A process may have ended meanwhile. */
  #signal(signal: NodeJS.Signals): void {
    const pid = readLockFile(path.join(this.#folder, 'postgres'))?.pid
    if (pid === undefined) return
    for (const each of [pid, ...descendants(pid)])
      try {
        process.kill(each, signal)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
      }
  }
}

function mounted(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskSize},mode=711`, 'tmpfs', folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
