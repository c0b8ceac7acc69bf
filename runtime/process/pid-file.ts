import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeDataDir, unwritableDataDir } from './data-dir.ts'

/** The server process that uses the data folder, and its URL, for the command line. */
export type Instance = { pid: number; url: string }

const fileOf = (dataDir: string) => path.join(dataDir, 'parley.pid')

export type PidFile = {
  /** Another running server with this data folder; it keeps its file. Null if the file is from this process. */
  other: Instance | null
  /** Removes the file if it is from this process. */
  remove(): void
}

/** Writes the file. Must be called when the server is ready. Rejects if the data folder cannot be written. */
export async function writePidFile(dataDir: string, url: string): Promise<PidFile> {
  makeDataDir(dataDir)
  const other = await otherServer(dataDir, url)
  try {
    if (other === null) writeFileSync(fileOf(dataDir), JSON.stringify({ pid: process.pid, url } satisfies Instance))
  } catch (cause) {
    throw unwritableDataDir(dataDir, cause)
  }
  return {
    other,
    remove() {
      if (readPidFile(dataDir)?.pid === process.pid) rmSync(fileOf(dataDir), { force: true })
    },
  }
}

const answerMs = 1000

/**
 * Returns the server named in the file, if it answers or is only slow. The pid alone is not enough: after a crash,
 * another program can have it.
 */
async function otherServer(dataDir: string, url: string): Promise<Instance | null> {
  const named = readPidFile(dataDir)
  // This process has the port now, so the server with this URL has died.
  if (named === null || named.pid === process.pid || named.url === url) return null
  try {
    const { ok } = await fetch(`${named.url}/healthz`, { signal: AbortSignal.timeout(answerMs) })
    return ok ? named : null
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError' ? named : null
  }
}

/** Reads the file. Returns null if no process has its pid, because a crash does not remove the file. */
export function readPidFile(dataDir: string): Instance | null {
  try {
    const instance = JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as Instance
    process.kill(instance.pid, 0)
    return instance
  } catch {
    return null
  }
}

/** Sends SIGTERM and waits until the process is gone. The other process's drain bounds the wait. */
export async function endInstance({ pid }: Instance): Promise<void> {
  process.kill(pid, 'SIGTERM')
  while (isAlive(pid)) await sleep(50)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
