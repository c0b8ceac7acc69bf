/**
 * Checks all operations of the platform API against one table. Three ids get the same response: the id of another
 * organization's resource, the id of the organization's live resource in a request with a test key (or the reverse),
 * and an unknown id. If the table lacks an operation, the test fails.
 */
import t from 'tap'
import { platformSurface } from '../../generated/platform/routes.ts'
import { openDatabase } from '../process/database.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import type { Target } from '../router/requests.ts'
import { byId, codes, ofAdmin, type Things, unknown, withoutId } from './isolation-table.ts'
import { makeThings } from './isolation-things.ts'
import { call, putKey, startOwnAdministered, stubProviders } from './setup.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const { parley, admin } = await startOwnAdministered(t, {
  PARLEY_PROVIDERS: stubProviders(stub),
  PARLEY_RMSG_KEEP_REMOVED_SEND: 'true',
})
const sql = openDatabase(parley)
t.teardown(() => sql.end())

const scopes = ['router', 'platform', 'rmsg', 'admin'] as const
/** These operations change data that live and test keys share, and test keys may not use them. */
const ofAdmins = new Set(platformSurface.operations.filter(({ scope }) => scope === 'admin').map(({ id }) => id))
/** Allows text and rich messages. With rmsg_legacy_inventory the organization needs no number in its pool. */
const enableMessages = () =>
  sql`update organizations set sms_enabled = true, rmsg_enabled = true, rmsg_legacy_inventory = true`

t.test('the isolation test covers every operation that has an id in its path', (t) => {
  const operations = platformSurface.operations
  const named = operations.filter(({ pathParams }) => pathParams.length > 0).map(({ id }) => id)
  t.same(named.sort(), [...Object.keys(byId), ...ofAdmin].sort())
  const others = operations.filter(({ pathParams }) => pathParams.length === 0).map(({ id }) => id)
  t.same(others.sort(), [...withoutId].sort())
  t.end()
})

t.test("another organization's invitation is not found, like an unknown invitation", async (t) => {
  const owner = await admin.organization('owner of an invitation', { scopes: ['admin'] })
  const stranger = await admin.organization('stranger to an invitation', { scopes: ['admin'] })
  const wanted = { email: 'invited@example.com', role: 'viewer' }
  const { id } = (await call(owner, 'POST', '/v1/invitations', wanted)).json<{ id: string }>()
  const before = (await call(owner, 'GET', '/v1/invitations')).json<object[]>()
  const ask = async (method: 'POST' | 'DELETE', path: string) => {
    const { status, text } = await call(stranger, method, path)
    return [status, text.replace(/req_\w+/, '')]
  }
  for (const [method, end] of [
    ['POST', '/resend'],
    ['DELETE', ''],
  ] as const) {
    const answer = await ask(method, `/v1/invitations/${id}${end}`)
    t.equal(answer[0], 404)
    t.same(answer, await ask(method, `/v1/invitations/inv_0123456789012345678901${end}`))
  }
  t.same((await call(stranger, 'GET', '/v1/invitations')).json(), [])
  t.same((await call(owner, 'GET', '/v1/invitations')).json(), before)
})

/** Returns the responses in which the organization reads its resources. */
async function stateOf(
  target: Target,
  { agent, tool, request, call: id, callback, delivery, webhook, number, conversation }: Things,
): Promise<object[]> {
  const paths = [
    `/v1/agents/${agent}`,
    `/v1/agents/${agent}/tools`,
    `/v1/agents/${agent}/tools/${tool}`,
    '/v1/agents',
    '/v1/providers',
    `/v1/requests/${request}/route`,
    `/v1/sessions/${id}`,
    '/v1/sessions',
    `/v1/agents/${agent}/calls`,
    `/v1/calls/${id}`,
    `/v1/calls/${id}/events`,
    `/v1/callbacks/${callback}`,
    '/v1/callbacks',
    `/v1/webhook-deliveries/${delivery}`,
    '/v1/webhook-deliveries',
    `/v1/webhooks/${webhook}`,
    '/v1/webhooks',
    `/v1/phone-numbers/${number}`,
    '/v1/phone-numbers',
    '/v1/phone-numbers/sip-connections',
    '/v1/conversations',
    `/v1/conversations/${conversation}/messages`,
    '/v1/rmsg-phone-numbers',
    '/v1/rmsg-phone-numbers/webhook',
    '/v1/sms/10dlc',
  ]
  const answers = await Promise.all(paths.map((path) => call(target, 'GET', path)))
  return answers.map((each) => each.json<object>())
}

