import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Which process serves a data folder, and where: what `drain` and the other commands look for. */
export type Instance = { pid: number; url: string }

const fileOf = (dataDir: string) => path.join(dataDir, 'parley.pid')

/** Written when the server is ready; the answer removes it, unless another instance has taken its place. */
export function writePidFile(dataDir: string, url: string): () => void {
  writeFileSync(fileOf(dataDir), JSON.stringify({ pid: process.pid, url } satisfies Instance))
  return () => {
    if (readPidFile(dataDir)?.pid === process.pid) rmSync(fileOf(dataDir), { force: true })
  }
}

/** Null when no process of that number lives: a crash leaves the file behind. */
export function readPidFile(dataDir: string): Instance | null {
  try {
    const instance = JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as Instance
    process.kill(instance.pid, 0)
    return instance
  } catch {
    return null
  }
}

/** SIGTERM, then waits for the process to be gone; its own drain has the bounds. */
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
