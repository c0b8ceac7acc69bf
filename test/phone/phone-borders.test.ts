/**
 * Tests the limits for phone calls, numbers and SIP connections over the public API: a value at the limit, and a value
 * beyond it.
 */
import t, { type Test } from 'tap'
import { call, faultOf, startOwnAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import type { Answer } from '../router/requests.ts'
import { insertNumber } from './stored-number.ts'

const { parley, admin } = await startOwnAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())

const acme = await admin.organization('acme')
const managed = await insertNumber(sql, { organizationId: acme.id, test: false }, { e164: '+12125551000' })
const connections = '/v1/phone-numbers/sip-connections'
const inbound = { allowedAddresses: ['203.0.113.0/28'] }

type Border = [path: string, taken: object, refused: object]

const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`t${at}`, 'v']))
const deep = (levels: number): object => (levels === 1 ? {} : { a: deep(levels - 1) })
const large = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })
const telephony = (more: object) => ({ telephony: more })

const callBorders: Border[] = [
  ['/maxDurationSeconds', { maxDurationSeconds: 30 }, { maxDurationSeconds: 29 }],
  ['/maxDurationSeconds', { maxDurationSeconds: 14_400 }, { maxDurationSeconds: 14_401 }],
  ['/telephony/ringingTimeout', telephony({ ringingTimeout: 1 }), telephony({ ringingTimeout: 0 })],
  ['/telephony/ringingTimeout', telephony({ ringingTimeout: 120 }), telephony({ ringingTimeout: 121 })],
  [
    '/telephony/amd/timeoutSeconds',
    telephony({ amd: { timeoutSeconds: 1 } }),
    telephony({ amd: { timeoutSeconds: 0 } }),
  ],
  [
    '/telephony/amd/timeoutSeconds',
    telephony({ amd: { timeoutSeconds: 60 } }),
    telephony({ amd: { timeoutSeconds: 61 } }),
  ],
  ...['agent', 'carrier', 'disabled'].map(
    (mode): Border => ['/telephony/amd/mode', telephony({ amd: { mode } }), telephony({ amd: { mode: `${mode}s` } })],
  ),
  ...['us', 'europe', 'canada', 'australia', 'middle_east'].map(
    (region): Border => ['/telephony/region', telephony({ region }), telephony({ region: `${region}s` })],
  ),
  ...['hangup', 'leave_message'].map(
    (action): Border => [
      '/telephony/voicemail/action',
      telephony({ voicemail: { action } }),
      telephony({ voicemail: { action: `${action}s` } }),
    ],
  ),
  [
    '/telephony/voicemail/message',
    telephony({ voicemail: { message: '😀'.repeat(1000) } }),
    telephony({ voicemail: { message: 'm'.repeat(1001) } }),
  ],
  ['/webhookTags', { webhookTags: pairs(20) }, { webhookTags: pairs(21) }],
  ['/webhookTags', { webhookTags: { ['k'.repeat(64)]: 'v' } }, { webhookTags: { ['k'.repeat(65)]: 'v' } }],
  ['/webhookTags', { webhookTags: { k: 'v' } }, { webhookTags: { '': 'v' } }],
  ['/webhookTags/k', { webhookTags: { k: '😀'.repeat(256) } }, { webhookTags: { k: 'v'.repeat(257) } }],
  ['/metadata', { metadata: large(16_384) }, { metadata: large(16_385) }],
  ['/metadata', { metadata: deep(8) }, { metadata: deep(9) }],
]

const template = (dispatchMetadataTemplate: object) => ({ dispatchMetadataTemplate })
const numberBorders: Border[] = [
  ['/label', { label: '😀'.repeat(120) }, { label: 'l'.repeat(121) }],
  ['/dispatchMetadataTemplate', template(large(16_384)), template(large(16_385))],
  ['/dispatchMetadataTemplate', template(deep(8)), template(deep(9))],
  ['/direction', { direction: 'outbound' }, { direction: 'out' }],
]

