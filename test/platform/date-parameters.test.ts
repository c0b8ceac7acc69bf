/**
 * Tests every date-time parameter in a query at the smallest and largest valid times: it is accepted or refused with
 * 400, and never causes an internal error.
 */
import t from 'tap'
import { newCall } from '../calls/call.ts'
import { call, startAdministered } from './setup.ts'

const { admin } = await startAdministered(t)
const acme = await admin.organization('with odd times', { scopes: ['platform', 'admin'] })

type Parameter = { name: string; in: string; schema?: { format?: string } }
type Document = { paths: Record<string, Record<string, { parameters?: Parameter[] }>> }

/** The smallest and largest times in Postgres and Date, their neighbours, and offsets beyond them. */
const odd = [
  '0000-12-31T23:59:59Z',
  '0001-01-01T00:00:00Z',
  '0001-01-01T00:00:00.000001Z',
  '0001-01-01T00:00:00+23:59',
  '0001-01-02T00:00:01Z',
  '0001-01-30T23:59:59Z',
  '0001-02-01T00:00:00Z',
  '1582-10-10T00:00:00Z',
  '1969-12-31T23:59:59.999999Z',
  '9999-12-31T23:59:59.999999Z',
  '9999-12-31T23:59:59-23:59',
]

const wanted = { name: 'A', systemPrompt: 'x', intent: { language: 'en' } }
const agent = (await call(acme, 'POST', '/v1/agents', wanted)).json<{ id: string }>().id
const stored = newCall(acme.id)
await admin.store.calls.insert(stored, {})
const { paths } = (await call(acme, 'GET', '/openapi/platform.json')).json<Document>()

/** The query parameters of type date-time, such as `to` at `/v1/usage`. */
const timesOf = Object.entries(paths).flatMap(([path, { get }]) =>
  (get?.parameters ?? [])
    .filter((parameter) => parameter.in === 'query' && parameter.schema?.format === 'date-time')
    .map(({ name }) => ({ name, path: path.replace('/agents/{id}', `/agents/${agent}`).replace('{id}', stored.id) })),
)

t.test('this test finds the known time parameters in the OpenAPI document', (t) => {
  const names = timesOf.map(({ path, name }) => `${path.split('/')[2]} ${name}`)
  for (const known of ['usage from', 'usage to', 'agents cursor', 'agents since', 'sessions from', 'sessions to'])
    t.ok(names.includes(known), known)
  t.end()
})

for (const { path, name } of timesOf)
  t.test(`${path.replace(agent, 'id')} ${name}: each odd time is accepted or refused with 400`, async (t) => {
    for (const time of odd) {
      const { status, text } = await answerOf(`${path}?${name}=${encodeURIComponent(time)}`)
      t.ok([200, 400].includes(status), `${time}: ${status} ${text.slice(0, 120)}`)
    }
  })

/** Reads the answer. A stream of events has no end, so it is closed after its head. */
async function answerOf(address: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(acme.url + address, { headers: { authorization: `Bearer ${acme.key}` } })
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (isStream) await answer.body?.cancel()
  return { status: answer.status, text: isStream ? '' : await answer.text() }
}

t.test('if the default 30 days of usage would begin before year 1, usage begins with year 1', async (t) => {
  const answer = await call(acme, 'GET', '/v1/usage?to=0001-01-02T00:00:01Z')
  t.match(answer.json(), { from: '0001-01-01T00:00:00.000Z', to: '0001-01-02T00:00:01.000Z', rows: [] })
  const first = await call(acme, 'GET', '/v1/usage?to=0001-01-01T00:00:00Z')
  t.match(first.json(), { code: 'VALIDATION_ERROR', issues: [{ path: 'to' }] }, 'no time is before it')
})
