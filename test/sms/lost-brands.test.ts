/**
 * If the carrier's response to a brand's registration was lost, the server finds the brand again and does not pay for
 * it twice.
 */
import t from 'tap'
import { SmsRegistryError } from '../../domain/ports/sms-registry.ts'
import { brandProfile } from '../carrier/sms-profiles.ts'
import { TestCluster } from '../store/cluster.ts'
import { faultOf, reviewMs, setUp } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

/** With this tax number a brand fails at the simulated carrier. */
const failing = '12-0000001'
const unanswered = () => new SmsRegistryError([], { mayBeDone: true })
const refused = { kind: 'sms_carrier_failed', of: 'brand' }

/**
 * Opens a brand registration that fails. `lose` decides how: the carrier makes the brand but its response is lost, or
 * the carrier never makes it.
 */
async function losing(t: Parameters<typeof setUp>[0]) {
  const state: { error: Error | null } & Record<'isMade' | 'isListed' | 'isHidden', boolean> = {
    error: null,
    isMade: true,
    isListed: true,
    /** If true, the carrier's list does not show the new brand yet. */
    isHidden: false,
  }
  const parts = await setUp(t, cluster, {
    createBrand: async (profile) => {
      const made = state.isMade ? await parts.simulated.createBrand(profile) : null
      if (state.error || made === null) throw state.error ?? unanswered()
      return made
    },
    findBrandsLike: async (...like) =>
      state.isHidden
        ? []
        : state.isListed
          ? parts.simulated.findBrandsLike(...like)
          : Promise.reject(new SmsRegistryError([])),
  })
  const tenant = await parts.tenant()
  await parts.brands.save(tenant, brandProfile)
  const lose = async (error: Error, isMade: boolean) => {
    Object.assign(state, { error, isMade })
    const fault = await parts.brands.submit(tenant).then(
      () => null,
      (error: unknown) => error,
    )
    Object.assign(state, { error: null, isMade: true })
    parts.asked.length = 0
    return fault
  }
  const intent = async () => (await parts.overview(tenant)).registration.brand?.intent ?? null
  return { ...parts, newTenant: parts.tenant, tenant, state, lose, intent }
}

t.test('if the answer to a registration was lost, the brand is found at the carrier', async (t) => {
  const { brands, clock, tenant, asked, lose, intent } = await losing(t)
  t.match(await lose(unanswered(), true), { data: refused })
  const askedAtMs = clock.nowMs()
  t.match(await intent(), { profile: brandProfile, askedAtMs })
  await clock.advance(1000)
  t.match(await brands.submit(tenant), { status: 'pending', carrierId: String, submittedAtMs: askedAtMs })
  t.same(asked, ['findBrandsLike', 'findBrand'])
  t.equal(await intent(), null)
  await clock.advance(reviewMs)
  t.match(await brands.submit(tenant), { status: 'verified' })
  t.same(asked, ['findBrandsLike', 'findBrand', 'findBrand'])
})

t.test('if the process died after the request, the brand is found at the carrier', async (t) => {
  const { brands, tenant, asked, lose } = await losing(t)
  t.match(await lose(new Error('killed'), true), { message: 'killed' })
  t.match(await brands.submit(tenant), { status: 'pending', carrierId: String })
  t.same(asked, ['findBrandsLike', 'findBrand'])
})

t.test('if another profile was saved meanwhile, the recovered brand gets the new profile', async (t) => {
  const { brands, simulated, tenant, asked, lose } = await losing(t)
  await lose(unanswered(), true)
  await brands.save(tenant, { ...brandProfile, displayName: 'Another name' })
  const found = await brands.submit(tenant)
  t.same(asked, ['findBrandsLike', 'updateBrand'])
  t.match(found, { status: 'pending', isChanged: false, intent: null })
  const renamed = await simulated.findBrandsLike({ ...brandProfile, displayName: 'Another name' }, 0)
  t.match(renamed, [{ id: found.carrierId }])
})

t.test('if the carrier has not created the brand, it is registered again', async (t) => {
  const { brands, clock, tenant, asked, lose, intent } = await losing(t)
  await lose(unanswered(), false)
  const askedAtMs = clock.nowMs()
  await clock.advance(1000)
  await lose(unanswered(), false)
  t.match(await intent(), { askedAtMs }, 'since the first request')
  await lose(new SmsRegistryError([{ field: null, message: 'No.' }]), false)
  t.match(await intent(), { askedAtMs }, 'a refusal says nothing of the request before it')
  t.match(await brands.submit(tenant), { status: 'pending' })
  t.same(asked, ['findBrandsLike', 'createBrand'])
})

t.test('if the process died after it asked the carrier twice, the brand of the first request is used', async (t) => {
  const { brands, clock, tenant, asked, lose, state } = await losing(t)
  await lose(unanswered(), true)
  const askedAtMs = clock.nowMs()
  await clock.advance(600_000)
  state.isHidden = true
  await lose(new Error('killed'), false)
  state.isHidden = false
  t.match(await brands.submit(tenant), { carrierId: String, submittedAtMs: askedAtMs })
  t.notOk(asked.includes('createBrand'))
})

t.test('if the response was lost, the previous failed brand is not used as the new brand', async (t) => {
  const { brands, clock, tenant, overview, asked, lose } = await losing(t)
  await brands.save(tenant, { ...brandProfile, ein: failing })
  await brands.submit(tenant)
  await clock.advance(reviewMs)
  const before = (await overview(tenant)).registration.brand
  t.match(before, { status: 'failed', carrierId: String })
  await brands.save(tenant, { ...brandProfile, ein: failing, street: '2 Corrected Street' })
  await lose(unanswered(), false)
  const registered = await brands.submit(tenant)
  t.same(asked, ['findBrandsLike', 'createBrand'])
  t.not(registered.carrierId, before?.carrierId)
})

t.test("another organization's brand, an older brand or another tax number's brand is not used", async (t) => {
  const { brands, clock, simulated, tenant, newTenant, asked, lose } = await losing(t)
  await simulated.createBrand(brandProfile)
  await clock.advance(3_600_000)
  const other = await newTenant()
  await brands.save(other, brandProfile)
  const theirs = await brands.submit(other)
  await simulated.createBrand({ ...brandProfile, ein: '98-7654321' })
  await lose(unanswered(), false)
  const own = await brands.submit(tenant)
  t.same(asked, ['findBrandsLike', 'createBrand'])
  t.not(own.carrierId, theirs.carrierId)
})

t.test('if the carrier cannot list its brands, no brand is registered and paid for twice', async (t) => {
  const { brands, tenant, asked, lose, state } = await losing(t)
  await lose(unanswered(), true)
  state.isListed = false
  t.same(await faultOf(brands.submit(tenant)), refused)
  t.same(asked, ['findBrandsLike'])
  state.isListed = true
  t.match(await brands.submit(tenant), { status: 'pending' })
  t.notOk(asked.includes('createBrand'))
})
