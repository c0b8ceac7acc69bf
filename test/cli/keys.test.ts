/** The commands for API keys and for the settings of organizations. */
import t, { type Test } from 'tap'
import { runCommand } from '../command.ts'
import { until } from '../process/machine.ts'
import { send } from '../router/requests.ts'
import { ownServer } from '../server.ts'
import { outputOf as outputOfRun } from './output.ts'
import { refused } from './refused.ts'

const parley = await ownServer(t)
const command = (...args: string[]) => runCommand(parley, args)
const outputOf = (t: Test, ...args: string[]) => outputOfRun(t, command(...args))
const works = async (secret: string) => (await send({ url: parley.url, key: secret }, '/router/v1/models')).status

t.test('`keys create` shows a secret once, `rotate` replaces it, and `revoke` makes the API key invalid', async (t) => {
  const organization = /org_\w+/.exec(await outputOf(t, 'org', 'list'))?.[0] ?? ''
  const rows = async () => (await outputOf(t, 'keys', 'list', '--org', organization)).split('\n')
  const idOf = (row: string) => /key_\w+/.exec(row)?.[0] ?? ''
  const before = (await rows()).map(idOf)
  t.match(await rows(), [/ {2}sk_(live|test)_… \(a secret of yours\)/], 'the key that this test brought')
  const secret = await outputOf(t, 'keys', 'create', '--org', organization, '--scopes', 'router', '--test')
  t.match(secret, /^sk_test_\w{24,}$/)
  t.equal(await works(secret), 200)
  const [row = ''] = (await rows()).filter((line) => !before.includes(idOf(line)))
  t.match(row, /^key_\w+ {2}test {2}router {2}live {2}used /)
  t.notMatch((await rows()).join('\n'), secret, 'shown once')
  const id = idOf(row)
  const rotated = await outputOf(t, 'keys', 'rotate', id, '--org', organization)
  t.not(rotated, secret)
  await until('the old one has ended', async () => (await works(secret)) === 401)
  t.equal(await works(rotated), 200)
  t.equal(await outputOf(t, 'keys', 'revoke', id, '--org', organization), `${id} is revoked`)
  await until('it has ended', async () => (await works(rotated)) === 401)
  t.match((await rows()).join('\n'), new RegExp(`^${id}.* revoked \\d{4}-`, 'm'))
  refused(t, await command('keys', 'revoke', id, '--org', organization), `there is no live key ${id}`)
  refused(t, await command('keys', 'create', '--org', 'org_nobody'), 'there is no organization org_nobody')
  refused(
    t,
    await command('keys', 'create', '--org', organization, '--scopes', 'everything'),
    /everything is no scope; there are router,/,
  )
  const withPolicy = (policy: string) => ['keys', 'create', '--org', organization, '--policy', policy]
  refused(t, await command(...withPolicy('[')), /--policy takes a JSON object/)
  refused(t, await command(...withPolicy('{"allowedOrigins":[]}')), /--policy: allowedOrigins is not a known field/)
  refused(t, await command(...withPolicy('{"allowed_origins":"x"}')), /--policy: allowed_origins must be array/)
  await outputOf(t, ...withPolicy('{"allowed_origins":["https://app.example"],"max_concurrency":2}'))
  t.match((await rows()).join('\n'), / {2}policy (allowed_origins,max_concurrency|max_concurrency,allowed_origins)$/m)
})

t.test('API keys have names, expiry times and scopes; a rotated secret stays valid for a grace period', async (t) => {
  await outputOf(t, 'org', 'create', 'Named')
  const create = (...args: string[]) => outputOf(t, 'keys', 'create', '--org', 'Named', ...args)
  const list = () => outputOf(t, 'keys', 'list', '--org', 'Named')
  const secret = await create('--name', 'the shop', '--expires', '90d')
  const row = await list()
  const shown = secret.slice(0, 'sk_live_'.length + 8)
  t.match(row, /^key_\w+ {2}live {2}router,realtime {2}live until \d{4}-\d\d-\d\dT\d\d:\d\dZ {2}used never {2}sk_live_/)
  t.ok(row.endsWith(`  ${shown}  the shop`), row)
  const listed = await outputOf(t, 'keys', 'list', '--org', 'Named', '--json')
  const [json] = (JSON.parse(listed) as { data: [{ id: string }] }).data
  t.match(json, { name: 'the shop', publicId: shown, expiresAt: /Z$/, scopes: ['router', 'realtime'] })
  const rotated = await outputOf(t, 'keys', 'rotate', json.id, '--org', 'Named', '--overlap', '24h')
  for (const each of [secret, rotated]) t.equal(await works(each), 200)
  t.match(await list(), / {2}old secret until \d{4}-\d\d-\d\dT\d\d:\d\dZ {2}the shop$/)
  const overlapping = JSON.parse(await outputOf(t, 'keys', 'list', '--org', 'Named', '--json')) as { data: object[] }
  t.match(overlapping.data, [{ previousSecretUntil: /Z$/ }])
  await outputOf(t, 'org', 'rename', 'Named', 'Renamed')
  await outputOf(t, 'keys', 'revoke', json.id, '--org', 'Renamed')
  for (const each of [secret, rotated]) await until('both have ended', async () => (await works(each)) === 401)
  const wrong = [
    ['--expires', 'soon'],
    ['--expires', '9999d'],
    ['--expires', '0d'],
    ['--name', 'x'.repeat(201)],
    ['--name', 'two\nlines'],
  ]
  for (const args of wrong)
    refused(t, await command('keys', 'create', '--org', 'Renamed', ...args), new RegExp(`^parley: ${args[0]}`))
})

