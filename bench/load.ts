/** Compiles bench/load.c once and runs it. Returns its figures, and the measured process's CPU and memory. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { cpuMs, residentMiB } from './process-figures.ts'

const source = path.join(import.meta.dirname, 'load.c')
const program = path.join(import.meta.dirname, '../.cache/bench-load')
const payloadBytes = 640

/** A server under load. The echoes for `ws` and uWebSockets.js need only a port. */
export type SocketServer = {
  name: string
  pid: number
  port: number
  path: string
  session?: readonly [string, string, string]
}
export type Pace = { streams: number; periodUs: number; warmUpMs: number; measureMs: number }
export type LoadFigures = {
  frames: number
  /** Frames without an answer one second after the last frame. */
  lost: number
  p50Us: number
  p99Us: number
  /** The sending delay at p99. If it is large, the load generator lacks CPU. */
  lagP99Us: number
  cpuUsAFrame: number
  /** The used share of one processor. */
  busy: number
  /** The resident memory with every stream open, after the last frame. */
  residentMiB: number
}
/** The figures that the load generator prints. */
type Counted = Pick<LoadFigures, 'frames' | 'lost' | 'p50Us' | 'p99Us' | 'lagP99Us'>

/** Compiles the program if it is not current. Returns its path, or null without a C compiler. */
export function buildLoad(): string | null {
  if (spawnSync('cc', ['--version']).status !== 0) return null
  if (modifiedMs(program) > modifiedMs(source)) return program
  mkdirSync(path.dirname(program), { recursive: true })
  const fresh = `${program}.${process.pid}`
  execFileSync('cc', ['-O2', '-D_GNU_SOURCE', source, '-o', fresh], { stdio: 'inherit' })
  renameSync(fresh, program)
  return program
}

/**
 * True if the server gets one processor and the load generator another processor, so the figures are for one core.
 * False if the machine lacks a second core or taskset.
 */
export const pinned = os.availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

export function pinServer(pid: number): void {
  if (pinned) execFileSync('taskset', ['-a', '-c', '-p', '0', String(pid)], { stdio: 'ignore' })
}

/** Returns the maximum number of open files for a process. Each stream needs an open file. */
export function filesMax(): number {
  const limit = /Max open files\s+\S+\s+(\S+)/.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit)
}

/**
 * Opens the streams, warms up, measures, and closes them. If the server refuses, throws an error with the load's
 * output.
 */
export async function runLoad(load: string, server: SocketServer, pace: Pace): Promise<LoadFigures> {
  const { streams, periodUs, warmUpMs, measureMs } = pace
  const numbers = [streams, periodUs, warmUpMs, measureMs, payloadBytes].map(String)
  const args = [String(server.port), server.path, ...numbers, ...(server.session ?? [])]
  const child = pinned ? spawn('taskset', ['-c', '1', load, ...args]) : spawn(load, args)
  const ended = endOf(child, server.name)
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const next = async () => {
    const line = await Promise.race([lines.next(), ended])
    if (!line || line.done) return (await ended) ?? Promise.reject(new Error(`${server.name}: the load stopped early`))
    return line.value
  }
  await next()
  await next()
  const [cpuBefore, startedMs] = [cpuMs(server.pid), performance.now()]
  await next()
  const [spentMs, tookMs] = [cpuMs(server.pid) - cpuBefore, performance.now() - startedMs]
  const loadedMiB = residentMiB(server.pid)
  const figures = JSON.parse(String(await next())) as Counted
  child.stdin.end()
  await ended
  const cpuUsAFrame = (spentMs * 1000) / figures.frames
  return { ...figures, cpuUsAFrame, busy: spentMs / tookMs, residentMiB: loadedMiB }
}

/** Resolves when the load ends with status 0. */
function endOf(child: ChildProcessWithoutNullStreams, name: string): Promise<undefined> {
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<undefined>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve(undefined) : reject(new Error(`${name}: ${output.trim()}`))))
  })
  ended.catch(() => {})
  return ended
}

function modifiedMs(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
