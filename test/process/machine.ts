/** Facts about this machine for tests: free ports, processes and their children. */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { takePorts } from './own-ports.ts'

/** A port that is free, for TCP and UDP, and that no other process of tests takes. */
export const freePort = (): Promise<number> => takePorts(1)

/** The first of two neighbouring ports: the admin ports of two processes. */
export const freePortPair = (): Promise<number> => takePorts(2)

/** Children, theirs included, whose command line has `word` in it. */
export function descendants(pid: number, word = ''): number[] {
  const own = processes().filter(({ parent }) => parent === pid)
  return own.flatMap((child) => [
    ...(commandLine(child.pid).includes(word) ? [child.pid] : []),
    ...descendants(child.pid, word),
  ])
}

/** A process that has ended and was not waited for by its parent counts as gone. */
export function isRunning(pid: number): boolean {
  const state = processes().find((process) => process.pid === pid)?.state
  return state !== undefined && state !== 'Z' && state !== 'X'
}

/** Waits until `holds` returns true. Throws with `what` when that takes too long, also for a machine that is four times slower. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, limitMs = 40_000): Promise<void> {
  const end = performance.now() + limitMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`)
    await sleep(20)
  }
}

type Process = { pid: number; parent: number; state: string }

/** /proc/<pid>/stat: number, name in brackets (which may itself hold brackets), state, parent. */
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