t.test('the `org` commands create an organization, change its credit and settings, and list it', async (t) => {
  const created = await outputOf(t, 'org', 'create', 'Blue & Sons')
  t.match(
    created,
    /^org_\w+ {2}Blue & Sons {2}credit \$0\.00 {2}concurrency unlimited {2}sessions unlimited {2}tool results keep {2}message text drop$/,
  )
  const id = /org_\w+/.exec(created)?.[0] ?? ''
  t.match(await outputOf(t, 'org', 'credit', id, '25.50'), 'credit $25.50')
  t.match(await outputOf(t, 'org', 'credit', id, '--', '-3.25'), 'credit $22.25')
  t.match(await outputOf(t, 'org', 'list'), `${id}  Blue & Sons  credit $22.25`)
  t.match(await outputOf(t, 'org', 'show', id), `${id}  Blue & Sons  credit $22.25`)
  const set = ['name=Blue', 'credit=5.5', 'max_concurrency=3', 'sms_enabled=on', 'recording=on']
  const changed = await outputOf(t, 'org', 'set', id, ...set)
  const rest = 'sessions unlimited  tool results keep  message text drop  features sms,recording'
  t.equal(changed, `${id}  Blue  credit $5.50  concurrency 3  ${rest}`)
  const json = JSON.parse(await outputOf(t, 'org', 'set', id, 'sms_enabled=off', '--json')) as object
  t.match(json, {
    name: 'Blue',
    creditMicroUsd: '5500000',
    maxConcurrency: 3,
    smsEnabled: false,
    recording: true,
  })
  t.match(await outputOf(t, 'org', 'set', id, 'max_concurrency=unlimited'), 'concurrency unlimited')
  const words = ['max_concurrency=null', 'max_sessions=none', 'sms_enabled=true', 'recording=false']
  t.match(
    await outputOf(t, 'org', 'set', id, ...words),
    /concurrency unlimited {2}sessions unlimited .* {2}features sms$/,
  )
  refused(t, await command('org', 'set', id), /missing required argument 'settings'/)
  refused(t, await command('org', 'set', id, 'max_concurrency=0'), /a limit is 1 to 1000000, or unlimited/)
  refused(t, await command('org', 'set', id, 'sms_enabled=perhaps'), /perhaps is neither on nor off/)
  refused(t, await command('org', 'set', 'org_nobody', 'sms_enabled=on'), 'there is no organization org_nobody')
  refused(t, await command('org', 'credit', id, 'much'), /much is no amount in dollars/)
  refused(t, await command('org', 'credit', 'org_nobody', '1'), 'there is no organization org_nobody')
})

t.test('without --org the commands for keys ask the server, with the key of the organization', async (t) => {
  await outputOf(t, 'org', 'create', 'Own keys')
  const first = await outputOf(t, 'keys', 'create', '--org', 'Own keys', '--scopes', 'router,admin')
  const own = (...args: string[]) => outputOfRun(t, runCommand(parley, ['keys', ...args], { PARLEY_API_KEY: first }))
  const secret = await own('create', '--name', 'shop', '--scopes', 'router', '--expires', '90d')
  t.match(await own('list'), / {2}router {2}live until \S+Z {2}used \S+ {2}sk_live_\w{8} {2}shop$/m)
  t.match(
    await own('set', 'shop', 'budget=5usd/month'),
    / {2}spent \$0\.000000 of \$5\.000000 a month {2}policy budget$/,
  )
  t.notMatch(await own('set', 'shop', 'budget=none'), /spent/)
  const rotated = await own('rotate', 'shop', '--overlap', '1h')
  for (const each of [secret, rotated]) t.equal(await works(each), 200)
  t.match(await own('revoke', 'shop'), /^key_\w+ is revoked$/)
  for (const each of [secret, rotated]) await until('both have ended', async () => (await works(each)) === 401)
  t.match(await own('list'), / {2}revoked \d{4}-.* {2}shop$/m)
  const router = await outputOf(t, 'keys', 'create', '--org', 'Own keys', '--scopes', 'router')
  const refusedOf = (...args: string[]) => runCommand(parley, ['keys', ...args], { PARLEY_API_KEY: router })
  refused(t, await refusedOf('list'), /does not carry the scope admin/)
})
