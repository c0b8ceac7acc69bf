/** Runs SIPp, a third-party SIP program. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Test } from 'tap'
import { sipp } from './programs.ts'

export const callsCount = 200
/** A busy machine may be slow. SIPp itself gives up a call after 32 s without an answer. */
const patienceS = 120

type Ran = { code: number | null; output: string }

/** Runs SIPp until it has made or received all calls. SIPp exits with 0 if all calls succeeded. */
export function runSipp(t: Test, args: readonly string[]): { ended: Promise<Ran> } {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-sipp-'))
  const fixed = ['-i', '127.0.0.1', '-m', String(callsCount), '-nostdin', '-timeout', `${patienceS}s`, '-timeout_error']
  // SIPp draws its screen with curses. Curses needs the variable even without a terminal.
  const env = { ...process.env, TERM: 'dumb' }
  const child = spawn(sipp, [...args, ...fixed], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()))
  t.teardown(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  return { ended: new Promise((resolve) => child.once('exit', (code) => resolve({ code, output }))) }
}
