/** Tests the debits for legs on a test clock: each minute is debited once, the rest at the end, and by any process. */
import t from 'tap'
import { chargeLegs } from '../../domain/phone/leg-charges.ts'
import type { Leg } from '../../domain/records/leg.ts'
import { createPriceOfLeg } from '../../domain/records/leg-costs.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { newCall } from '../calls/call.ts'
import { TestClock } from '../clock.ts'
import { organization, TestCluster } from '../store/cluster.ts'
import { creditOf } from '../store/credit.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const creditMicroUsd = 100_000
/** The price per minute. It is not a multiple of 60, so prices per second are rounded. */
const microUsdPerMinute = 7_000

/** Opens two processes on one database. The first process holds a call. */
async function withCall(options: { test?: boolean; price?: number | null } = {}) {
  const { test = false, price = microUsdPerMinute } = options
  const clock = new TestClock()
  const url = await cluster.database()
  const [store, other] = [
    await cluster.store(t, url, { clock, serves: false }),
    await cluster.store(t, url, { clock, serves: false }),
  ]
  const { id: organizationId } = await organization(store, 'a', creditMicroUsd)
  const call = newCall(organizationId, {
    test,
    kind: 'outbound',
    createdAtMs: clock.nowMs(),
    expiresAtMs: clock.nowMs() + 86_400_000,
    phone: {
      direction: 'outbound',
      from: '+15005550100',
      to: '+15005550006',
      forwardedFrom: null,
      phoneNumberId: 'pn_1',
      legId: systemIds.leg(),
    },
  })
  const leg = (more: Partial<Leg> = {}): Leg => ({
    ...{ organizationId, test, id: call.phone?.legId ?? '', callId: call.id, party: 'caller', direction: 'outbound' },
    ...{ line: 'simulator', carrierLegId: null, createdAtMs: clock.nowMs(), answeredAtMs: null, endedAtMs: null },
    microUsdPerMinute: price,
    ...more,
  })
  const caller = leg()
  await store.calls.insertPhoned(call, {}, caller)
  await store.calls.claim(call, call.id, store.instanceId, null)
  const ended: string[] = []
  const conversation = { creditGone: () => void ended.push(call.id) }
  const others = new Set<string>()
  const phones = {
    find: (_tenant: unknown, id: string) => {
      if (others.has(id)) return { conversation: { creditGone: () => void ended.push(id) } }
      return id === call.id ? { conversation } : null
    },
  }
  const chargingOf = ({ legCharges, instanceId }: typeof store) =>
    chargeLegs({ charges: legCharges, phones: phones as never, ownerId: instanceId })
  return {
    clock,
    store,
    call,
    leg,
    caller,
    ended,
    /** Adds another call to the first process. */
    placed: async () => {
      const phone = call.phone && { ...call.phone, legId: systemIds.leg() }
      const next = { ...call, id: systemIds.session(), phone }
      const first = leg({ id: phone?.legId ?? '', callId: next.id })
      await store.calls.insertPhoned(next, {}, first)
      await store.calls.claim(next, next.id, store.instanceId, null)
      others.add(next.id)
      return { id: next.id, caller: first }
    },
    charge: () => chargingOf(store),
    chargeElsewhere: () => chargingOf(other),
    credit: () => creditOf(store, organizationId),
    setCredit: (creditMicroUsd: number) => store.organizations.change(organizationId, { creditMicroUsd }),
    /** Stores the state after the phone line has connected both legs and the call's process has ended. */
    bridge: () => cluster.sql(t, url)`
      with legs as (update call_legs set bridged_at = ${new Date(clock.nowMs())})
      update calls set ended_at = ${new Date(clock.nowMs())}, end_reason = 'transferred'`,
    placedBy: (keyId: string) => cluster.sql(t, url)`update calls set key_id = ${keyId}`,
    uses: () => store.callRecord.legUses(call, call.id),
  }
}

