import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeDataDir, unwritableDataDir } from './data-dir.ts'

/** The process that serves a data folder, and its address. The command line finds it here. */
export type Instance = { pid: number; url: string }

const fileOf = (dataDir: string) => path.join(dataDir, 'parley.pid')

export type PidFile = {
  /** Another server of this data folder, which keeps its file. Null: the file is of this process. */
  other: Instance | null
  /** Removes the file if it is of this process. */
  remove(): void
}

/** Call it when the server is ready. Rejects when the data folder cannot be written. */
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

/** A server that the file names and that answers. The number of a process that has died can be that of another program. */
async function otherServer(dataDir: string, url: string): Promise<Instance | null> {
  const named = readPidFile(dataDir)
  // This process has the port now, so one that had it before has died.
  if (named === null || named.pid === process.pid || named.url === url) return null
  try {
    const { ok } = await fetch(`${named.url}/healthz`, { signal: AbortSignal.timeout(answerMs) })
    return ok ? named : null
  } catch {
    return null
  }
}

/** Null when no process has that number: a crash leaves the file behind. */
export function readPidFile(dataDir: string): Instance | null {
  try {
    const instance = JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as Instance
    process.kill(instance.pid, 0)
    return instance
  } catch {
    return null
  }
}

/** Sends SIGTERM and waits until the process is gone. The drain of that process bounds the wait. */
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