const outbound = (more: object) => ({ outbound: { host: 'sip.example.com', ...more } })
const login = (username: string, password: string) => ({ username, password })
const twelve = 'p'.repeat(12)
const ranges = (...allowedAddresses: string[]) => ({ inbound: { allowedAddresses } })
const connectionBorders: Border[] = [
  ['/name', { name: '😀'.repeat(80) }, { name: 'n'.repeat(81) }],
  ['/name', { name: 'n' }, { name: '' }],
  ['/provider', { provider: '😀'.repeat(80) }, { provider: 'p'.repeat(81) }],
  ['/provider', { provider: 'p' }, { provider: '' }],
  ['/outbound/host', outbound({ host: `${'a.'.repeat(126)}b` }), outbound({ host: `${'a.'.repeat(126)}bc` })],
  ['/outbound/port', outbound({ port: 1 }), outbound({ port: 0 })],
  ['/outbound/port', outbound({ port: 65_535 }), outbound({ port: 65_536 })],
  ['/outbound/transport', outbound({ transport: 'tcp' }), outbound({ transport: 'tls' })],
  ['/outbound/username', outbound(login('u'.repeat(128), 'p')), outbound(login('u'.repeat(129), 'p'))],
  ['/outbound/password', outbound(login('u', 'p'.repeat(256))), outbound(login('u', 'p'.repeat(257)))],
  ['/inbound/username', { inbound: login('u'.repeat(128), twelve) }, { inbound: login('u'.repeat(129), twelve) }],
  ['/inbound/password', { inbound: login('u', twelve) }, { inbound: login('u', 'p'.repeat(11)) }],
  ['/inbound/password', { inbound: login('u', 'p'.repeat(256)) }, { inbound: login('u', 'p'.repeat(257)) }],
  [
    '/inbound/allowedAddresses',
    ranges(...Array<string>(32).fill('203.0.113.0/28')),
    ranges(...Array<string>(33).fill('203.0.113.0/28')),
  ],
  ['/inbound/allowedAddresses/0', ranges('10.1.0.0/16'), ranges('10.0.0.0/15')],
  ['/inbound/allowedAddresses/1', ranges('203.0.113.7/32', '203.0.113.8/32'), ranges('203.0.113.7/32', '0.0.0.0/0')],
  ['/inbound/allowedAddresses/0', ranges('2001:db8::/32'), ranges('2001:db8::/31')],
  ['/inbound/allowedAddresses/0', ranges('2001:db8::7/128'), ranges('::/0')],
]

const phone = (more: object) =>
  call(acme, 'POST', '/v1/sessions/phone', { to: '+15005550001', intent: { language: 'en' }, ...more })

/**
 * Asserts that the answer refuses the field at `path`. A refused tag name also causes a second issue, whose longer path
 * is not compared.
 */
function isRefused(t: Test, answer: Answer, path: string): void {
  const { status, code, paths = [] } = faultOf(answer)
  t.same([status, code, paths[0]], [400, 'VALIDATION_ERROR', path], answer.text.slice(0, 300))
}

t.test('createPhoneSession accepts each limit and refuses a value beyond it', async (t) => {
  for (const [path, taken, refused] of callBorders) {
    isRefused(t, await phone(refused), path)
    // The server accepted the request, because the error comes from the carrier. Only the carrier refuses this number.
    t.match(faultOf(await phone(taken)), { status: 502, code: 'CARRIER_DIAL_FAILED' }, path)
  }
})

t.test('updatePhoneNumber and purchasePhoneNumber accept each limit and refuse a value beyond it', async (t) => {
  for (const [path, taken, refused] of numberBorders) {
    isRefused(t, await call(acme, 'PATCH', `/v1/phone-numbers/${managed}`, refused), path)
    isRefused(t, await call(acme, 'POST', '/v1/phone-numbers', { e164: '+12125550100', ...refused }), path)
    t.equal((await call(acme, 'PATCH', `/v1/phone-numbers/${managed}`, taken)).status, 200, path)
  }
})

t.test('importPhoneNumber accepts each limit and refuses a value beyond it', async (t) => {
  const made = await call(acme, 'POST', connections, { name: 'Import', inbound })
  const { id } = made.json<{ id: string }>()
  const wanted = { e164: '+493012345678', sipConnectionInstallationId: id, direction: 'outbound' }
  const add = (more: object) => call(acme, 'POST', '/v1/phone-numbers/import', { ...wanted, ...more })
  const rows: Border[] = [
    ['/sipProviderName', { sipProviderName: '😀'.repeat(80) }, { sipProviderName: 'p'.repeat(81) }],
    ['/sipProviderName', { sipProviderName: 'p' }, { sipProviderName: '' }],
    ...numberBorders,
  ]
  for (const [path, taken, refused] of rows) {
    isRefused(t, await add(refused), path)
    const added = await add(taken)
    t.equal(added.status, 201, path)
    t.same((await call(acme, 'DELETE', `/v1/phone-numbers/${added.json<{ id: string }>().id}`)).json(), {
      released: true,
    })
  }
  await call(acme, 'DELETE', `${connections}/${id}`)
})

