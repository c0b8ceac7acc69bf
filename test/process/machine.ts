/** Finds free ports, processes and their children on this machine, for tests. */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { takePorts } from './own-ports.ts'

/** Returns a free port for TCP and UDP. No other test process takes it. */
export const freePort = (): Promise<number> => takePorts(1)

/** Returns the first port in a free neighbouring pair, for the admin ports of two processes. */
export const freePortPair = (): Promise<number> => takePorts(2)

/** Returns the ids of the process's children and their children, if their command line contains `word`. */
export function descendants(pid: number, word = ''): number[] {
  const own = processes().filter(({ parent }) => parent === pid)
  return own.flatMap((child) => [
    ...(commandLine(child.pid).includes(word) ? [child.pid] : []),
    ...descendants(child.pid, word),
  ])
}

/** Returns true if the process runs. If it has ended but its parent has not waited for it, it counts as gone. */
export function isRunning(pid: number): boolean {
  const state = processes().find((process) => process.pid === pid)?.state
  return state !== undefined && state !== 'Z' && state !== 'X'
}

/**
 * Waits until `holds` returns true. Throws with `what` after the limit, which leaves time for a machine that is four
 * times slower.
 */
export async function until(what: string, holds: () => boolean | Promise<boolean>, limitMs = 40_000): Promise<void> {
  const end = performance.now() + limitMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`)
    await sleep(20)
  }
}

type Process = { pid: number; parent: number; state: string }

/** Reads /proc/<pid>/stat: process id, name in brackets (the name may contain brackets), state, parent. */
function processes(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const [, state = '', parent] = /^.*\) (\w) (\d+)/s.exec(readProc(`${name}/stat`)) ?? []
      return parent === undefined ? [] : [{ pid: Number(name), parent: Number(parent), state }]
    })
}

function commandLine(pid: number): string {
  return readProc(`${pid}/cmdline`).replaceAll('\0', ' ')
}

function readProc(name: string): string {
  try {
    return readFileSync(`/proc/${name}`, 'utf8')
  } catch {
    return ''
  }
}
