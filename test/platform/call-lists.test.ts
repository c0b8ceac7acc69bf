/** Lists of sessions and calls over the public API: filters, pages, and times in queries. */
import t from 'tap'
import { newCall } from '../calls/call.ts'
import type { Target } from '../router/requests.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { admin } = await startAdministered(t)

const get = async <T>(target: Target, path: string) => (await call(target, 'GET', path)).json<T>()

t.test('listSessions filters and pages, and refuses unknown filters', async (t) => {
  const acme = await admin.organization('listing')
  const createdAtMs = Date.parse('2027-11-01T00:00:00.000Z')
  const ids: string[] = []
  for (let index = 0; index < 5; index++) {
    const stored = newCall(acme.id, { createdAtMs: createdAtMs + index * 1000 })
    await admin.store.calls.insert(stored, {})
    ids.unshift(stored.id)
  }
  type Page = { entries: { sessionId: string }[]; nextCursor: string | null }
  const list = async (query: string) => {
    const page = await get<Page>(acme, `/v1/sessions?${query}`)
    return { ids: page.entries.map(({ sessionId }) => sessionId), next: page.nextCursor }
  }
  const first = await list('limit=3')
  const second = await list(`limit=3&cursor=${first.next}`)
  t.same([...first.ids, ...second.ids], ids)
  t.equal(second.next, null)
  t.same(
    (await list('from=2027-11-01T00:00:01.000Z&to=2027-11-01T00:00:03.000Z')).ids,
    ids.slice(2, 4),
    'to is exclusive',
  )
  t.same((await list('status=completed')).ids, [])
  t.equal((await list('status=queued&kind=browser')).ids.length, 5)
  t.same((await list('kind=inbound')).ids, [])
  const wrong = [
    'limit=0',
    'limit=101',
    'limit=x',
    'status=gone',
    'kind=x',
    'agent=x',
    'from=yesterday',
    'cursor=eA',
    'cursor=',
  ]
  for (const query of wrong)
    t.match(faultOf(await call(acme, 'GET', `/v1/sessions?${query}`)), { status: 400, code: 'VALIDATION_ERROR' }, query)
})

const itemFields = [
  ...['id', 'call_id', 'resource_uri', 'agent_id', 'status', 'kind', 'room_name', 'language'],
  ...['created_at', 'ended_at', 'duration_seconds', 'recording_status'],
]

t.test("listAgentCalls returns the contract's fields, and its page cursor has microseconds", async (t) => {
  const acme = await admin.organization('calls of an agent')
  const wanted = { name: 'A', systemPrompt: 'x', intent: { language: 'en' } }
  const { id: agentId } = (await call(acme, 'POST', '/v1/agents', wanted)).json<{ id: string }>()
  const createdAtMs = Date.parse('2028-11-01T00:00:00.000Z')
  for (let index = 0; index < 5; index++) await admin.store.calls.insert(newCall(acme.id, { createdAtMs, agentId }), {})
  type Page = { calls: { id: string }[]; entries: { id: string }[]; next_cursor: string | null }
  const path = `/v1/agents/${agentId}/calls`
  const first = await get<Page>(acme, `${path}?limit=2`)
  t.same(first.calls, first.entries)
  t.same(Object.keys(first.calls[0] ?? {}).sort(), [...itemFields].sort(), 'these fields alone')
  t.equal(first.next_cursor, '2028-11-01T00:00:00.000003Z')
  const rest = await get<Page>(acme, `${path}?cursor=${first.next_cursor}`)
  t.equal(rest.calls.length, 3)
  t.equal(rest.next_cursor, null)
  t.equal((await get<Page>(acme, `${path}?since=2028-11-01T00:00:00.000004Z`)).calls.length, 1)
  for (const query of ['cursor=x', 'limit=0', 'limit=101'])
    t.match(faultOf(await call(acme, 'GET', `${path}?${query}`)), { status: 400, code: 'VALIDATION_ERROR' }, query)
  for (let index = 5; index < 101; index++)
    await admin.store.calls.insert(newCall(acme.id, { createdAtMs, agentId }), {})
  t.equal((await get<Page>(acme, path)).calls.length, 50, 'a page without a limit')
  t.equal((await get<Page>(acme, `${path}?limit=100`)).calls.length, 100)
  await call(acme, 'DELETE', `/v1/agents/${agentId}`)
  t.equal((await call(acme, 'GET', path)).status, 404)
  t.equal((await call(acme, 'GET', `/v1/calls/${first.calls[0]?.id}`)).json<{ agent_id: string }>().agent_id, agentId)
})

