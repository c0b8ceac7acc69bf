/** Tests which rich-message numbers an organization can list, and which it can use. */
import t from 'tap'
import { createRmsgNumbers } from '../../domain/rmsg/numbers.ts'
import type { OrganizationChanges } from '../../store/access/organizations.ts'
import { faultOf as dataOf } from '../numbers/setup.ts'
import { call, faultOf, startOwnAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import type { Target } from '../router/requests.ts'
import { insertRmsgNumber } from './stored-number.ts'

const { parley, admin } = await startOwnAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())

const path = '/v1/rmsg-phone-numbers'
const scopes = ['platform', 'rmsg'] as const
type Listed = { id: string; phoneNumber: string; agentId?: string | null; status: string; capabilities: object }
const list = async (target: Target) => (await call(target, 'GET', path)).json<Listed[]>()
const numbers = createRmsgNumbers(admin.store.rmsgNumbers)
const closed = { status: 403, code: 'NOT_ENABLED_FOR_ORGANIZATION' }
const nobody = '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a80'

async function organization(name: string, changes: OrganizationChanges) {
  const made = await admin.organization(name, { scopes })
  await admin.store.organizations.change(made.id, changes)
  return made
}

t.test('listRmsgNumbers: a new local installation has two simulated numbers in its pool', async (t) => {
  const [first, second, ...others] = await list(parley)
  t.match(first, {
    phoneNumber: '+15005550200',
    status: 'active',
    smsStatus: 'ready',
    smsReadyAt: /Z$/,
    capabilities: { calls: true, messages: true, rmsgFirst: true, smsFallback: true },
    agentId: null,
  })
  t.match(second, { phoneNumber: '+15005550201', smsStatus: 'not_configured', smsReadyAt: null })
  t.match(second, { capabilities: { calls: true, messages: true, rmsgFirst: true, smsFallback: false } })
  t.same(others, [], 'the third is in no pool')
  const [row] = await sql`select organization_id from rmsg_numbers where e164 = '+15005550202'`
  t.same(row, { organization_id: null })
})

t.test('the numbers that an organization can list and use depend on its settings', async (t) => {
  await sql`delete from rmsg_numbers`
  const pooled = await organization('pooled', { rmsgEnabled: true, rmsgLegacyInventory: true })
  const legacy = await organization('legacy', { rmsgEnabled: true, rmsgLegacyInventory: true })
  const empty = await organization('without a number', { rmsgEnabled: true })
  const off = await organization('off', { rmsgEnabled: false, rmsgLegacyInventory: true })
  const owner = await organization('admin', { rmsgEnabled: false, adminOrganization: true })
  const agent = (
    await call(pooled, 'POST', '/v1/agents', { name: 'A', systemPrompt: 'x', intent: { language: 'en' } })
  ).json<{ id: string }>().id
  const of = { organizationId: pooled.id }
  const ids = {
    own: await insertRmsgNumber(sql, { e164: '+15005550210', ...of, agentId: agent }),
    paused: await insertRmsgNumber(sql, { e164: '+15005550211', ...of, status: 'paused' }),
    lost: await insertRmsgNumber(sql, { e164: '+15005550212', ...of, status: 'unavailable' }),
    free: await insertRmsgNumber(sql, { e164: '+15005550213' }),
    freePaused: await insertRmsgNumber(sql, { e164: '+15005550214', status: 'paused' }),
    unused: await insertRmsgNumber(sql, { e164: '+15005550215', organizationId: off.id }),
  }
  const all = Object.values(ids)
  const { own, free, unused } = ids
  const rows: [string, Target & { id: string }, string[] | null, string[], boolean][] = [
    ['not admin, rmsg_enabled off', off, null, [], false],
    ['not admin, no pooled number and not legacy', empty, null, [], false],
    ['rmsg_enabled, a pooled number', pooled, [ids.own, ids.paused, ids.lost], [own], true],
    ['rmsg_enabled, legacy, never had one', legacy, all, [free], false],
    ['admin_organization', owner, all, [own, free, unused], true],
  ]
  for (const [title, { id, ...target }, listed, usable, showsAgent] of rows) {
    const answer = await call(target, 'GET', path)
    if (listed === null) {
      t.same(faultOf(answer), closed, title)
    } else {
      const shown = answer.json<Listed[]>()
      t.same(
        shown.map((number) => number.id),
        listed,
        title,
      )
      t.same(new Set(shown.map((number) => 'agentId' in number)), new Set([showsAgent]), title)
      if (showsAgent) t.equal(shown[0]?.agentId, agent, title)
    }
    for (const number of all) {
      // The agent does not exist, so no call is placed. The number is checked before the agent.
      const asked = await call(target, 'POST', `${path}/${number}/calls`, { to: '+15005550003', agentId: nobody })
      const refused = listed === null ? closed : { status: 404, code: 'PHONE_NUMBER_NOT_FOUND' }
      t.same(faultOf(asked), usable.includes(number) ? { status: 404, code: 'NOT_FOUND' } : refused, title)
    }
    const tenant = { organizationId: id, test: false }
    for (const number of [...all, nobody, 'x']) {
      const expected = listed === null ? { kind: 'rmsg_not_enabled' } : { kind: 'rmsg_number_not_found' }
      t.same(await dataOf(numbers.use(tenant, number)), usable.includes(number) ? null : expected, title)
    }
  }
})

