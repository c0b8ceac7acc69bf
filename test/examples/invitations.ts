/** Compares responses about invitations with the contract's examples. */
import type { Test } from 'tap'
import type { Administration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import type { TestServer } from '../server.ts'
import type { Examples } from './run.ts'
import { idOf } from './run.ts'

export async function compareInvitations(
  t: Test,
  examples: Examples,
  parley: TestServer,
  administration: Administration,
) {
  const acme = await administration.organization('with invitations', { scopes: ['admin'] })
  const sql = openDatabase(parley)
  await sql`update api_keys set name = 'shop' where organization_id = ${acme.id}`
  await sql.end()
  examples.compare(t, await examples.send(acme, { operation: 'listInvitations' }), {
    example: 'listInvitations 200: none',
  })
  const made = await examples.send(acme, { operation: 'createInvitation', request: 'viewer' })
  examples.compare(t, made, { example: 'createInvitation 201: viewer' })
  const values = { id: idOf(made) }
  const resent = await examples.send(acme, { operation: 'resendInvitation', values })
  examples.compare(t, resent, { example: 'resendInvitation 200: viewer' })
  examples.compare(t, await examples.send(acme, { operation: 'listInvitations' }), {
    example: 'listInvitations 200: one',
  })
  const deleted = await examples.send(acme, { operation: 'deleteInvitation', values })
  examples.compare(t, deleted, { example: 'deleteInvitation 200: deleted' })
  await administration.store.users.create(acme.id, 'sam@example.com', 'viewer')
  const again = await examples.send(acme, { operation: 'createInvitation', request: 'viewer' })
  examples.compare(t, again, { example: 'createInvitation 409: member' })
  for (let at = 0; at < 100; at += 1)
    await administration.store.invitations.insert(
      acme.id,
      { email: `p${at}@example.com`, role: 'viewer', name: null, inviter: { type: 'operator', id: null } },
      { digest: Buffer.alloc(32, `digest ${at}`), now: new Date(), expiresAt: new Date(Date.now() + 60_000) },
      100,
    )
  await administration.store.users.remove(acme.id, 'sam@example.com')
  const full = await examples.send(acme, { operation: 'createInvitation', request: 'viewer' })
  examples.compare(t, full, { example: 'createInvitation 409: limit' })
}
