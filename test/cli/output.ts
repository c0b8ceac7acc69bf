import type { Test } from 'tap'
import type { Finished } from '../command.ts'

/** Returns a command's output. Fails the test if the command failed. */
export async function outputOf(t: Test, ran: Promise<Finished>): Promise<string> {
  const { code, stdout, stderr } = await ran
  t.equal(code, 0, stderr)
  return stdout.trimEnd()
}

/** Returns the parsed output with --json. Rejects with the text on standard error if the command failed. */
export async function jsonOf<Printed>(ran: Promise<Finished>): Promise<Printed> {
  const { code, stdout, stderr } = await ran
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Printed
}
