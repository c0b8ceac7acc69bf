/**
 * Password guesses are slowed down, and a sign-in with an unknown email address does the same work as one with a known
 * address.
 */
import t from 'tap'
import { createLockOut } from '../../domain/access/sign-in/lock-out.ts'
import type { PasswordHashes } from '../../domain/access/sign-in/passwords.ts'
import { createSignIn } from '../../domain/access/sign-in/sign-in.ts'
import { createSigner } from '../../domain/access/signer.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { WorkQueue } from '../../runtime/shares/work-queue.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { createPasswordHasher } from '../../runtime/values/password-hash.ts'
import { openAdministration } from '../platform/setup.ts'
import { ownServer } from '../server.ts'
import { Browser } from './browser.ts'
import { firstPerson, password, signIn } from './setup.ts'

const hourMs = 3_600_000
let passedMs = 0
const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + passedMs }
const parley = await ownServer(t, {}, { clock })
const admin = await openAdministration(parley)
t.teardown(() => admin.close())
await firstPerson(parley.url)
const wrong = (email = 'ann@example.com') => signIn(new Browser(parley.url), email, 'a wrong password of mine')
const failed = { status: 401, code: 'SIGN_IN_FAILED' }
const blocked = { status: 429, code: 'RATE_LIMITED' }
const here = '127.0.0.1'
const hashQueue = () => new WorkQueue({ runningMax: 4, waitingMax: 32 }, { owners: new Owners(), part: 1 })
const waitOf = ({ headers }: { headers: Record<string, unknown> }) => Number(headers['retry-after'])

t.test('after repeated wrong passwords a sign-in must wait ever longer, even with the right password', async (t) => {
  for (let at = 0; at < 5; at += 1) t.match(await wrong(), failed)
  for (const waitS of [1, 2, 4, 8, 16]) {
    const refused = await wrong()
    t.match(refused, blocked)
    t.equal(waitOf(refused), waitS)
    t.match(await signIn(new Browser(parley.url), 'ann@example.com'), blocked, 'the right password waits too')
    passedMs += waitS * 1000
    t.match(await wrong(), failed)
  }
  t.equal(waitOf(await wrong()), 32)
  passedMs += 32_000
  t.equal((await signIn(new Browser(parley.url), 'ann@example.com')).status, 200)
  for (let at = 0; at < 5; at += 1) t.match(await wrong(), failed, 'a success forgets the failures')
  t.equal(waitOf(await wrong()), 1)
  passedMs += 24 * hourMs
})

t.test('sign-ins with an unknown email address are blocked in the same way', async (t) => {
  for (let at = 0; at < 5; at += 1) t.match(await wrong('nobody@example.com'), failed)
  t.match(await wrong('nobody@example.com'), blocked)
  passedMs += 24 * hourMs
})

t.test('parallel password guesses cannot bypass the wait', async (t) => {
  const seen = await Promise.all(Array.from({ length: 12 }, () => wrong()))
  const statuses = seen.map(({ status }) => status)
  t.equal(statuses.filter((status) => status === 401).length, 5)
  t.equal(statuses.filter((status) => status === 429).length, 7)
  passedMs += 24 * hourMs
})

t.test('an IP address is blocked after 30 failed sign-ins in ten minutes', async (t) => {
  for (let at = 0; at < 30; at += 1) t.match(await wrong(`person${at}@example.com`), failed)
  const refused = await wrong('person30@example.com')
  t.match(refused, blocked)
  t.ok(waitOf(refused) > 500 && waitOf(refused) <= 600)
  t.match(await signIn(new Browser(parley.url), 'ann@example.com'), blocked)
  passedMs += 10 * 60_000
  t.equal((await signIn(new Browser(parley.url), 'ann@example.com')).status, 200)
})

t.test('if the 30th attempt from an IP address has the right password, the address is not blocked', async (t) => {
  for (let at = 0; at < 29; at += 1) t.match(await wrong(`stranger${at}@example.com`), failed)
  for (let at = 0; at < 2; at += 1)
    t.equal((await signIn(new Browser(parley.url), 'ann@example.com')).status, 200, 'the 30th attempt is no failure')
  t.match(await wrong('stranger29@example.com'), failed)
  t.match(await wrong('stranger30@example.com'), blocked)
  passedMs += 24 * hourMs
})

