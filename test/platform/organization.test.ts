/** A key's organization over the public API, and the operator's commands to set it. */
import t from 'tap'
import { runCommand } from '../command.ts'
import { until } from '../process/machine.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)

const path = '/v1/organization'
const all = ['platform', 'admin'] as const
const org = (...args: string[]) => runCommand(parley, ['org', ...args])

t.test("getOrganization shows the organization's settings and credit, for live and test keys alike", async (t) => {
  const acme = await admin.organization('acme', { creditMicroUsd: 12_345_678 })
  const shown = await call(acme, 'GET', path)
  t.equal(shown.status, 200)
  const { createdAt, ...rest } = shown.json<{ createdAt: string }>()
  t.match(createdAt, /^\d{4}-.*\.\d{3}Z$/)
  t.same(rest, {
    id: acme.id,
    name: 'acme',
    smsEnabled: false,
    rmsgEnabled: false,
    rmsgLegacyInventory: false,
    rmsgBackend: 'default',
    adminOrganization: false,
    recording: false,
    timeZone: 'UTC',
    toolResults: 'keep',
    messageText: 'drop',
    maxConcurrency: null,
    maxSessions: null,
    creditMicroUsd: '12345678',
  })
  t.same(
    (await call(await admin.key(acme.id, { test: true }), 'GET', path)).json(),
    shown.json(),
    'both worlds share it',
  )
})

t.test('updateOrganization changes its own settings, and refuses all other fields', async (t) => {
  const { id } = await admin.organization('changing')
  const acme = await admin.key(id, { scopes: all })
  const before = (await call(acme, 'GET', path)).json<object>()
  t.same((await call(acme, 'PATCH', path, {})).json(), before)
  t.same((await call(acme, 'PATCH', path, { recording: true })).json(), { ...before, recording: true })
  const name = '😀'.repeat(200)
  t.same((await call(acme, 'PATCH', path, { name })).json(), { ...before, recording: true, name })
  const choices = { timeZone: 'America/New_York', toolResults: 'drop', messageText: 'keep' }
  const after = { ...before, recording: true, name, ...choices }
  t.same((await call(acme, 'PATCH', path, choices)).json(), after)
  t.same((await call(acme, 'GET', path)).json(), after)
  const logged = (await call(acme, 'GET', '/v1/audit-events?action=organization.updated&limit=1')).json<object>()
  t.match(logged, { events: [{ changed: Object.keys(choices) }] })
  for (const body of [
    { name: `${name}x` },
    { name: ' ' },
    { name: 'a\0' },
    { name: null },
    { recording: null },
    { recording: 'on' },
    { timeZone: 'Mars/Olympus' },
    { timeZone: '+01:00' },
    { timeZone: 'IST' },
    { timeZone: '' },
    { timeZone: null },
    { toolResults: 'some' },
    { messageText: true },
    { smsEnabled: true },
    { creditMicroUsd: '1' },
    { maxSessions: 1 },
    { maxConcurrency: null },
    { adminOrganization: true },
  ])
    t.same(faultOf(await call(acme, 'PATCH', path, body)), {
      status: 400,
      code: 'VALIDATION_ERROR',
      paths: [`/${Object.keys(body).join()}`],
    })
  const unknown = (await call(acme, 'PATCH', path, { name: 'half', timeZone: 'Mars/Olympus' })).json<object>()
  t.match(unknown, { error: /timeZone is no name of the IANA time zone database, such as Europe\/Berlin/ })
  t.same((await call(acme, 'GET', path)).json(), after, 'a refused change changes nothing')
  for (const [typed, timeZone] of [
    ['europe/berlin', 'Europe/Berlin'],
    ['ASIA/KOLKATA', 'Asia/Kolkata'],
    ['utc', 'UTC'],
  ])
    t.match((await call(acme, 'PATCH', path, { timeZone: typed })).json(), { timeZone }, 'IANA spells it so')
  t.match((await call(acme, 'GET', path)).json(), { timeZone: 'UTC' })
})

t.test('updateOrganization needs the scope admin and a live key, both checked before the body', async (t) => {
  const { id } = await admin.organization('scopes')
  const forbidden = { status: 403, code: 'FORBIDDEN' }
  t.match(faultOf(await call(await admin.key(id), 'PATCH', path, { name: 5 })), forbidden)
  const test = await admin.key(id, { scopes: all, test: true })
  const refused = await call(test, 'PATCH', path, { name: 5 })
  t.match(faultOf(refused), forbidden)
  t.match(refused.json(), { error: /test key/ })
  t.match(faultOf(await call(await admin.key(id, { scopes: ['admin'] }), 'GET', path)), forbidden)
})

