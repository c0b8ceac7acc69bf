/** Runs a program that checks code, such as a compiler, and returns its messages. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const limitMs = 600_000

/** Returns all that a command prints, also if it fails. */
export async function printedBy(
  command: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  try {
    const { stdout, stderr } = await run(command, args, { cwd, env: { ...process.env, ...env }, timeout: limitMs })
    return stdout + stderr
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string }
    return stdout + stderr || message
  }
}