t.test(
  'an attempt whose password was not checked does not count as a wrong password, and does not reset the count',
  async (t) => {
    const lockOut = createLockOut(admin.store.signInAttempts, createSigner('a key', 'refunds'), systemClock)
    const attempt = (check: () => Promise<null>) => lockOut.attempt('ann@example.com', '192.0.2.9', check)
    const unchecked = () => attempt(() => Promise.reject(new Error('the queue is full')))
    const wrongPassword = () => attempt(() => Promise.resolve(null))
    for (let at = 0; at < 40; at += 1) await t.rejects(unchecked(), { message: 'the queue is full' })
    for (let at = 0; at < 4; at += 1) await t.rejects(wrongPassword(), { message: 'sign_in_failed' })
    for (let at = 0; at < 3; at += 1) await t.rejects(unchecked(), { message: 'the queue is full' })
    await t.rejects(wrongPassword(), { message: 'sign_in_failed' })
    await t.rejects(wrongPassword(), { message: 'attempts_blocked' }, 'the fifth wrong password')
  },
)

t.test('sign-in computes one hash even for an unknown email address or a user without a password', async (t) => {
  const real = createPasswordHasher(hashQueue())
  const verified: string[] = []
  const hashes: PasswordHashes = {
    ...real,
    verify(stored, given, source) {
      verified.push(stored)
      return real.verify(stored, given, source)
    },
  }
  const { people, personSessions: sessions, signInAttempts, users } = admin.store
  await users.create((await admin.organization('shop')).id, 'nopassword@example.com', 'member')
  const lockOut = createLockOut(signInAttempts, createSigner('a key', 'test'), systemClock)
  const quiet = { failures: { note: () => Promise.resolve() }, log: { error: () => {}, warn: () => {} } }
  const session = { sessions, sessionS: 60, isSetupCode: () => false }
  const rules = createSignIn({ people, hashes, lockOut, clock, ...session, ...quiet })
  const parametersOf = (stored: string) => stored.split('$').slice(1, 4)
  for (const email of ['ann@example.com', 'nobody@example.com', 'nopassword@example.com']) {
    verified.length = 0
    const attempt = rules.signIn(
      { email, password: 'a wrong password of mine', organizationId: null },
      { ip: '192.0.2.1', userAgent: null },
    )
    await t.rejects(attempt, { message: 'sign_in_failed' })
    t.same(verified.map(parametersOf), [['argon2id', 'v=19', 'm=19456,t=2,p=1']], email)
  }
})

t.test('without argon2 passwords are hashed with scrypt, and rehashed at sign-in once argon2 is back', async (t) => {
  const without = createPasswordHasher(hashQueue(), () => Promise.resolve(null))
  const stored = await without.hash(password, here)
  t.match(stored, /^\$scrypt\$ln=17,r=8,p=1\$/)
  t.equal(await without.verify(stored, password, here), true)
  t.equal(await without.verify(stored, 'another', here), false)
  t.equal(await without.isOutdated(stored), false)
  const sql = admin.store.people
  const person = await sql.find('ann@example.com')
  await sql.rehash(person?.id ?? '', stored, person?.passwordHash ?? '')
  t.equal((await signIn(new Browser(parley.url), 'ann@example.com')).status, 200)
  t.match((await sql.find('ann@example.com'))?.passwordHash, /^\$argon2id\$/)
  await t.rejects(without.verify('$argon2id$v=19$m=1,t=1,p=1$a$b', password, here), /binary does not load/)
})

t.test('if a newer hash cannot be made, the sign-in succeeds, and only an error is logged', async (t) => {
  const queue = hashQueue()
  const real = createPasswordHasher(queue)
  const { people, personSessions: sessions, signInAttempts } = admin.store
  const lockOut = createLockOut(signInAttempts, createSigner('a key', 'rehash'), systemClock)
  const warnings: unknown[] = []
  const quiet = {
    ...{ failures: { note: () => Promise.resolve() }, sessionS: 60, isSetupCode: () => false },
    log: { error: () => {}, warn: (fields: unknown) => warnings.push(fields) },
  }
  const stored = await createPasswordHasher(hashQueue(), () => Promise.resolve(null)).hash(password, here)
  const person = await people.find('ann@example.com')
  await people.rehash(person?.id ?? '', stored, person?.passwordHash ?? '')
  const signInWith = (hashes: PasswordHashes) =>
    createSignIn({ people, sessions, hashes, lockOut, clock, ...quiet }).signIn(
      { email: 'ann@example.com', password, organizationId: null },
      { ip: here, userAgent: null },
    )

  const noMemory = new Error('no memory')
  t.ok(await signInWith({ ...real, hashUnlessBusy: () => Promise.reject(noMemory) }))
  t.same(warnings, [{ err: noMemory, userId: person?.id }])

  let free = () => {}
  const isFree = new Promise<void>((resolve) => (free = resolve))
  const isOutdated = (hash: string) => {
    while (queue.run(here, () => isFree) !== null);
    return real.isOutdated(hash)
  }
  t.ok(await signInWith({ ...real, isOutdated }))
  free()
  t.equal(warnings.length, 1, 'a full queue is no error')
  t.equal((await people.find('ann@example.com'))?.passwordHash, stored)
})
