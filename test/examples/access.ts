/** Compares responses about keys, people and the audit log with the contract's examples. */
import type { Test } from 'tap'
import type { Administration } from '../platform/setup.ts'
import type { TestServer } from '../server.ts'
import { compareInvitations } from './invitations.ts'
import { compareKeys } from './keys.ts'
import { compareAuditLog, compareMembers } from './members.ts'
import type { Examples } from './run.ts'

export async function compareAccess(t: Test, examples: Examples, parley: TestServer, administration: Administration) {
  await compareKeys(t, examples, parley, administration)
  await compareMembers(t, examples, administration)
  await compareAuditLog(t, examples, administration)
  await compareInvitations(t, examples, parley, administration)
}
