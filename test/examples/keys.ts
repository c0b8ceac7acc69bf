/** Compares responses about API keys with the contract's examples. */
import type { Test } from 'tap'
import type { Administration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import type { TestServer } from '../server.ts'
import { type Examples, idOf, type Sent } from './run.ts'

export async function compareKeys(t: Test, examples: Examples, parley: TestServer, administration: Administration) {
  const acme = await administration.organization('with keys', { scopes: ['router', 'admin'] })
  const made = await examples.send(acme, { operation: 'createKey', request: 'budget' })
  examples.compare(t, made, { example: 'createKey 201: budget' })
  const id = idOf(made)
  const send = (sent: Sent) => examples.send(acme, { ...sent, values: { id } })
  const listed = await send({ operation: 'listKeys', parameters: ['revoked'] })
  examples.compare(t, listed, { example: 'listKeys 200: one', parts: [''] })
  const rotated = await send({ operation: 'rotateKey', request: 'hour' })
  examples.compare(t, rotated, { example: 'rotateKey 200: hour' })
  const sql = openDatabase(parley)
  await sql`update api_keys set rotated_at = null, previous_lookup = null, previous_digest = null, previous_until = null`
  const named = await send({ operation: 'updateKey', request: 'name' })
  examples.compare(t, named, { example: 'updateKey 200: name' })
  examples.compare(t, await send({ operation: 'revokeKey' }), { example: 'revokeKey 200: revoked' })
  examples.compare(t, await send({ operation: 'revokeKey' }), { example: 'KeyConflict: keyRevoked' })
  await sql`
    insert into api_keys (organization_id, id, name, public_id, lookup, digest, scopes, policy, test, created_at)
    select ${acme.id}, 'key_example_' || n, 'many', 'sk_live_', 'example ' || n, sha256(n::text::bytea), '[]', '{}',
      false, now() from generate_series(1, 999) n`
  await sql.end()
  const over = await send({ operation: 'createKey', request: 'budget' })
  examples.compare(t, over, { example: 'KeyConflict: keys' })
}
