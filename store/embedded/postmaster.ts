/** Examines a Postgres server process from outside: its lock file, whether it lives, its socket folder. */
import { createHash } from 'node:crypto'
import { chownSync, lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Account } from './account.ts'

export type Postmaster = { pid: number; socketDir: string; status: string }

/**
 * Reads a lock file. Each line has one value: 1 pid, 2 data folder, 3 start time, 4 port, 5 socket folder, 6 address, 7
 * memory key, 8 status. A socket's lock file ends after line 5.
 */
export function readLockFile(directory: string, file = 'postmaster.pid'): Postmaster | null {
  try {
    const lines = readFileSync(join(directory, file), 'utf8').split('\n')
    return { pid: Number(lines[0]), socketDir: lines[4] ?? '', status: (lines[7] ?? '').trim() }
  } catch {
    return null
  }
}

/**
 * Returns true if the process lives. A signal alone does not prove this, because a dead process (a zombie) accepts
 * signals too, until its parent has reaped it.
 */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  return !/^\d+ \(.*\) [ZX]/s.test(procFile(pid, 'stat') ?? '')
}

/** SSLRequest. A server answers it with one byte, before any authentication (PostgreSQL, Message Formats). */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const answerMs = 2_000

/**
 * Returns true if the server answers. While a server is being killed, it still looks alive for a moment, and its socket
 * still accepts connections.
 */
export function isAnswering({ socketDir }: Postmaster): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(join(socketDir, '.s.PGSQL.5432'))
    const settle = (answers: boolean) => {
      socket.destroy()
      resolve(answers)
    }
    socket.setTimeout(answerMs, () => settle(false))
    socket.once('connect', () => socket.write(sslRequest))
    socket.once('data', () => settle(true))
    socket.once('error', () => settle(false)).once('close', () => settle(false))
  })
}

/**
 * Returns true if the pid belongs to another program than Postgres. After a container restart the pid in an old lock
 * file often belongs to another process, or to a thread of this process. Postgres only checks if the pid accepts a
 * signal, so it would refuse to start for ever.
 */
export function isSomebodyElse(pid: number): boolean {
  const name = procFile(pid, 'comm')
  return name !== null && name.trim() !== 'postgres'
}

/** Returns the socket folder for a data folder. The path is short, because a socket's path has at most 107 bytes. */
export function socketDirOf(directory: string): string {
  const name = `parley-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}`
  const parent = tmpdir().length + name.length + '//.s.PGSQL.5432.lock'.length > 107 ? '/tmp' : tmpdir()
  return join(parent, name)
}

/**
 * Makes the socket folder, which only the server's account can use. Every user can write to the temporary folder, so
 * another user could make a folder with this name and receive our queries.
 */
export function makeSocketDir(directory: string, account: Account): string {
  const path = socketDirOf(directory)
  try {
    mkdirSync(path, { mode: 0o700 })
    if (account.drop.uid !== undefined) chownSync(path, account.drop.uid, account.drop.gid ?? -1)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  checkSocketDir(path, account)
  return path
}

export function checkSocketDir(path: string, account: Account): void {
  const stat = lstatSync(path)
  if (stat.isDirectory() && stat.uid === account.uid && (stat.mode & 0o077) === 0) return
  throw new Error(`The folder ${path} is not ours or is open to others: remove it and start again.`)
}

function procFile(pid: number, name: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return null
  }
}
