/** The audit log has changes with their sources, and refused requests. */
import { request } from 'node:http'
import t from 'tap'
import type { CredentialKind } from '../../domain/access/users.ts'
import { entryOf, leaveOut } from '../../domain/records/audit.ts'
import type { Caller, Role, Scope } from '../../domain/records/organization.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import { platformSurface } from '../../generated/platform/routes.ts'
import { withAudit } from '../../handlers/audit/audited.ts'
import { statusOf } from '../../handlers/platform/faults.ts'
import type { Context, Handler } from '../../runtime/engine/handler.ts'
import type { Mount } from '../../runtime/engine/options.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { brandProfile } from '../carrier/sms-profiles.ts'
import { runCommand } from '../command.ts'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'
import { call, faultOf, putKey, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())

type Event = {
  id: string
  occurredAt: string
  actor: { type: string; id: string | null; name: string | null }
  action: string
  target: { type: string; id: string; name: string | null } | null
  changed: string[]
  values?: Record<string, [string | null, string | null]>
  source: { ip: string | null; userAgent: string | null; via: string }
  result: string
  requestId: string | null
}
type Page = { events: Event[]; nextCursor: string | null }

const administers: readonly Scope[] = ['router', 'platform', 'admin']
const administrator = (name: string) => admin.organization(name, { scopes: administers })
const page = async (target: Target, query = '') => (await call(target, 'GET', `/v1/audit-events${query}`)).json<Page>()
const events = async (target: Target, query = '') => (await page(target, query)).events
const agent = { name: 'desk', systemPrompt: 'k4n4ry', intent: { language: 'en' } }

async function person(organizationId: string, name: string, role: Role, kind: CredentialKind = 'user_token') {
  const email = `${name}@${organizationId}.example`.toLowerCase()
  const user = await admin.store.users.create(organizationId, email, role)
  const issued = await admin.store.users.issue(organizationId, email, kind)
  if (user === null || user === 'last_owner' || issued === null) throw new Error('no user')
  return { url: parley.url, key: issued.secret, userId: user.id, email }
}

t.test('the audit log has a change by an API key, with its target, its changed fields and its source', async (t) => {
  const acme = await administrator('logs changes')
  const made = await call(acme, 'POST', '/v1/agents', agent)
  const { id } = made.json<{ id: string }>()
  await call(acme, 'PATCH', `/v1/agents/${id}`, { voice: 'slt' })
  await call(acme, 'DELETE', `/v1/agents/${id}`)
  const listed = await events(acme, '?action=agent.*')
  const actor = { type: 'api_key', id: acme.keyId, name: 'of a test' }
  const source = { ip: '127.0.0.1', via: 'api' }
  t.match(listed, [
    { action: 'agent.deleted', target: { type: 'agent', id, name: null }, changed: [] },
    { action: 'agent.updated', target: { type: 'agent', id, name: 'desk' }, changed: ['voice'] },
    { action: 'agent.created', target: { type: 'agent', id, name: 'desk' }, changed: Object.keys(agent) },
  ])
  for (const event of listed) t.match(event, { actor, source, result: 'succeeded', occurredAt: /Z$/ })
  t.equal(listed[2]?.requestId, made.headers.get('service-request-id'))
  t.match(await events(acme, '?action=key.created'), [
    { actor: { type: 'operator', id: null }, source: { via: 'cli' } },
  ])
})

