/** Measures a server's memory after a garbage collection, because V8 decides how much garbage it keeps. */
import { readFileSync } from 'node:fs'
import { until } from './machine.ts'
import type { Running } from './parley.ts'

/** The environment for a server that collects garbage on SIGUSR2. */
export const collectsOnSignal = {
  NODE_OPTIONS: `--import ${new URL('collect-on-signal.mjs', import.meta.url).href}`,
}

/** Collects the garbage of a server with `collectsOnSignal`, and measures its resident memory. */
export async function heldMiB(parley: Running): Promise<number> {
  const collections = () => parley.output().split('garbage is collected').length
  const before = collections()
  process.kill(parley.pid, 'SIGUSR2')
  await until('garbage is collected', () => collections() > before)
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${parley.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
}
