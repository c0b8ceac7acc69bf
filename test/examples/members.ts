/** Compares responses about members with the contract's examples. */
import type { Test } from 'tap'
import type { Administration } from '../platform/setup.ts'
import { type Examples, idOf, type Sent } from './run.ts'

export async function compareMembers(t: Test, examples: Examples, administration: Administration) {
  const { store } = administration
  const acme = await administration.organization('with members', { scopes: ['platform', 'admin'] })
  const ann = await store.users.create(acme.id, 'ann@example.com', 'viewer')
  if (ann === null || ann === 'last_owner') throw new Error('no user')
  const send = (sent: Sent) => examples.send(acme, { ...sent, values: { userId: ann.id } })
  examples.compare(t, await send({ operation: 'listMembers' }), { example: 'listMembers 200: one' })
  const changed = await send({ operation: 'updateMember', request: 'member' })
  examples.compare(t, changed, { example: 'updateMember 200: member' })
  await store.users.issue(acme.id, 'ann@example.com', 'user_token')
  examples.compare(t, await send({ operation: 'signOutMember' }), { example: 'signOutMember 200: one' })
  examples.compare(t, await send({ operation: 'removeMember' }), { example: 'removeMember 200: removed' })
  await store.users.create(acme.id, 'ann@example.com', 'owner')
  const issued = await store.users.issue(acme.id, 'ann@example.com', 'user_token')
  const owner = { url: acme.url, key: issued?.secret ?? '' }
  const kept = await examples.send(owner, { operation: 'removeMember', values: { userId: ann.id } })
  examples.compare(t, kept, { example: 'MemberConflict: lastOwner' })
}

export async function compareAuditLog(t: Test, examples: Examples, administration: Administration) {
  const acme = await administration.organization('with a log', { scopes: ['platform', 'admin'] })
  const sent = { operation: 'createAgent', request: 'least', fields: { name: 'Front desk' } }
  const targetId = idOf(await examples.send(acme, sent))
  const parameters = ['actorId', 'actorType', 'action', 'targetType', 'targetId', 'result', 'from', 'to', 'limit']
  const listed = await examples.send(acme, {
    ...{ operation: 'listAuditEvents', parameters },
    values: { actorId: acme.keyId, targetId },
  })
  examples.compare(t, listed, { example: 'listAuditEvents 200: one' })
}