t.test('a change with an empty body changes nothing and is not in the log', async (t) => {
  const acme = await administrator('logs no empty change')
  const made = async (path: string, body: object) => (await call(acme, 'POST', path, body)).json<{ id: string }>().id
  const id = await made('/v1/agents', agent)
  const tool = { name: 'look', description: 'Looks.', source: { kind: 'builtin', name: 'end_call' } }
  const webhook = { name: 'CRM', url: 'https://crm.example/', events: ['call.report'] }
  const trunk = { name: 'Office', inbound: { allowedAddresses: ['192.0.2.0/24'] } }
  const connection = await made('/v1/phone-numbers/sip-connections', trunk)
  const imported = { e164: '+12125550123', sipConnectionInstallationId: connection, agentId: id }
  const targets = {
    updateOrganization: '/v1/organization',
    updateAgent: `/v1/agents/${id}`,
    updateAgentTool: `/v1/agents/${id}/tools/${await made(`/v1/agents/${id}/tools`, tool)}`,
    updateWebhook: `/v1/webhooks/${await made('/v1/webhooks', webhook)}`,
    updateSipConnection: `/v1/phone-numbers/sip-connections/${connection}`,
    updatePhoneNumber: `/v1/phone-numbers/${await made('/v1/phone-numbers/import', imported)}`,
    updateKey: `/v1/keys/${acme.keyId}`,
    updateMember: `/v1/members/${(await person(acme.id, 'member', 'member')).userId}`,
  }
  const before = (await events(acme)).length
  for (const [operation, path] of Object.entries(targets)) {
    const { status } = await call(acme, 'PATCH', path, {})
    t.equal(status, operation === 'updateMember' ? 400 : 200, operation)
  }
  t.equal((await events(acme)).length, before)
  const patches = platformSurface.operations.filter(({ method }) => method === 'patch').map(({ id }) => id)
  t.same(patches.sort(), Object.keys(targets).sort(), 'these are all operations with the method PATCH')
  const viewer = await person(acme.id, 'viewer', 'viewer')
  await call(viewer, 'PATCH', '/v1/organization', {})
  await until('the refusal is there', async () => (await events(acme, '?action=access.denied')).length === 1)
})

t.test('an agent whose name has the character NUL is in the log too', async (t) => {
  const acme = await administrator('logs odd names')
  const made = await call(acme, 'POST', '/v1/agents', { ...agent, name: 'front\0desk' })
  await call(acme, 'PATCH', `/v1/agents/${made.json<{ id: string }>().id}`, { voice: 'slt' })
  const target = { type: 'agent', name: 'front\uFFFDdesk' }
  t.match(await events(acme, '?action=agent.*'), [
    { action: 'agent.updated', target },
    { action: 'agent.created', target },
  ])
  t.notMatch(parley.output(), 'an event of the audit log was not stored')
})

t.test('the audit log has changes of keys and members, and reads of secrets, but contains no secret', async (t) => {
  const acme = await administrator('logs access')
  const owner = await person(acme.id, 'owner', 'owner')
  const member = await person(acme.id, 'member', 'member')
  const key = (await call(owner, 'POST', '/v1/keys', { name: 'shop', scopes: ['router'] })).json<{
    id: string
    secret: string
  }>()
  const rotated = (await call(owner, 'POST', `/v1/keys/${key.id}/rotate`)).json<{ secret: string }>()
  await call(owner, 'DELETE', `/v1/keys/${key.id}`)
  await call(owner, 'PATCH', `/v1/members/${member.userId}`, { role: 'viewer' })
  await call(owner, 'POST', `/v1/members/${member.userId}/sign-out`)
  await call(owner, 'DELETE', `/v1/members/${member.userId}`)
  const secret = (await call(owner, 'GET', '/v1/webhook-secret')).json<{ secret: string }>().secret
  await call(acme, 'PATCH', '/v1/organization', { name: 'renamed' })
  await putKey(acme, 'openai', 'k4n4ry-of-a-provider')
  const listed = await events(acme)
  t.match(
    listed.slice(0, 2).map(({ action }) => action),
    ['provider_key.stored', 'organization.updated'],
  )
  const byOwner = await events(acme, `?actorId=${owner.userId}`)
  t.match(byOwner, [
    { action: 'webhook_secret.read' },
    { action: 'member.removed', target: { id: member.userId }, values: { role: ['viewer', null] } },
    { action: 'member.signed_out', target: { id: member.userId } },
    { action: 'member.role_changed', changed: ['role'], values: { role: ['member', 'viewer'] } },
    { action: 'key.revoked', target: { type: 'key', id: key.id } },
    { action: 'key.rotated', target: { id: key.id, name: 'shop' } },
    { action: 'key.created', target: { id: key.id, name: 'shop' }, changed: ['name', 'scopes'] },
  ])
  t.equal(byOwner.length, 7)
  for (const event of byOwner) t.match(event.actor, { type: 'user', id: owner.userId, name: owner.email })
  const rows = JSON.stringify(await sql`select * from audit_events where organization_id = ${acme.id}`)
  for (const hidden of [key.secret, rotated.secret, owner.key, acme.key, secret, 'k4n4ry'])
    t.notOk(rows.includes(hidden) || JSON.stringify(listed).includes(hidden), hidden.slice(0, 8))
})

