import type { Test } from 'tap'
import type { Finished } from '../command.ts'

/** Asserts that a command failed with one message for the user on standard error, and without a stack. */
export function refused(t: Test, { code, stdout, stderr }: Finished, message: RegExp | string): void {
  t.not(code, 0)
  t.match(stderr, message)
  t.notMatch(stderr, /^\s+at |node:internal/m)
  t.equal(stdout, '')
}
