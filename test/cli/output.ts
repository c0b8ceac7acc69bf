import type { Test } from 'tap'
import type { Finished } from '../process/command.ts'

/** The output of a command, which must succeed. */
export async function outputOf(t: Test, ran: Promise<Finished>): Promise<string> {
  const { code, stdout, stderr } = await ran
  t.equal(code, 0, stderr)
  return stdout.trimEnd()
}
