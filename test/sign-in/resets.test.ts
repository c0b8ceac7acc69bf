/** Password-reset links. */
import t from 'tap'
import { systemClock } from '../../runtime/timing/clock.ts'
import { runCommand } from '../command.ts'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import { ownServer } from '../server.ts'
import { Browser } from './browser.ts'
import { startMailSink, tokenIn } from './mail-sink.ts'
import { firstPerson, password, signIn } from './setup.ts'

let passedMs = 0
const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + passedMs }
const sink = await startMailSink(t)
const parley = await ownServer(t, sink.env, { clock })
const sql = openDatabase(parley)
t.teardown(() => sql.end())
await firstPerson(parley.url)
const next = 'four other words of mine'
const dead = { status: 410, code: 'LINK_EXPIRED' }
const page = () => new Browser(parley.url)
const forgot = (email: string) => page().post('/console/auth/password/forgot', { email })
const reset = (token: string, given = next) => page().post('/console/auth/password/reset', { token, password: given })

/** Waits for the next mail and returns it. */
async function mailAfter(ask: () => Promise<unknown>) {
  const before = sink.mails.length
  await ask()
  await until('a mail came', () => Promise.resolve(sink.mails.length > before))
  return sink.mails[before]
}

t.test('forgotPassword responds alike for every email address, and mails a link only to a user', async (t) => {
  const answers: object[] = []
  const mail = await mailAfter(async () => {
    answers.push(await forgot('nobody@example.com'), await forgot('ANN@example.com'))
  })
  for (const answer of answers) t.match(answer, { status: 202, body: {} })
  t.equal(mail?.to, 'ann@example.com')
  t.equal(sink.mails.length, 1, 'nobody gets no mail')
  t.match(mail?.text, `${parley.url}/console/reset#`)
  const [row] = await sql<{ digest: Buffer }[]>`select digest from password_resets`
  t.notMatch(JSON.stringify(row), tokenIn(mail?.text ?? ''))
})

t.test('a reset link works once; resetPassword ends all sessions and the waits after wrong passwords', async (t) => {
  const browser = page()
  await signIn(browser, 'ann@example.com')
  for (let at = 0; at < 6; at += 1) await signIn(page(), 'ann@example.com', 'a wrong password of mine')
  t.match(await signIn(page(), 'ann@example.com'), { status: 429 })
  const token = tokenIn((await mailAfter(() => forgot('ann@example.com')))?.text ?? '')
  t.match(await reset(token, 'aaaaaaaaaaaaaaaaaa'), { status: 400, code: 'VALIDATION_ERROR' })
  const headers = { 'sec-fetch-site': 'cross-site' }
  t.match(await page().post('/console/auth/password/reset', { token, password: next }, headers), { status: 403 })
  const notice = await mailAfter(async () => t.equal((await reset(token)).status, 204))
  t.match(notice?.text, 'Your password has changed')
  t.equal((await browser.get('/v1/organization')).status, 401)
  t.match(await reset(token), dead)
  t.equal((await signIn(page(), 'ann@example.com', next)).status, 200)
  t.match(await signIn(page(), 'ann@example.com'), { status: 401 }, 'the old password')
})

t.test('a password-reset link is valid for an hour, and until another link of the user is used', async (t) => {
  passedMs += 3_600_000
  const [first, second] = await Promise.all(
    ['reset', 'reset'].map(async (command) =>
      tokenIn((await runCommand(parley, ['users', command, 'ann@example.com'])).stdout),
    ),
  )
  passedMs += 3_600_000
  t.match(await reset(first ?? ''), dead)
  const fresh = tokenIn((await runCommand(parley, ['users', 'reset', 'ann@example.com'])).stdout)
  t.match(await reset(second ?? ''), dead)
  // The command uses the system clock, so its link has expired by this server's clock.
  t.match(await reset(fresh), dead)
  passedMs = 0
  const [one, two] = [tokenIn((await runCommand(parley, ['users', 'reset', 'ann@example.com'])).stdout), fresh]
  t.equal((await reset(one, password)).status, 204)
  t.match(await reset(two, next), dead)
})

t.test('`users reset` prints a password-reset link, even for a user without a password', async (t) => {
  await runCommand(parley, ['users', 'create', 'bob@example.com', '--org', 'local'])
  const made = await runCommand(parley, ['users', 'reset', 'bob@example.com'])
  t.match(made.stdout, /^http:\/\/\S+\/console\/reset#[\w-]{43}\n$/)
  t.equal((await reset(tokenIn(made.stdout))).status, 204)
  t.equal((await signIn(page(), 'bob@example.com', next)).status, 200)
  t.match(await runCommand(parley, ['users', 'reset', 'nobody@example.com']), { code: 1, stderr: /no person/ })
})

t.test('an email address gets at most three password-reset links in an hour', async (t) => {
  passedMs = 2 * 3_600_000
  for (let at = 0; at < 3; at += 1) await mailAfter(() => forgot('bob@example.com'))
  const count = sink.mails.length
  await forgot('bob@example.com')
  // The next mail goes to another person, so the fourth reset link was not mailed.
  t.equal((await mailAfter(() => forgot('ann@example.com')))?.to, 'ann@example.com')
  t.equal(sink.mails.length, count + 1)
})

t.test('a user has at most ten open password-reset links, because anybody may request them', async (t) => {
  for (let at = 0; at < 15; at += 1) await forgot('bob@example.com')
  await mailAfter(() => forgot('ann@example.com'))
  const count = async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from password_resets r join users u on u.id = r.user_id
      where u.email = 'bob@example.com' and r.expires_at > ${new Date(clock.nowMs())}`
    return row?.count
  }
  await until('ten links are stored', async () => (await count()) === 10)
  t.match((await runCommand(parley, ['users', 'reset', 'bob@example.com'])).stdout, /reset#/, 'the operator makes more')
})

t.test('a mail server in the settings needs a sender address, and user and password only together', async (t) => {
  await t.rejects(ownServer(t, { PARLEY_SMTP_HOST: '127.0.0.1' }), /smtp\.from: is required/)
  await t.rejects(ownServer(t, { ...sink.env, PARLEY_SMTP_USER: 'parley' }), /smtp: user and password belong together/)
})
