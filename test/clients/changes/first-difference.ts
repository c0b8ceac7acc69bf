/** Runs one of the test programs in test/clients/scenario until a line of its output is not the expected line. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { isDeepStrictEqual } from 'node:util'
import { packageFile } from '../../../runtime/package-file.ts'

/** The limit for one program's run. */
const runMsMax = 240_000
const messageCharactersMax = 400
type Line = { step: string }
const expected = JSON.parse(readFileSync(packageFile('test/clients/scenario/expected.json'), 'utf8')) as readonly Line[]

/** Returns null if the program prints all expected values. Otherwise ends the program, and returns the difference. */
export async function firstDifference(
  env: NodeJS.ProcessEnv,
  [command, ...args]: readonly [string, ...string[]],
): Promise<string | null> {
  const program = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: runMsMax })
  const ended = once(program, 'close')
  let message = ''
  program.stderr.setEncoding('utf8').on('data', (text: string) => {
    message = (message + text).slice(-messageCharactersMax)
  })
  let place = 0
  for await (const text of createInterface(program.stdout)) {
    const line = expected[place++]
    if (isDeepStrictEqual(valueOf(text), line)) continue
    program.kill('SIGKILL')
    return `${line?.step}: ${text}`
  }
  await ended
  return place === expected.length && program.exitCode === 0 ? null : `after ${place} steps: ${message}`
}

/** A line that is not JSON, such as a compiler's warning, is a difference too. The program must not be left running. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
