/** Builds the test program in Go. */
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { packageFile } from '../../../../runtime/package-file.ts'
import { install } from '../../setup.ts'

const run = promisify(execFile)
const here = import.meta.dirname
const buildMsMax = 600_000
/** The built test program, in a folder ignored by git. */
export const goProgram = packageFile('.cache/clients/go/scenario').pathname

/** Returns null, or the reason why the language is skipped. A program that does not compile is a failure. */
export async function prepareGo(): Promise<string | null> {
  const missing = (await install('go', ['version'])) ?? (await install('go', ['-C', here, 'mod', 'download']))
  if (missing !== null) return missing
  mkdirSync(path.dirname(goProgram), { recursive: true })
  await run('go', ['build', '-o', goProgram, '.'], { cwd: here, timeout: buildMsMax })
  return null
}