t.test('`parley org set`, `org show` and `org credit` change and show the settings and the credit', async (t) => {
  const { id, ...acme } = await admin.organization('set', { creditMicroUsd: 0 })
  const settings = [
    'name=Renamed',
    'recording=on',
    'max_sessions=3',
    'max_concurrency=4',
    'sms_enabled=on',
    'rmsg_enabled=on',
    'time_zone=Asia/Tokyo',
    'tool_results=drop',
    'message_text=keep',
  ]
  const set = await org('set', id, ...settings, 'rmsg_legacy_inventory=on', 'rmsg_backend=receive_only', '--json')
  t.equal(set.code, 0, set.stderr)
  const expected = {
    id,
    name: 'Renamed',
    creditMicroUsd: '0',
    maxConcurrency: 4,
    maxSessions: 3,
    smsEnabled: true,
    rmsgEnabled: true,
    rmsgLegacyInventory: true,
    rmsgBackend: 'receive_only',
    adminOrganization: false,
    recording: true,
    timeZone: 'Asia/Tokyo',
    toolResults: 'drop',
    messageText: 'keep',
  }
  t.match(JSON.parse(set.stdout), expected)
  t.match(JSON.parse((await org('show', id, '--json')).stdout), expected)
  const line = /sessions 3 .*Asia\/Tokyo {2}tool results drop {2}message text keep {2}features sms,rmsg,recording/
  t.match((await org('show', id)).stdout, line)
  t.match((await org('set', id, 'time_zone=asia/tokyo')).stdout, 'time zone Asia/Tokyo')
  t.match(await org('credit', id, '2.5'), { code: 0, stdout: /credit \$2\.50/ })
  t.match((await call(acme, 'GET', path)).json(), {
    name: 'Renamed',
    recording: true,
    maxSessions: 3,
    maxConcurrency: 4,
    rmsgBackend: 'receive_only',
    rmsgLegacyInventory: true,
    creditMicroUsd: '2500000',
  })
  t.match(await org('set', id, 'max_sessions=unlimited', 'credit=1'), { code: 0 })
  t.match((await call(acme, 'GET', path)).json(), { maxSessions: null, creditMicroUsd: '1000000' })
  for (const wrong of [
    'max_sessions=0',
    'max_sessions=many',
    'recording=yes',
    'rmsg_backend=x',
    'name= ',
    'size=3',
    'recording',
    'credit=x',
    'time_zone=Mars/Olympus',
    'tool_results=some',
    'message_text=',
  ])
    t.match(await org('set', id, wrong), { code: 2, stdout: '', stderr: /^parley: / }, wrong)
  t.not((await org('set', id)).code, 0, 'there is something to set')
  t.match(await org('set', 'org_nobody', 'recording=on'), { code: 1, stderr: /no organization org_nobody/ })
})

t.test('at most one organization can be the admin organization', async (t) => {
  const [a, b] = [await admin.organization('a'), await admin.organization('b')]
  t.equal((await org('set', a.id, 'admin_organization=on')).code, 0)
  t.match(await org('set', b.id, 'admin_organization=on'), {
    code: 1,
    stderr: /another organization has admin_organization/,
  })
  t.match((await call(b, 'GET', path)).json(), { adminOrganization: false })
  t.equal((await org('set', a.id, 'admin_organization=off')).code, 0)
  t.equal((await org('set', b.id, 'admin_organization=on')).code, 0)
})

t.test("after `parley org disable` the organization's keys and tokens are refused, until `org enable`", async (t) => {
  const { id, ...acme } = await admin.organization('closed')
  const user = (...args: string[]) => runCommand(parley, ['users', ...args])
  t.equal((await user('create', 'ann@example.com', '--org', id)).code, 0)
  const token = { ...acme, key: (await user('token', 'ann@example.com', '--org', id)).stdout.trim() }
  const statuses = async () =>
    Promise.all([acme, token].map(async (target) => faultOf(await call(target, 'GET', path)).status))
  t.same(await statuses(), [200, 200], 'both are remembered')

  const disabled = await org('disable', 'closed', '--json')
  t.match(JSON.parse(disabled.stdout), { id, disabled: true })
  t.match((await org('show', id)).stdout, /disabled/)
  await until('the process knows of it', async () => (await statuses()).join() === '403,403')
  const refused = { status: 403, code: 'ORGANIZATION_DISABLED' }
  for (const target of [acme, token]) t.match(faultOf(await call(target, 'GET', path)), refused)
  const models = await call(acme, 'GET', '/router/v1/models')
  t.match([models.status, models.json()], [403, { error: { code: 'organization_disabled', retryable: false } }])
  const other = await admin.organization('open')
  t.equal((await call(other, 'GET', path)).status, 200, 'others work on')

  t.match(JSON.parse((await org('enable', id, '--json')).stdout), { id, disabled: false })
  await until('the process knows of it', async () => (await statuses()).join() === '200,200')
  t.match(await org('disable', 'nobody'), { code: 1, stderr: /no organization nobody/ })
})
