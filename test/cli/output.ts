import type { Test } from 'tap'
import type { Finished } from '../command.ts'

/** The output of a command, which must succeed. */
export async function outputOf(t: Test, ran: Promise<Finished>): Promise<string> {
  const { code, stdout, stderr } = await ran
  t.equal(code, 0, stderr)
  return stdout.trimEnd()
}

/** The output with --json. Rejects with standard error if the command failed. */
export async function jsonOf<Printed>(ran: Promise<Finished>): Promise<Printed> {
  const { code, stdout, stderr } = await ran
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Printed
}
