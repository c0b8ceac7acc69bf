/** Starts the built product as a user would, on a free port and in a new data folder, and ends it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { engineAsked } from '../engine/engines.ts'
import { freshDataDir, testKey } from '../installation.ts'
import { copyCluster } from '../store/prepared-cluster.ts'

export const entry = path.resolve(import.meta.dirname, '../../dist/main.js')

export type Running = {
  url: string
  pid: number
  key: string
  dataDir: string
  child: ChildProcess
  /** Returns the output so far, from stdout and stderr. */
  output(): string
  /** The process's exit code, once the process has ended. */
  ended: Promise<number | null>
  /** Sends SIGTERM and waits. Resolves with the exit code. */
  stop(): Promise<number | null>
  /** Sends SIGKILL and waits, as after a crash. */
  kill(): Promise<void>
  /** Ends the process if it still runs, and removes the data folder. */
  remove(): Promise<void>
}

/** If a test stops its server, the server may finish open requests for this long. */
const openMs = 200

/**
 * Resolves when the server has printed its URL. By default the server logs only warnings, has no edge quota, and
 * neither preloads engines nor waits for a load balancer; `env` adds settings or overrides these defaults. The server
 * gets no other variables of the test's process, except PATH and HOME.
 */
export async function startParley(
  env: Record<string, string> = {},
  dataDir = freshDataDir(),
  command = ['up'],
  program = entry,
): Promise<Running> {
  if (env['DATABASE_URL'] === undefined) await copyCluster(dataDir)
  const child = spawn(program, command, {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? os.tmpdir(),
      PARLEY_PORT: '0',
      PARLEY_DATA_DIR: dataDir,
      PARLEY_BOOTSTRAP_KEY: testKey,
      PARLEY_LOG_LEVEL: 'warn',
      PARLEY_EDGE_QUOTA: '0',
      // Without this, each test's server would preload its engines, which costs a second of processor time and 265 MiB.
      PARLEY_LOCAL_WARM: 'false',
      // Without a load balancer the server need not wait for one before it closes its port.
      PARLEY_DRAIN_LB_DELAY_MS: '0',
      ...(engineAsked !== null && { PARLEY_ENGINE: engineAsked }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const url = await new Promise<string>((resolve, reject) => {
    const tooLate = () => {
      reject(new Error(`not ready in 30 s:\n${output}`))
      // Its own end also ends its Postgres and its engines.
      child.kill('SIGTERM')
    }
    const timer = setTimeout(tooLate, 30_000)
    const look = () => {
      const found = /ready at (http:\/\/\S+)/.exec(output)?.[1]
      if (found) resolve(found)
      if (found) clearTimeout(timer)
    }
    child.stdout.on('data', look)
    void ended.then((code) => {
      clearTimeout(timer)
      reject(new Error(`ended with ${code} before it was ready:\n${output}`))
    })
  })
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    return ended
  }
  return {
    url,
    pid: child.pid as number,
    key: env['PARLEY_BOOTSTRAP_KEY'] ?? testKey,
    dataDir,
    child,
    output: () => output,
    ended,
    stop: () => end('SIGTERM'),
    kill: async () => void (await end('SIGKILL')),
    remove: async () => {
      // The second signal ends open sockets and sessions. Otherwise a socket that a test has left open would delay the
      // end for the whole drain.
      const timer = setTimeout(() => child.kill('SIGTERM'), openMs)
      await end('SIGTERM')
      clearTimeout(timer)
      endOrphan(dataDir)
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/**
 * Ends an embedded Postgres that is still running after its Parley was killed. It waits for the next start, but here no
 * start follows.
 */
function endOrphan(dataDir: string): void {
  try {
    process.kill(Number(readFileSync(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]), 'SIGINT')
  } catch {
    // Postgres has ended with its Parley, as it should.
  }
}
