/** The time limit of a provider check, and keys that change meanwhile. */
import t from 'tap'
import type { ProviderKeys } from '../../domain/access/provider-keys.ts'
import { SealError } from '../../domain/access/seal-error.ts'
import { Catalog } from '../../domain/catalog/catalog.ts'
import { createCheckProvider } from '../../domain/dispatch/check-provider.ts'
import type { KeyCheck } from '../../domain/ports/provider.ts'
import type { CancelSignal } from '../../domain/ports/system.ts'
import { TestClock } from '../clock.ts'
import { failure, hang, model, provider } from './fakes.ts'

const tenant = { organizationId: 'org_1', test: false }

function setup(send: KeyCheck['send'], { needsKey = true, open = () => 'opened' }: Partial<SetupOptions> = {}) {
  const keyCheck = { send, needsKey }
  const clock = new TestClock()
  const warned: object[] = []
  const log = { info: () => {}, error: () => {}, warn: (fields: object) => void warned.push(fields) }
  const acme = { ...provider('acme', [model('llm')]), ports: { keyCheck }, forKey: () => ({ keyCheck }) }
  const check = createCheckProvider({
    catalog: new Catalog([acme]),
    keys: { open, list: () => Promise.resolve({ acme: 'pkey_1' }) },
    attempts: { admit: () => Promise.resolve(null) },
    clock,
    log,
  })
  return { clock, warned, check: () => check(tenant, 'acme') }
}

type SetupOptions = { needsKey: boolean; open: ProviderKeys['open'] }

const errorOf = ({ check }: ReturnType<typeof setup>): Promise<unknown> => check().catch((error: unknown) => error)

t.test('a check waits 10 s, and then ends its request', async (t) => {
  const signals: CancelSignal[] = []
  const { clock, warned, check } = setup((signal) => {
    signals.push(signal)
    return hang()
  })
  const checking = check()
  await clock.advance(9_999)
  t.equal(signals[0]?.aborted, false)
  await clock.advance(1)
  t.same(await checking, { outcome: 'timeout', proves: null, providerStatus: null, durationMs: 10_000 })
  t.match(signals, [{ aborted: true, owner: 'org_1' }])
  t.match(warned, [{ organizationId: 'org_1', provider: 'acme', outcome: 'timeout' }])
  t.equal(clock.timers, 0)
})

t.test('a check that has ended leaves no timer, and is not limited by earlier checks', async (t) => {
  const { clock, check } = setup(() => Promise.resolve(200))
  for (let checks = 0; checks < 10; checks++)
    t.same(await check(), { outcome: 'succeeded', proves: 'key', providerStatus: 200, durationMs: 0 })
  t.equal(clock.timers, 0)
})

t.test(
  'a server that may answer without a key proves only its address, unless it refuses with words about the key',
  async (t) => {
    const proved = async (status: number) =>
      (await setup(() => Promise.resolve(status), { needsKey: false }).check()).proves
    t.equal(await proved(200), 'address')
    t.equal(await proved(403), 'key')
  },
)

t.test('failures that a check cannot have by its content count as similar ones', async (t) => {
  for (const [errorClass, outcome] of [
    ['unsupported', 'bad_request'],
    ['empty', 'protocol'],
    ['cancelled', 'unreachable'],
  ] as const)
    t.match(await setup(() => Promise.reject(failure(errorClass))).check(), { outcome })
})

t.test('a defect of this server is no outcome of a check', async (t) => {
  t.match(await errorOf(setup(() => Promise.reject(new TypeError('a defect')))), { isOurDefect: true })
})

t.test(
  'a key that was replaced meanwhile is not found, and a key that cannot be decrypted fails the check',
  async (t) => {
    const send = () => Promise.resolve(200)
    t.match(await errorOf(setup(send, { open: () => null })), {
      data: { kind: 'provider_check_impossible', because: 'no_key' },
    })
    const sealed = setup(send, { open: () => Promise.reject(new SealError('another master key')) })
    await t.rejects(sealed.check(), SealError)
  },
)

t.test(
  'the fault for a provider without models differs from the faults for an unknown provider and a test key',
  async (t) => {
    const check = createCheckProvider({
      catalog: new Catalog([provider('ollama', [])]),
      keys: { open: () => null, list: () => Promise.resolve({}) },
      attempts: { admit: () => Promise.resolve(null) },
      clock: new TestClock(),
      log: { info: () => {}, error: () => {}, warn: () => {} },
    })
    for (const [given, id, because] of [
      [tenant, 'ollama', 'no_models'],
      [tenant, 'nobody', 'no_key'],
      [{ ...tenant, test: true }, 'ollama', 'test_key'],
    ] as const)
      t.match(await check(given, id).catch((error: unknown) => error), {
        data: { kind: 'provider_check_impossible', because },
      })
  },
)
