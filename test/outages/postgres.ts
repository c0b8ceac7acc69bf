/** A Postgres for the drill, to be killed, frozen and filled. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readLockFile } from '../../store/embedded/postmaster.ts'
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
    for (const pid of this.#pids()) process.kill(pid, 'SIGKILL')
  }

  /** Starts the server over the same data. */
  async revive(): Promise<void> {
    this.socketDir = (await startRunPostgres(this.#folder)).socketDir
  }

  freeze(): void {
    for (const pid of this.#pids()) process.kill(pid, 'SIGSTOP')
  }

  thaw(): void {
    for (const pid of this.#pids()) process.kill(pid, 'SIGCONT')
  }

  fill(): void {
    const { bavail, bsize } = statfsSync(this.#root)
    writeFileSync(this.#ballast, Buffer.alloc(bavail * bsize, 1))
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

  /** The server and its processes, the server first. */
  #pids(): number[] {
    const pid = readLockFile(path.join(this.#folder, 'postgres'))?.pid
    return pid === undefined ? [] : [pid, ...descendants(pid)]
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