t.test('listRmsgNumbers: an inactive number has no capabilities', async (t) => {
  const { id, ...acme } = await organization('not active', { rmsgEnabled: true })
  await insertRmsgNumber(sql, { e164: '+15005550220', organizationId: id, status: 'paused' })
  await insertRmsgNumber(sql, { e164: '+15005550221', organizationId: id, status: 'unavailable' })
  const nothing = { calls: false, messages: false, rmsgFirst: false, smsFallback: false }
  t.same(
    (await list(acme)).map(({ status, capabilities }) => ({ status, capabilities })),
    [
      { status: 'paused', capabilities: nothing },
      { status: 'unavailable', capabilities: nothing },
    ],
  )
})

t.test('listRmsgNumbers: a receive-only organization has numbers that send nothing', async (t) => {
  const { id, ...acme } = await organization('receives', { rmsgEnabled: true, rmsgBackend: 'receive_only' })
  await insertRmsgNumber(sql, { e164: '+15005550230', organizationId: id })
  t.match(await list(acme), [{ capabilities: { calls: true, messages: false, rmsgFirst: false, smsFallback: true } }])
})

t.test('listRmsgNumbers: live and test keys have separate numbers', async (t) => {
  const { id, ...live } = await organization('worlds', { rmsgEnabled: true })
  const test = await admin.key(id, { scopes, test: true })
  await insertRmsgNumber(sql, { e164: '+15005550240', organizationId: id })
  t.same(faultOf(await call(test, 'GET', path)), { status: 403, code: 'NOT_ENABLED_FOR_ORGANIZATION' })
  const simulated = await insertRmsgNumber(sql, { e164: '+15005550240', organizationId: id, test: true })
  t.match(await list(test), [{ id: simulated, test: true }])
  t.equal((await list(live)).length, 1)
  t.notOk('test' in ((await list(live))[0] ?? {}))
})

t.test('listRmsgNumbers: the scope rmsg is required', async (t) => {
  const { id } = await organization('scopes', { rmsgEnabled: true, rmsgLegacyInventory: true })
  t.same(faultOf(await call(await admin.key(id), 'GET', path)), { status: 403, code: 'FORBIDDEN' })
  t.same(faultOf(await call({ ...parley, key: '' }, 'GET', path)), { status: 401, code: 'UNAUTHORIZED' })
})

t.test('listRmsgNumbers: the number of a deleted agent is free again', async (t) => {
  const { id, ...acme } = await organization('agents go', { rmsgEnabled: true })
  const wanted = { name: 'A', systemPrompt: 'x', intent: { language: 'en' } }
  const agent = (await call(acme, 'POST', '/v1/agents', wanted)).json<{ id: string }>().id
  await insertRmsgNumber(sql, { e164: '+15005550250', organizationId: id, agentId: agent })
  t.match(await list(acme), [{ agentId: agent }])
  t.equal((await call(acme, 'DELETE', `/v1/agents/${agent}`)).status, 200)
  t.match(await list(acme), [{ agentId: null }])
})