t.test('a refused request is not logged as a change; a missing role is logged as access.denied, once', async (t) => {
  const acme = await administrator('logs refusals')
  const viewer = await person(acme.id, 'viewer', 'viewer', 'session')
  const administratorOf = await person(acme.id, 'admin', 'admin')
  const owner = await person(acme.id, 'owner', 'owner')
  const before = (await events(acme)).length
  await call(acme, 'PATCH', `/v1/agents/agent_0123456789012345678901`, { voice: 'slt' })
  await call(acme, 'POST', '/v1/agents', { name: 'x' })
  const lastOwner = await call(owner, 'DELETE', `/v1/members/${owner.userId}`)
  t.match(faultOf(lastOwner), { code: 'LAST_OWNER' })
  t.equal((await events(acme)).length, before, 'nothing was changed')
  t.equal(await asSession(viewer.key, '/v1/audit-events'), 403)
  t.equal(await asSession(viewer.key, '/v1/audit-events'), 403)
  t.match(faultOf(await call(administratorOf, 'PATCH', `/v1/members/${owner.userId}`, { role: 'viewer' })), {
    status: 403,
  })
  await until('both refusals are there', async () => (await events(acme, '?result=denied')).length === 2)
  t.match(await events(acme, '?action=access.denied'), [
    {
      actor: { id: administratorOf.userId },
      target: { type: 'operation', id: 'updateMember' },
      source: { via: 'api' },
    },
    { actor: { id: viewer.userId }, target: { id: 'listAuditEvents' }, source: { via: 'console' }, result: 'denied' },
  ])
  const router = await admin.key(acme.id, { scopes: ['router'] })
  t.equal((await call(router, 'GET', '/v1/agents')).status, 403)
  t.equal((await events(acme, '?result=denied')).length, 2, 'a key is refused without an event')
})

t.test('a submitted brand is logged once, although submitting it again reads its state', async (t) => {
  const acme = await administrator('registers')
  await admin.store.organizations.change(acme.id, { smsEnabled: true })
  t.equal((await call(acme, 'PUT', '/v1/sms/10dlc/brand', brandProfile)).status, 200)
  for (let time = 0; time < 3; time++) t.equal((await call(acme, 'POST', '/v1/sms/10dlc/brand/submit')).status, 200)
  t.same(
    (await events(acme, '?action=sms_brand.*')).map(({ action }) => action),
    ['sms_brand.submitted', 'sms_brand.saved'],
  )
})

