/** The limits of live sessions, and how they differ from those of requests. */
import t from 'tap'
import { startParley } from '../process/parley.ts'
import { loopbackProviders, Page, startSession } from '../process/voice-session.ts'
import { ask, postJson, responses, type Target } from '../router/requests.ts'
import { call, faultOf, openAdministration } from './setup.ts'

const parley = await startParley({ PARLEY_PROVIDERS: loopbackProviders })
const admin = await openAdministration(parley)
t.teardown(async () => {
  await admin.close()
  await parley.remove()
})

const requested = (target: Target) =>
  postJson(target, responses, ask('Hello.', { routing: { mode: 'explicit', model: 'loopback/loopback' } }))
const started = (target: Target) => call(target, 'POST', '/v1/sessions', { intent: { language: 'en' } })

/** The process knows changed limits 2 s later. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    if (tries > 100) throw new Error(`not yet: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

t.test('maxSessions counts sessions that were joined, maxConcurrency requests and streams', async (t) => {
  const acme = await admin.organization('limited')
  await admin.store.organizations.change(acme.id, { maxConcurrency: 1, maxSessions: 1 })
  await until('the limits hold', async () => (await admin.store.organizations.find(acme.id))?.maxSessions === 1)
  const unjoined = await startSession(acme)
  const page = await Page.join(acme)
  t.equal((await requested(acme)).status, 200, 'the one session is no request')
  const refused = await started(acme)
  t.match(faultOf(refused), { status: 429, code: 'CONCURRENCY_EXHAUSTED' })
  t.match(refused.headers.get('retry-after'), /^\d+$/)
  const late = new Page(unjoined)
  t.match(await late.first('error'), { code: 'RATE_LIMITED', fatal: true, retryable: true })
  await until('the socket is closed', () => Promise.resolve(late.closed !== null))
  t.equal(late.closed, 1013)
  page.send({ type: 'end' })
  t.match(await page.first('end'), { reason: 'user_hangup' })
  await until('there is room again', async () => (await started(acme)).status === 201)
})

t.test('the limit of a key counts sessions and requests', async (t) => {
  const { id } = await admin.organization('one at a time')
  const policy = { maxConcurrency: 1 }
  const wanted = { organizationId: id, name: 'small', scopes: ['router', 'platform'] as const, test: false }
  const made = await admin.store.keys.create({ ...wanted, policy, expiresAtMs: null })
  const small = { url: parley.url, key: made?.secret ?? '' }
  const page = await Page.join(small)
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
