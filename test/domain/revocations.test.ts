import t from 'tap'
import { type Grant, Revocations } from '../../domain/access/revocations.ts'
import type { Caller } from '../../domain/records/organization.ts'
import { settled, TestClock } from '../clock.ts'
import { caller } from './fakes.ts'

function setup() {
  const clock = new TestClock()
  const state = { fails: false, callers: new Map<string, Caller[]>(), reads: [] as string[][], ended: [] as string[] }
  let changed: (organizationId: string | null) => void = () => {}
  const log: string[] = []
  const revocations = new Revocations({
    changes: {
      watch: (run) => {
        changed = run
      },
    },
    keys: {
      findEach: (organizationId, keyIds) => {
        state.reads.push([organizationId, ...keyIds])
        if (state.fails) return Promise.reject(new Error('away'))
        return Promise.resolve(keyIds.flatMap((keyId) => state.callers.get(keyId) ?? []))
      },
    },
    clock,
    log: { info() {}, warn() {}, error: (_fields, message) => void log.push(message) },
  })
  t.teardown(() => revocations.close())
  const watch = (keyId: string, more: Partial<Grant> = {}) => {
    const grant = { organizationId: 'org_1', keyId, access, ...more }
    return revocations.watch(grant, () => void state.ended.push(keyId))
  }
  /** Sets the authenticated clients of the API key, one for each of its secrets. */
  const add = (keyId: string, ...secrets: Partial<Caller>[]) => {
    const callers = secrets.length === 0 ? [{}] : secrets
    state.callers.set(
      keyId,
      callers.map((more) => ({ ...caller({}), scopes: ['realtime'], ...more, keyId })),
    )
  }
  return {
    clock,
    state,
    log,
    watch,
    add,
    close: () => revocations.close(),
    change: (organizationId: string | null) => changed(organizationId),
  }
}

const access = { scope: 'realtime', role: 'member' }
const enabled = caller({}).organization

t.test('after a change of an organization, open streams and sessions of its invalid API keys end', async (t) => {
  const { state, watch, add, change } = setup()
  add('good')
  add('scopeless', { scopes: ['router'] })
  add('disabled', { organization: { ...enabled, isDisabled: true } })
  for (const keyId of ['good', 'gone', 'scopeless', 'disabled']) watch(keyId)
  watch('of another', { organizationId: 'org_2' })
  change('org_1')
  await settled()
  t.same(state.ended, ['gone', 'scopeless', 'disabled'])
  t.same(state.reads, [['org_1', 'good', 'gone', 'scopeless', 'disabled']])
  change('org_1')
  await settled()
  t.same(state.reads.at(-1), ['org_1', 'good'], 'the others have ended')
})

t.test('if change notifications may be lost, the keys of all organizations are read', async (t) => {
  const { state, watch, change } = setup()
  watch('a')
  watch('b', { organizationId: 'org_2' })
  change(null)
  await settled()
  t.same(state.ended, ['a', 'b'])
})

t.test('a stream or session that has ended is not ended again, and its API key is not read', async (t) => {
  const { state, watch, change } = setup()
  const stop = watch('a')
  stop()
  stop()
  change('org_1')
  await settled()
  t.same([state.reads, state.ended], [[], []])
})

t.test('a failed read of API keys is retried until it succeeds', async (t) => {
  const { clock, state, log, watch, change } = setup()
  watch('a')
  state.fails = true
  change('org_1')
  await clock.advance(1100)
  t.same(state.ended, [])
  t.equal(state.reads.length, 3)
  t.equal(log.length, 3)
  state.fails = false
  await clock.advance(500)
  t.same(state.ended, ['a'])
})

t.test('a stream is checked at its start if its API key may have changed during its admission', async (t) => {
  const { clock, state, add, watch, change } = setup()
  watch('before')
  await settled()
  t.same(state.reads, [], 'nothing has changed')
  add('before')
  change('org_1')
  await settled()
  watch('revoked meanwhile')
  watch('of another', { organizationId: 'org_2' })
  await settled()
  t.same(state.ended, ['revoked meanwhile'])
  await clock.advance(60_000)
  const { length } = state.reads
  watch('later')
  await settled()
  t.equal(state.reads.length, length)
})

t.test('the API keys of at most eight organizations are read at the same time', async (t) => {
  const { state, watch, change } = setup()
  for (let at = 0; at < 30; at += 1) watch(`key_${at}`, { organizationId: `org_${at}` })
  change(null)
  t.equal(state.reads.length, 8)
  await settled()
  t.equal(state.ended.length, 30)
})

t.test('the open streams and sessions of a user end when the user gets a lower role', async (t) => {
  const { state, watch, add, change } = setup()
  for (const [user, role] of [
    ['usr_1', 'viewer'],
    ['usr_2', 'member'],
  ] as const) {
    add(user, { role, scopes: ['realtime', 'platform'] })
    watch(user)
  }
  change('org_1')
  await settled()
  t.same(state.ended, ['usr_1'])
})

t.test('a read of API keys that fails after close() is not retried', async (t) => {
  const { clock, state, log, watch, add, change, close } = setup()
  add('key_1')
  watch('key_1')
  state.fails = true
  change('org_1')
  close()
  await settled()
  await clock.advance(10_000)
  t.equal(state.reads.length, 1)
  t.same(log, [])
  t.equal(clock.timers, 0)
})

const secret = (id: string, endsAtMs: number | null = null) => ({ secret: { id, endsAtMs } })

t.test("streams with a rotated secret end when the secret expires; the API key's other streams go on", async (t) => {
  const { clock, state, watch, add, change } = setup()
  add('key_1', secret('old'))
  for (const grant of [secret('old'), secret('new'), {}]) watch('key_1', grant)
  add('key_1', secret('new'), secret('old', clock.nowMs() + 3_600_000))
  change('org_1')
  await clock.advance(3_600_000 - 1)
  t.same(state.ended, [])
  await clock.advance(1)
  t.same(state.ended, ['key_1'])
  add('key_1', secret('newer'))
  change('org_1')
  await settled()
  t.same(state.ended, ['key_1', 'key_1'])
})

t.test(
  "a stream ends when its API key's secret expires, even after months, or earlier if the expiry was brought forward",
  async (t) => {
    const { clock, state, watch, add, change, close } = setup()
    const dayMs = 86_400_000
    const endsAtMs = clock.nowMs() + 90 * dayMs
    watch('late', secret('a', endsAtMs))
    watch('over', secret('b', clock.nowMs() - 1))
    add('early', secret('c', clock.nowMs() + dayMs))
    watch('early', secret('c', endsAtMs))
    add('late', secret('a', endsAtMs))
    change('org_1')
    await clock.advance(dayMs)
    t.same(state.ended, ['over', 'early'])
    for (let day = 2; day < 90; day++) await clock.advance(dayMs)
    t.same(state.ended, ['over', 'early'])
    await clock.advance(dayMs)
    t.same(state.ended, ['over', 'early', 'late'])
    watch('closing', secret('d', clock.nowMs() + dayMs))
    close()
    t.equal(clock.timers, 0)
  },
)