t.test(
  'an audit event stays if its request fails after a change, but not if the request is refused or only reads',
  async (t) => {
    const acme = await administrator('fails late')
    const { audit, organizations } = admin.store
    const caller = { organization: { id: acme.id }, keyId: acme.keyId, scopes: [] }
    const operation = platformSurface.operations.find(({ id }) => id === 'updateOrganization')
    if (operation === undefined) throw new Error('no such operation')
    async function changeThenFail(name: string, fault: Error, onlyReads = false): Promise<void> {
      const fails: Handler = async (_input, context) => {
        await organizations.change(acme.id, { name }, entryOf(context.caller as Caller))
        if (onlyReads) leaveOut(context.caller as Caller)
        throw fault
      }
      const mount = {
        surface: { operations: [operation] },
        handlers: { updateOrganization: fails },
      } as unknown as Mount
      const denials = { note: () => Promise.resolve() }
      const { handlers } = withAudit(mount, {
        audit,
        denials,
        clock: systemClock,
        statusOf,
        log: { error: () => t.fail('an event was not stored') },
      })
      const peer = { source: '192.0.2.1', userAgent: '', usesCookie: false }
      const context = { caller, requestId: 'req_1', peer } as unknown as Context
      await t.rejects(
        Promise.resolve(handlers['updateOrganization']?.({ path: {}, query: {}, header: {}, body: { name } }, context)),
        fault,
      )
    }
    const updates = () => events(acme, '?action=organization.updated')
    await changeThenFail('refused', new ResourceFault({ kind: 'not_found' }))
    t.same(await updates(), [])
    await changeThenFail('read', new Error('the registry does not answer'), true)
    t.same(await updates(), [])
    await changeThenFail('failed late', new Error('a fault after the commit'))
    t.match(await updates(), [{ action: 'organization.updated', changed: ['name'], result: 'succeeded' }])
  },
)

t.test('listAuditEvents filters, and pages through all events', async (t) => {
  const acme = await administrator('pages the log')
  for (let at = 0; at < 5; at += 1) await call(acme, 'POST', '/v1/agents', { ...agent, name: `desk ${at}` })
  const first = await page(acme, '?limit=2&action=agent.created')
  const second = await page(acme, `?limit=2&action=agent.created&cursor=${first.nextCursor}`)
  const third = await page(acme, `?limit=2&action=agent.created&cursor=${second.nextCursor}`)
  t.same([first.events.length, second.events.length, third.events.length, third.nextCursor], [2, 2, 1, null])
  t.equal(new Set([first, second, third].flatMap((each) => each.events.map(({ id }) => id))).size, 5)
  const targetId = first.events[0]?.target?.id ?? ''
  t.equal((await events(acme, `?targetId=${targetId}`)).length, 1)
  t.equal((await events(acme, '?targetType=agent')).length, 5)
  t.equal((await events(acme, '?actorType=operator')).length, 1)
  t.equal((await events(acme, '?to=2020-01-01T00:00:00Z')).length, 0)
  t.equal((await events(acme, '?from=2020-01-01T00:00:00Z&targetType=agent')).length, 5)
  for (const query of ['?cursor=x', '?limit=201', '?action=agent', '?actorType=robot'])
    t.match(faultOf(await call(acme, 'GET', `/v1/audit-events${query}`)), { status: 400 }, query)
})

t.test('an organization sees only its own audit events, and needs a live key with the scope admin', async (t) => {
  const [acme, stranger] = [await administrator('has a log'), await administrator('reads another log')]
  await call(acme, 'POST', '/v1/agents', agent)
  t.same(
    (await events(stranger)).map(({ action }) => action),
    ['key.created'],
  )
  for (const target of [await admin.key(acme.id), await admin.key(acme.id, { scopes: administers, test: true })])
    t.match(faultOf(await call(target, 'GET', '/v1/audit-events')), { status: 403, code: 'FORBIDDEN' })
})

t.test('`parley audit` prints the audit log, and changes from the command line have the source `cli`', async (t) => {
  const acme = await administrator('prints the log')
  const run = (...args: string[]) => runCommand(parley, args, { PARLEY_API_KEY: acme.key })
  t.match(await run('keys', 'create', '--name', 'shop', '--scopes', 'router'), { code: 0, stderr: '' })
  const printed = await run('audit', '--action', 'key.*')
  t.match(printed, { code: 0, stderr: '', stdout: /key\.created/ })
  t.match((await events(acme, '?action=key.created'))[0], { source: { via: 'cli', userAgent: 'parley-cli' } })
})

/** Returns the status of a request with a session cookie, as a page of the console sends it. */
function asSession(secret: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { cookie: `parley_session=${secret}`, 'sec-fetch-site': 'same-origin' }
    const sent = request(parley.url + path, { headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.once('error', reject)
    sent.end()
  })
}