t.test("each full minute of a live leg is debited once, and the rest is debited after the leg's end", async (t) => {
  const { clock, store, caller, charge, chargeElsewhere, credit } = await withCall()
  await clock.advance(90_000)
  await charge()
  t.equal(await credit(), creditMicroUsd, 'ringing costs nothing')
  await store.legs.answered(caller, clock.nowMs())
  await clock.advance(59_999)
  await charge()
  t.equal(await credit(), creditMicroUsd, 'no minute is full')
  await clock.advance(1)
  await Promise.all([charge(), chargeElsewhere(), charge()])
  t.equal(await credit(), creditMicroUsd - 7_000)
  await clock.advance(130_000)
  await charge()
  t.equal(await credit(), creditMicroUsd - 21_000, 'minutes that were missed')
  await store.legs.ended(caller, clock.nowMs())
  await Promise.all([charge(), chargeElsewhere()])
  // The leg has lasted 190 s.
  t.equal(await credit(), creditMicroUsd - Math.ceil((7_000 * 190) / 60))
  await clock.advance(600_000)
  await charge()
  t.equal(await credit(), creditMicroUsd - 22_167, 'a leg that has ended costs no more')
})

t.test(
  'the minutes of a call count for the budget of the key that placed it, and an exhausted budget ends the call',
  async (t) => {
    const { clock, store, call, caller, ended, charge, placedBy } = await withCall()
    const { organizationId } = call
    const wanted = { organizationId, name: '', scopes: ['platform' as const], test: false, expiresAtMs: null }
    const made = await store.keys.create({ ...wanted, policy: { budget: { microUsd: 14_000, period: 'day' } } })
    await placedBy(made?.key.id ?? '')
    await store.legs.answered(caller, clock.nowMs())
    await clock.advance(60_000)
    await charge()
    t.match(await store.keyBudgets.read(organizationId), [{ spentMicroUsd: 7_000, exhaustedAtMs: null }])
    t.same(ended, [])
    await clock.advance(60_000)
    await charge()
    t.match(await store.keyBudgets.read(organizationId), [{ spentMicroUsd: 14_000, exhaustedAtMs: Number }])
    t.same(ended, [call.id])
  },
)

t.test('if a process has died, another process debits the rest of its leg, up to the end of the leg', async (t) => {
  const { clock, store, caller, charge, chargeElsewhere, credit } = await withCall()
  await store.legs.answered(caller, clock.nowMs())
  await clock.advance(60_000)
  await charge()
  await clock.advance(20_000)
  await store.legs.ended(caller, clock.nowMs())
  await clock.advance(300_000)
  await chargeElsewhere()
  t.equal(await credit(), creditMicroUsd - Math.ceil((7_000 * 80) / 60))
})

t.test('if a leg ended before its last debit, the excess is refunded when the end is reported', async (t) => {
  const { clock, store, caller, charge, credit } = await withCall()
  await store.legs.answered(caller, clock.nowMs())
  const answeredAtMs = clock.nowMs()
  await clock.advance(120_000)
  await charge()
  await store.legs.ended(caller, answeredAtMs + 61_000)
  await charge()
  t.equal(await credit(), creditMicroUsd - Math.ceil((7_000 * 61) / 60))
})

t.test('a test call and a leg without a price debit nothing', async (t) => {
  for (const options of [{ test: true }, { price: null }]) {
    const { clock, store, caller, charge, credit } = await withCall(options)
    await store.legs.answered(caller, clock.nowMs())
    await clock.advance(180_000)
    await charge()
    await store.legs.ended(caller, clock.nowMs())
    await charge()
    t.equal(await credit(), creditMicroUsd)
  }
})

t.test('if the credit is exhausted, a call is ended only by the process that runs it', async (t) => {
  const { clock, store, call, caller, charge, chargeElsewhere, setCredit, ended } = await withCall()
  await setCredit(7_000)
  await store.legs.answered(caller, clock.nowMs())
  await charge()
  t.same(ended, [])
  await clock.advance(60_000)
  await chargeElsewhere()
  t.same(ended, [], 'the call is held by the other process')
  await charge()
  t.same(ended, [call.id])
})