for (const owner of ['live', 'test'] as const)
  t.test(`resources of a ${owner} key are found only by keys of the same kind and organization`, async (t) => {
    const { id, ...live } = await admin.organization(`owner of ${owner} things`, { scopes })
    const test = await admin.key(id, { scopes, test: true })
    const stranger = await admin.organization(`stranger to ${owner} things`, { scopes })
    const strangerInTest = await admin.key(stranger.id, { scopes, test: true })
    await enableMessages()
    const target = owner === 'live' ? live : test
    const things = await makeThings(t, { admin, sql }, target, { organizationId: id, test: owner === 'test' })
    const before = await stateOf(target, things)
    const messages = (await sql`select from rmsg_messages`).length
    const others: [string, Target][] = [
      ['the other world of the organization', owner === 'live' ? test : live],
      ['a live key of another organization', stranger],
      ['a test key of another organization', strangerInTest],
    ]
    for (const [operation, ways] of Object.entries(byId))
      for (const { method, path, body } of ways)
        for (const [who, other] of ofAdmins.has(operation) ? others.slice(1, 2) : others) {
          const [theirs, nobodys] = [
            await call(other, method, path(things), body),
            await call(other, method, path(unknown), body),
          ]
          const title = `${operation} ${JSON.stringify(body ?? '')} by ${who}`
          t.equal(theirs.status, 404, title)
          const { code = null } = theirs.json<{ code?: string }>()
          t.equal(code, operation in codes ? codes[operation] : 'NOT_FOUND', title)
          t.same({ ...theirs.json<object>(), requestId: '' }, { ...nobodys.json<object>(), requestId: '' }, title)
          const names = (headers: Headers) => [...headers.keys()].sort()
          t.same(names(theirs.headers), names(nobodys.headers), title)
        }
    t.notMatch((await call(stranger, 'GET', '/v1/keys')).text, things.key, 'listKeys by a stranger')
    const waysOfAdmins = Object.entries(byId).filter(([operation]) => ofAdmins.has(operation))
    for (const [operation, ways] of waysOfAdmins)
      for (const { method, path, body } of ways)
        for (const other of [test, strangerInTest]) {
          const { status } = await call(other, method, path(things), body)
          t.equal(status, 403, `${operation} by a test key`)
        }
    for (const [who, other] of others) {
      t.same((await call(other, 'GET', '/v1/agents')).json(), [], `listAgents by ${who}`)
      t.same(
        (await call(other, 'GET', '/v1/sessions')).json(),
        { entries: [], nextCursor: null },
        `listSessions by ${who}`,
      )
      const calls = (await call(other, 'GET', '/v1/calls?q=open')).json()
      t.same(calls, { calls: [], next_cursor: null }, `listCalls by ${who}`)
      const figures = (await call(other, 'GET', '/v1/calls/figures?group_by=agent')).json()
      t.match(figures, { rows: [], total: { calls: 0 } }, `getCallFigures by ${who}`)
      t.same(
        (await call(other, 'GET', '/v1/callbacks')).json(),
        { callbacks: [], next_cursor: null },
        `listCallbacks by ${who}`,
      )
      t.same(
        (await call(other, 'GET', '/v1/webhook-deliveries')).json(),
        { data: [], nextCursor: null, endpointOptions: [] },
        `listWebhookDeliveries by ${who}`,
      )
      t.same((await call(other, 'GET', '/v1/webhooks')).json(), { data: [] }, `listWebhooks by ${who}`)
      t.same((await call(other, 'GET', '/v1/phone-numbers')).json(), [], `listPhoneNumbers by ${who}`)
      const conversations = (await call(other, 'GET', '/v1/conversations')).json()
      t.same(conversations, { conversations: [], nextCursor: null }, `listConversations by ${who}`)
      const connections = await call(other, 'GET', '/v1/phone-numbers/sip-connections')
      t.same(connections.json(), [], `listSipConnections by ${who}`)
      const subscriptions = await call(other, 'GET', '/v1/rmsg-phone-numbers/webhook')
      t.same(subscriptions.json(), { configured: false, subscriptions: [] }, `listRmsgSubscriptions by ${who}`)
      const registration = await call(other, 'GET', '/v1/sms/10dlc')
      t.match(registration.json(), { ownBrand: null, numbers: [] }, `getSmsRegistration by ${who}`)
      const all = await call(other, 'DELETE', '/v1/rmsg-phone-numbers/webhook')
      t.equal(all.status, 204, `deleteRmsgSubscriptions by ${who}`)
      const imported = { e164: '+12125550102', sipConnectionInstallationId: things.connection }
      const stolen = await call(other, 'POST', '/v1/phone-numbers/import', imported)
      t.match(stolen.json(), { code: 'NOT_FOUND' }, `importPhoneNumber by ${who}`)
      type Usage = { totalSessions: number; totalMinutes: number; totalCost: number; breakdown: object[] }
      const { totalSessions, totalMinutes, totalCost, breakdown } = (
        await call(other, 'GET', '/v1/usage')
      ).json<Usage>()
      t.same([totalSessions, totalMinutes, totalCost, breakdown], [0, 0, 0, []], `getUsage by ${who}`)
      // An organization's live and test keys share its credit, so a test key also reads the movements from live keys.
      if (other === stranger || other === strangerInTest) {
        t.notMatch((await call(other, 'GET', '/v1/credits/ledger')).text, things.movement, `getCreditLedger by ${who}`)
        t.notMatch((await call(other, 'GET', '/v1/credits')).text, things.movement, `getCredits by ${who}`)
        const { balanceUsd } = (await call(other, 'GET', '/v1/credits/balance')).json<{ balanceUsd: number }>()
        t.equal(balanceUsd, 100, `getCreditBalance by ${who}`)
      }
      const providers = await call(other, 'GET', '/v1/providers')
      t.notMatch(providers.text, 'BYOK', `listProviders by ${who}`)
    }
    t.same(await stateOf(target, things), before, 'nothing was changed')
    t.equal((await sql`select from rmsg_messages`).length, messages, 'no message was sent')
    for (const ways of Object.values(byId).slice(0, 1))
      for (const { method, path, body } of ways) t.equal((await call(target, method, path(things), body)).status, 200)
  })

