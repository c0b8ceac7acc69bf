/** Runs one command of the built product to its end, as in a user's terminal. */
import { spawn } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'
import type { Finished } from '../command.ts'

const entry = path.resolve(import.meta.dirname, '../../dist/main.js')

export type CommandOptions = { dataDir: string; env?: Record<string, string>; cwd?: string; timeoutMs?: number }

export function runParley(args: readonly string[], options: CommandOptions): Promise<Finished> {
  return runFile(entry, args, options)
}

/** Runs a printed command line that a user would paste. */
export function runLine(line: string, options: CommandOptions): Promise<Finished> {
  return runFile('sh', ['-c', line], options)
}

/** Runs another program in a folder. */
export function runFile(
  file: string,
  args: readonly string[],
  { dataDir, env = {}, cwd, timeoutMs = 60_000 }: CommandOptions,
): Promise<Finished> {
  const child = spawn(file, args, {
    ...(cwd && { cwd }),
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? os.tmpdir(),
      PARLEY_DATA_DIR: dataDir,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}
