/** Tests the limits for live sessions, which differ from the limits for requests. */
import t from 'tap'
import { until } from '../process/machine.ts'
import { ask, postJson, responses, type Target } from '../router/requests.ts'
import { refusalOf } from '../session/refused-join.ts'
import { loopbackProviders, Page, startSession } from '../session/voice-session.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t, { PARLEY_PROVIDERS: loopbackProviders })

const requested = (target: Target) =>
  postJson(target, responses, ask('Hello.', { routing: { mode: 'explicit', model: 'loopback/loopback' } }))
const started = (target: Target) => call(target, 'POST', '/v1/sessions', { intent: { language: 'en' } })

t.test('maxSessions counts joined sessions, and maxConcurrency counts requests and streams', async (t) => {
  const acme = await admin.organization('limited')
  await admin.store.organizations.change(acme.id, { maxConcurrency: 1, maxSessions: 1 })
  await until('the limits hold', async () => (await admin.store.organizations.find(acme.id))?.maxSessions === 1)
  const unjoined = await startSession(acme)
  const page = await Page.join(acme)
  t.equal((await requested(acme)).status, 200, 'the one session is no request')
  const refused = await started(acme)
  t.match(faultOf(refused), { status: 429, code: 'CONCURRENCY_EXHAUSTED' })
  t.match(refused.headers.get('retry-after'), /^\d+$/)
  t.same(await refusalOf(unjoined), [429, 'CONCURRENCY_EXHAUSTED'], 'before the upgrade')
  page.send({ type: 'end' })
  t.match(await page.first('end'), { reason: 'user_hangup' })
  await until('there is room again', async () => (await started(acme)).status === 201)
})

t.test('maxConcurrency of an API key counts sessions and requests together', async (t) => {
  const { id } = await admin.organization('one at a time')
  const policy = { maxConcurrency: 1 }
  const wanted = { organizationId: id, name: 'small', scopes: ['router', 'platform'] as const, test: false }
  const made = await admin.store.keys.create({ ...wanted, policy, expiresAtMs: null })
  const small = { url: parley.url, key: made?.secret ?? '' }
  const unjoined = await startSession(small)
  const page = await Page.join(small)
  t.same(await refusalOf(unjoined), [429, 'CONCURRENCY_EXHAUSTED'])
  t.match(faultOf(await started(small)), { status: 429, code: 'CONCURRENCY_EXHAUSTED' })
  t.equal((await requested(small)).status, 429)
  page.send({ type: 'user_message', text: 'a turn needs no lease' })
  const isAnswer = (text: unknown) => text === 'a turn needs no lease'
  await until('the turn was answered', () =>
    Promise.resolve(page.all('agent_message').some((frame) => frame['isFinal'] && isAnswer(frame['text']))),
  )
  page.send({ type: 'end' })
  await page.first('end')
  await until('the lease is free', async () => (await requested(small)).status === 200)
})