t.test('createSipConnection and updateSipConnection accept each limit and refuse a value beyond it', async (t) => {
  for (const [path, taken, refused] of connectionBorders) {
    const wanted = { name: 'Trunk', inbound }
    isRefused(t, await call(acme, 'POST', connections, { ...wanted, ...refused }), path)
    const made = await call(acme, 'POST', connections, { ...wanted, ...taken })
    t.equal(made.status, 201, made.text)
    const one = `${connections}/${made.json<{ id: string }>().id}`
    isRefused(t, await call(acme, 'PATCH', one, refused), path)
    t.equal((await call(acme, 'PATCH', one, taken)).status, 200, path)
    t.equal((await call(acme, 'DELETE', one)).status, 204)
  }
})

t.test('a SIP connection needs an inbound or outbound side, and an inbound side addresses or a login', async (t) => {
  const create = (more: object) => call(acme, 'POST', connections, { name: 'Sides', ...more })
  isRefused(t, await create({}), '/inbound')
  isRefused(t, await create({ inbound: {} }), '/inbound/allowedAddresses')
  isRefused(t, await create({ inbound: { username: 'desk' } }), '/inbound/password')
  isRefused(t, await create({ ...outbound({}), ...ranges('0.0.0.0/0') }), '/inbound/allowedAddresses/0')
  t.same(faultOf(await create(ranges('999.0.0.0/0'))).paths, ['/inbound/allowedAddresses/0'], 'no range: said once')
  for (const side of [outbound({}), { inbound: login('desk', 'open sesame now') }, { inbound }]) {
    const made = await create(side)
    t.equal(made.status, 201, made.text)
    t.equal((await call(acme, 'DELETE', `${connections}/${made.json<{ id: string }>().id}`)).status, 204)
  }
})

t.test('an address range that is too wide is refused with advice, but a stored wide range stays', async (t) => {
  const { id } = (await call(acme, 'POST', connections, { name: 'Old', inbound })).json<{ id: string }>()
  const one = `${connections}/${id}`
  const refused = await call(acme, 'PATCH', one, ranges('0.0.0.0/0'))
  t.match(refused.json<{ error: string }>().error, /name those of the trunk.*username and password/)
  const ranged = sql`array['0.0.0.0/0'::inet]`
  await sql`update sip_connections set inbound_addresses = '["0.0.0.0/0"]', inbound_ranges = ${ranged} where id = ${id}`
  const renamed = await call(acme, 'PATCH', one, { name: 'Renamed' })
  t.match(renamed.json(), { name: 'Renamed', inbound: { allowedAddresses: ['0.0.0.0/0'] } }, renamed.text)
  const kept = await call(acme, 'PATCH', one, { inbound: login('desk', 'open sesame now') })
  t.equal(kept.status, 200, 'a login is added')
  isRefused(t, await call(acme, 'PATCH', one, ranges('0.0.0.0/0')), '/inbound/allowedAddresses/0')
})

t.test('searchPhoneNumbers accepts each limit and refuses a value beyond it', async (t) => {
  const search = (query: Record<string, string>) =>
    call(acme, 'GET', `/v1/phone-numbers/available?${new URLSearchParams(query).toString()}`)
  const rows: [taken: Record<string, string>, refused: Record<string, string>][] = [
    [{ limit: '1' }, { limit: '0' }],
    [{ limit: '50' }, { limit: '51' }],
    [{ areaCode: '200' }, { areaCode: '199' }],
    [{ areaCode: '998' }, { areaCode: '9980' }],
    [{ areaCode: '212' }, { areaCode: '21' }],
    [{ locality: 'l'.repeat(80) }, { locality: 'l'.repeat(81) }],
    [{ locality: 'l' }, { locality: '' }],
  ]
  for (const [taken, refused] of rows) {
    t.match(faultOf(await search(refused)), { status: 400, code: 'VALIDATION_ERROR' }, JSON.stringify(refused))
    const found = await search(taken)
    t.equal(found.status, 200, found.text)
    t.equal(found.json<object[]>().length, Number(taken['limit'] ?? 10), JSON.stringify(taken))
  }
})

t.test('each field of a business verification accepts its limit and refuses a longer text', async (t) => {
  const draft = (businessProfile: object) => call(acme, 'PUT', '/v1/phone-numbers/kyb/draft', { businessProfile })
  for (const field of ['legalName', 'displayName', 'website', 'useCase', 'expectedUsage', 'registrationId']) {
    isRefused(t, await draft({ [field]: 'x'.repeat(2001) }), `/businessProfile/${field}`)
    t.equal((await draft({ [field]: '😀'.repeat(2000) })).status, 200, field)
  }
})
