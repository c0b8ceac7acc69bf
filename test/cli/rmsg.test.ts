/** The operator's commands for rich-message numbers. */
import t from 'tap'
import { runCommand } from '../command.ts'
import { call } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { startAdministered } from './administered.ts'
import { jsonOf } from './output.ts'
import { refused } from './refused.ts'

const { parley, admin } = await startAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())

type Row = { id: string; organizationId: string | null; agentId: string | null; status: string }
type Listed = { id: string; phoneNumber: string; status: string }
const scopes = ['platform', 'rmsg'] as const
const command = (...args: string[]) => runCommand(parley, ['rmsg', ...args])

const done = (...args: string[]) => jsonOf<Row>(command(...args, '--json'))

t.test('the `rmsg` commands add, assign, pause, resume, unassign and remove a number for rich messages', async (t) => {
  const acme = await admin.organization('acme', { scopes })
  await admin.store.organizations.change(acme.id, { rmsgEnabled: true, rmsgLegacyInventory: true })
  const list = async () => (await call(acme, 'GET', '/v1/rmsg-phone-numbers')).json<Listed[]>()
  const before = (await list()).length

  const added = await done('add', '+14155550170', '--identity', 'agent-170')
  t.match(added, { organizationId: null, agentId: null, status: 'active', smsStatus: 'not_configured' })
  t.equal((await list()).length, before + 1, 'an organization of before pools sees all')

  t.match(await done('assign', '+14155550170', '--org', 'acme'), { organizationId: acme.id })
  t.match(
    await done('assign', added.id, '--org', acme.id),
    { organizationId: acme.id },
    'a second time changes nothing',
  )
  t.match(await list(), [{ id: added.id, phoneNumber: '+14155550170' }], 'afterwards only the numbers of its pool')
  t.match(await admin.store.organizations.find(acme.id), { rmsgLegacyInventory: false })

  const setting = { rmsg: { enabled: true, mode: 'dedicated' } }
  const agent = { name: 'A', systemPrompt: 'x', intent: { language: 'en' }, ...setting }
  const made = (await call(acme, 'POST', '/v1/agents', agent)).json<{ id: string }>()
  t.match(await done('pause', '+14155550170'), { status: 'paused', agentId: made.id })
  t.match(await list(), [{ status: 'paused' }])
  t.match(await done('resume', '+14155550170'), { status: 'active' })
  refused(t, await command('remove', '+14155550170'), 'unassign it first')
  t.match(await done('unassign', '+14155550170'), { organizationId: null, agentId: null })
  t.equal((await call(acme, 'GET', '/v1/rmsg-phone-numbers')).status, 403, 'what it saw before pools is gone for good')
  const org = (...args: string[]) => runCommand(parley, ['org', 'set', ...args])
  refused(t, await org('acme', 'rmsg_legacy_inventory=on'), 'ends rmsg_legacy_inventory for good')
  t.equal((await call(acme, 'GET', '/v1/rmsg-phone-numbers')).status, 403, 'the answer stays 403')
  t.equal((await org('acme', 'rmsg_legacy_inventory=off')).code, 0, 'to turn it off is no mistake')
  await done('remove', added.id)
  refused(t, await command('pause', added.id), 'there is no rich-message number')
})

t.test('the `rmsg` commands refuse wrong numbers, identities and organizations', async (t) => {
  refused(t, await command('add', '0170 1234567', '--identity', 'x'), 'is no phone number in E.164')
  refused(t, await command('add', '+14155550171', '--identity', ' '), '--identity takes')
  await done('add', '+14155550171', '--identity', 'agent-171')
  for (const [number, identity] of [
    ['+14155550171', 'other'],
    ['+14155550172', 'agent-171'],
  ] as const)
    refused(t, await command('add', number, '--identity', identity), 'in the inventory already')
  refused(t, await command('assign', '+14155550171', '--org', 'nobody'), 'there is no organization nobody')
  refused(t, await command('assign', '+14155550171', '--org', 'org_nobody'), 'there is no organization org_nobody')
  await admin.organization('first', { scopes })
  await admin.organization('second', { scopes })
  await done('assign', '+14155550171', '--org', 'first')
  refused(t, await command('assign', '+14155550171', '--org', 'second'), 'in the pool of another organization')
  refused(t, await command('assign', '+14155550171', '--org', 'second', '--test'), 'there is no rich-message number')
  await sql`update rmsg_numbers set status = 'unavailable' where e164 = '+14155550171'`
  for (const change of ['pause', 'resume'])
    refused(t, await command(change, '+14155550171'), 'the provider has lost +14155550171')
  t.match((await command('list')).stdout, /\+14155550171 {2}agent-171 {2}org_\w+ {2}unavailable {2}sms not_configured/)
})

t.test('assigning a test number does not change the number pool for live API keys', async (t) => {
  const both = await admin.organization('both worlds', { scopes })
  await admin.store.organizations.change(both.id, { rmsgEnabled: true, rmsgLegacyInventory: true })
  await done('add', '+14155550173', '--identity', 'agent-173', '--test')
  await done('assign', '+14155550173', '--org', 'both worlds', '--test')
  t.match(await admin.store.organizations.find(both.id), { rmsgLegacyInventory: true })
  const set = await runCommand(parley, ['org', 'set', both.id, 'rmsg_legacy_inventory=on'])
  t.equal(set.code, 0, 'the legacy inventory has not ended')
})