t.test('if the credit is enough for one of 50 calls, one call goes on', async (t) => {
  for (const paidBy of ['credit', 'budget'] as const) {
    const { clock, store, call, caller, placed, placedBy, charge, setCredit, credit, ended } = await withCall()
    const { organizationId } = call
    const all = [{ id: call.id, caller }]
    while (all.length < 50) all.push(await placed())
    const before = paidBy === 'credit' ? 7_000 : creditMicroUsd
    if (paidBy === 'credit') await setCredit(before)
    const budget = { microUsd: paidBy === 'budget' ? 7_000 : creditMicroUsd, period: 'day' as const }
    const wanted = { organizationId, name: '', scopes: ['platform' as const], test: false, expiresAtMs: null }
    const made = await store.keys.create({ ...wanted, policy: { budget } })
    await placedBy(made?.key.id ?? '')
    for (const one of all) {
      await store.legs.answered(one.caller, clock.nowMs())
      await clock.advance(1)
    }
    await clock.advance(5_000)
    await charge()
    t.same(new Set(ended), new Set(all.slice(1).map(({ id }) => id)), `${paidBy}: those that were answered first go on`)
    for (const one of all.slice(1)) await store.legs.ended(one.caller, clock.nowMs())
    await charge()
    const overdraftMicroUsd = before - (await credit())
    t.comment(`${paidBy}: ${overdraftMicroUsd} of the 350,000 that a minute of all costs`)
    t.ok(overdraftMicroUsd < 50 * 6 * Math.ceil(7_000 / 60), 'the seconds until the first look')
  }
})

t.test("a recipient's leg is debited for its duration, even if the caller's leg has ended earlier", async (t) => {
  const { clock, store, caller, leg, bridge, uses, charge, credit } = await withCall()
  const recipient = leg({ id: systemIds.leg(), party: 'recipient', microUsdPerMinute: 600 })
  await store.legs.answered(caller, clock.nowMs())
  await clock.advance(30_000)
  await store.legs.insert(recipient)
  t.match(await uses(), [{ party: 'caller', durationMs: 30_000 }], 'who does not answer costs nothing')
  await store.legs.answered(recipient, clock.nowMs())
  await bridge()
  await clock.advance(10_000)
  await store.legs.ended(caller, clock.nowMs())
  await clock.advance(20_000)
  const { microUsdPerMinute: price } = caller
  t.strictSame(await uses(), [
    { party: 'caller', direction: 'outbound', line: 'simulator', durationMs: 40_000, microUsdPerMinute: price },
    { party: 'recipient', direction: 'outbound', line: 'simulator', durationMs: 30_000, microUsdPerMinute: 600 },
  ])
  await store.legs.ended(recipient, clock.nowMs())
  await charge()
  t.equal(await credit(), creditMicroUsd - Math.ceil((7_000 * 40) / 60) - 300)
})

t.test('the longest matching prefix sets the price of a leg; trunks and test calls are free', (t) => {
  const priceOf = createPriceOfLeg([
    { direction: 'outbound', prefix: '+', microUsdPerMinute: 9 },
    { direction: 'outbound', prefix: '+1500', microUsdPerMinute: 5 },
    { direction: 'outbound', prefix: '+1', microUsdPerMinute: 7 },
    { direction: 'inbound', prefix: '+1', microUsdPerMinute: 3 },
  ])
  const leg = { direction: 'outbound', line: 'carrier', test: false } as const
  t.equal(priceOf({ ...leg, to: '+15005550006' }), 5)
  t.equal(priceOf({ ...leg, to: '+12125550006' }), 7)
  t.equal(priceOf({ ...leg, to: '+4930901820' }), 9)
  t.equal(priceOf({ ...leg, direction: 'inbound', to: '+12125550006' }), 3)
  t.equal(priceOf({ ...leg, direction: 'inbound', to: '+4930901820' }), null)
  t.equal(priceOf({ ...leg, line: 'trunk', to: '+12125550006' }), 0)
  t.equal(priceOf({ ...leg, test: true, to: '+12125550006' }), 0)
  t.end()
})