/** Only these operations refuse an id in a wrong form. All others answer that the id is not found. */
const refusesOtherForms = ['deleteRmsgSubscription', 'sendNumberMessage', 'callFromRmsgNumber']

t.test('a malformed id is answered 400 by rich-message operations, and 404 by all other operations', async (t) => {
  const acme = await admin.organization('forms', { scopes })
  await enableMessages()
  for (const [operation, ways] of Object.entries(byId))
    for (const { method, path, body } of ways.slice(0, 1)) {
      const nobodys = await call(acme, method, path(unknown), body)
      for (const form of ['%00', '%zz', '%FF', 'a%00', '%01', '%20', 'a%2Fb', 'x'.repeat(3000), '%F0%9F%98%80']) {
        const odd = await call(
          acme,
          method,
          path({
            agent: form,
            tool: form,
            provider: form,
            request: form,
            call: form,
            transfer: form,
            callback: form,
            delivery: form,
            webhook: form,
            number: form,
            connection: form,
            subscription: form,
            richNumber: form,
            conversation: form,
            key: form,
            member: form,
          }),
          body,
        )
        const isRefused = refusesOtherForms.includes(operation)
        t.equal(odd.status, isRefused ? 400 : 404, `${operation} ${form.slice(0, 12)} ${odd.text.slice(0, 100)}`)
        if (isRefused) t.equal(odd.json<{ code: string }>().code, 'VALIDATION_ERROR')
        else t.same({ ...odd.json<object>(), requestId: '' }, { ...nobodys.json<object>(), requestId: '' })
      }
    }
})

t.test('a test key cannot store a provider key, and does not change the live provider key', async (t) => {
  const { id, ...live } = await admin.organization('provider keys')
  const test = await admin.key(id, { test: true })
  await putKey(live, 'other', 'live-key')
  t.match((await putKey(test, 'other', 'test-key')).json(), { code: 'FORBIDDEN' })
  t.match((await call(live, 'GET', '/v1/providers')).text, 'BYOK')
})