/** Times in RFC 3339 form, at the limits of real times. */
const times: [time: string, status: number][] = [
  ['0001-01-01T00:00:00Z', 200],
  ['9999-12-31T23:59:59.999Z', 200],
  ['2026-01-01T00:00:00.123456789Z', 200],
  ['0000-12-31T23:59:59Z', 400],
  ['0000-01-01T00:00:00+23:59', 400],
  ['9999-12-31T23:59:59-23:59', 400],
  ['2016-12-31T23:59:60Z', 400],
  ['2026-02-30T00:00:00Z', 400],
  ['yesterday', 400],
]

t.test('time parameters of list queries accept valid RFC 3339 times, and refuse all other values', async (t) => {
  const acme = await admin.organization('times')
  const wanted = { name: 'A', systemPrompt: 'x', intent: { language: 'en' } }
  const { id } = (await call(acme, 'POST', '/v1/agents', wanted)).json<{ id: string }>()
  for (const [time, status] of times)
    for (const [path, param] of [
      ['/v1/sessions', 'from'],
      ['/v1/sessions', 'to'],
      [`/v1/agents/${id}/calls`, 'cursor'],
      [`/v1/agents/${id}/calls`, 'since'],
    ] as const) {
      const answer = await call(acme, 'GET', `${path}?${param}=${encodeURIComponent(time)}`)
      const title = `${param} ${time}`
      t.equal(answer.status, status, title)
      if (status === 400) t.match(faultOf(answer), { code: 'VALIDATION_ERROR', paths: [param] }, title)
    }
})

t.test('each filter of listSessions is accepted at its limit and refused beyond its limit', async (t) => {
  const acme = await admin.organization('filters')
  const wanted = { name: 'A', systemPrompt: 'x', intent: { language: 'en' } }
  const { id: agentId } = (await call(acme, 'POST', '/v1/agents', wanted)).json<{ id: string }>()
  const createdAtMs = Date.parse('2029-01-01T00:00:00.000Z')
  for (let at = 0; at < 101; at++) {
    const more = { createdAtMs: createdAtMs + at, agentId: at % 2 === 0 ? agentId : null }
    await admin.store.calls.insert(newCall(acme.id, { ...more, kind: at % 4 === 0 ? 'inbound' : 'browser' }), {})
  }
  const count = async (query: string) => {
    const page = await get<{ entries: object[]; nextCursor: string | null }>(acme, `/v1/sessions?${query}`)
    return [page.entries.length, page.nextCursor !== null]
  }
  t.same(await count(''), [20, true])
  t.same(await count('limit=1'), [1, true])
  t.same(await count('limit=100'), [100, true])
  t.same(await count(`limit=100&agent=${agentId}`), [51, false])
  t.same(await count(`limit=100&agent=${agentId}&kind=inbound`), [26, false], 'filters are ANDed')
  t.same(await count(`limit=100&agent=${agentId}&kind=inbound&status=failed`), [0, false])
  t.same(await count('limit=100&from=2029-01-01T00:00:00.100Z'), [1, false], 'from is inclusive')
  t.same(await count('limit=100&to=2029-01-01T00:00:00.001Z'), [1, false], 'to is exclusive')
  t.same(await count('limit=100&from=2029-01-01T00:00:00.050Z&to=2029-01-01T00:00:00.050Z'), [0, false])
})
