/** Brands (the businesses registered for text messages): every state, the changes between the states, and vetting. */
import t from 'tap'
import { type RegisteredBrand, SmsRegistryError } from '../../domain/ports/sms-registry.ts'
import { brandStatusOf } from '../../domain/records/sms-states.ts'
import { brandProfile } from '../carrier/sms-profiles.ts'
import { TestCluster } from '../store/cluster.ts'
import { faultOf, reviewMs, setUp } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

t.test('each brand status of the carrier maps to a brand status of our API', (t) => {
  const rows = [
    ['OK', 'VERIFIED', 'verified'],
    ['OK', 'VETTED_VERIFIED', 'verified'],
    ['OK', 'UNVERIFIED', 'pending'],
    ['OK', 'SELF_DECLARED', 'pending'],
    ['OK', null, 'pending'],
    ['REGISTRATION_PENDING', null, 'pending'],
    ['REGISTRATION_PENDING', 'VERIFIED', 'pending'],
    ['REGISTRATION_FAILED', null, 'failed'],
    ['REGISTRATION_FAILED', 'VERIFIED', 'failed'],
  ] as const
  for (const [status, identityStatus, ours] of rows)
    t.equal(brandStatusOf({ id: 'b', status, identityStatus, reviewErrors: [] }), ours, `${status} ${identityStatus}`)
  t.end()
})

t.test('a brand is saved, submitted and verified', async (t) => {
  const { brands, overview, clock, asked, ...more } = await setUp(t, cluster)
  const tenant = await more.tenant()
  t.equal((await overview(tenant)).registration.brand, null)
  t.same(await faultOf(brands.submit(tenant)), { kind: 'sms_profile_missing', of: 'brand' })
  t.match(await brands.save(tenant, brandProfile), { status: 'draft', identityStatus: null, submittedAtMs: null })
  t.match(await brands.save(tenant, { ...brandProfile, city: 'Chicago' }), { status: 'draft' })
  t.same(asked, [], 'the carrier does not see a draft')
  const submitted = await brands.submit(tenant)
  t.match(submitted, { status: 'pending', identityStatus: null, submittedAtMs: clock.nowMs() })
  await clock.advance(reviewMs)
  t.equal((await overview(tenant)).registration.brand?.status, 'pending', 'what is stored is a snapshot')
  t.match(await brands.submit(tenant), { status: 'verified', identityStatus: 'VERIFIED' })
  t.equal((await overview(tenant)).registration.brand?.submittedAtMs, submitted.submittedAtMs, 'it was only looked at')
  t.same(asked, ['createBrand', 'findBrand'])
})

t.test('if a registered brand is changed, its status stays, and the new profile is sent to the carrier', async (t) => {
  const { brands, asked, ...more } = await setUp(t, cluster)
  const tenant = await more.tenant()
  await more.verified(tenant)
  asked.length = 0
  t.match(await brands.save(tenant, brandProfile), { status: 'verified', isChanged: false })
  t.match(await brands.save(tenant, { ...brandProfile, street: '2 Main Street' }), { status: 'verified' })
  t.match(await brands.submit(tenant), { isChanged: false, profile: { street: '2 Main Street' } })
  await brands.submit(tenant)
  t.same(asked, ['updateBrand', 'findBrand'], 'it is sent once')
})

t.test('a failed brand becomes a draft when it is saved, and is registered again', async (t) => {
  const { brands, asked, ...more } = await setUp(t, cluster)
  const tenant = await more.tenant()
  const failed = await more.verified(tenant, { ein: '120000001' })
  t.match(failed, { status: 'failed', reviewErrors: [{ field: null, message: String }] })
  t.match(await brands.submit(tenant), { status: 'failed' }, 'also when it is submitted as it is')
  t.match(await brands.save(tenant, brandProfile), { status: 'draft', reviewErrors: [], submittedAtMs: null })
  t.match(await brands.submit(tenant), { status: 'pending' })
  t.same(asked, ['createBrand', 'createBrand', 'createBrand', 'createBrand'])
})

t.test('a brand stays pending during a long review, or if the carrier did not verify its identity', async (t) => {
  const { verified, tenant } = await setUp(t, cluster)
  t.match(await verified(await tenant(), { ein: '120000003' }), { status: 'pending', identityStatus: null })
  t.match(await verified(await tenant(), { ein: '12-0000002' }), { status: 'pending', identityStatus: 'UNVERIFIED' })
})

t.test('each organization has separate brands for live and test keys', async (t) => {
  const { brands, overview, tenant } = await setUp(t, cluster)
  const live = await tenant()
  await brands.save(live, brandProfile)
  t.equal((await overview({ ...live, test: true })).registration.brand, null)
  t.equal((await overview(await tenant())).registration.brand, null)
})

t.test('if the carrier refuses a brand, the reasons are stored, and the brand keeps its status', async (t) => {
  const refused = [{ field: 'displayName', message: 'Too long.' }]
  let answers: readonly { field: string; message: string }[] = refused
  const refuse = () => Promise.reject(new SmsRegistryError(answers))
  const { brands, overview, ...more } = await setUp(t, cluster, { createBrand: refuse, updateBrand: refuse })
  const tenant = await more.tenant()
  await brands.save(tenant, brandProfile)
  t.same(await faultOf(brands.submit(tenant)), { kind: 'sms_carrier_failed', of: 'brand' })
  t.match((await overview(tenant)).registration.brand, { status: 'draft', reviewErrors: refused, submittedAtMs: null })
  answers = []
  t.same(await faultOf(brands.submit(tenant)), { kind: 'sms_carrier_failed', of: 'brand' })
  t.match(
    (await overview(tenant)).registration.brand,
    { status: 'draft', reviewErrors: [] },
    'an outage has no reasons',
  )
})

t.test('a brand that the carrier has removed counts as failed, and is registered again', async (t) => {
  let isGone = false
  const { brands, simulated, asked, ...more } = await setUp(t, cluster, {
    findBrand: (id) =>
      isGone ? Promise.reject(new SmsRegistryError([], { isUnknown: true })) : simulated.findBrand(id),
  })
  const tenant = await more.tenant()
  t.match(await more.verified(tenant), { status: 'verified' })
  isGone = true
  t.match(await brands.submit(tenant), { status: 'failed', identityStatus: null, carrierId: null })
  asked.length = 0
  t.match(await brands.submit(tenant), { status: 'pending' })
  t.same(asked, ['createBrand'])
})

t.test('a brand is submitted once, even for simultaneous requests', async (t) => {
  const { brands, asked, ...more } = await setUp(t, cluster)
  const tenant = await more.tenant()
  await brands.save(tenant, brandProfile)
  const faults = await Promise.all(Array.from({ length: 5 }, () => faultOf(brands.submit(tenant))))
  t.equal(asked.filter((name) => name === 'createBrand').length, 1)
  t.ok(faults.every((fault) => fault === null || fault.kind === 'sms_under_way'))
  t.ok(faults.includes(null))
})

t.test('the lock of a step whose process died expires after two minutes', async (t) => {
  const { brands, store, clock, ...more } = await setUp(t, cluster)
  const tenant = await more.tenant()
  await brands.save(tenant, brandProfile)
  t.ok(await store.smsRegistrations.claim(tenant, clock.nowMs() + 120_000))
  t.same(await faultOf(brands.submit(tenant)), { kind: 'sms_under_way' })
  await clock.advance(120_000)
  t.equal(await faultOf(brands.submit(tenant)), null)
})

t.test('a profile that is saved while the old profile is submitted is not lost', async (t) => {
  const newer = { ...brandProfile, city: 'Chicago' }
  let save: () => Promise<unknown> = () => Promise.resolve()
  const { brands, simulated, ...more } = await setUp(t, cluster, {
    createBrand: async (profile) => {
      await save()
      return simulated.createBrand(profile)
    },
  })
  const tenant = await more.tenant()
  await brands.save(tenant, brandProfile)
  save = () => brands.save(tenant, newer)
  t.match(await brands.submit(tenant), { status: 'pending', profile: newer, isChanged: true })
  t.match(await brands.submit(tenant), { isChanged: false })
  t.ok(more.asked.includes('updateBrand'))
})

t.test('a brand needs a valid tax number, except a sole proprietor, and valid phone numbers', async (t) => {
  const { brands, tenant } = await setUp(t, cluster)
  const acme = await tenant()
  const issues = async (more: Partial<typeof brandProfile>) => {
    const fault = await faultOf(brands.save(acme, { ...brandProfile, ...more }))
    return fault?.kind === 'invalid'
      ? fault.issues.map(({ path, problem }) => `${path.join('.')} ${problem.kind}`)
      : fault
  }
  for (const entityType of ['PRIVATE_PROFIT', 'PUBLIC_PROFIT', 'NON_PROFIT', 'GOVERNMENT'] as const)
    t.same(await issues({ ein: null, entityType }), ['ein tax_number_missing'], entityType)
  t.equal(await issues({ ein: null, entityType: 'SOLE_PROPRIETOR' }), null)
  for (const ein of ['12345678', '1234567890', '123-456789', '12-34567x', ' 12-3456789'])
    t.same(await issues({ ein }), ['ein tax_number_malformed'], ein)
  t.equal(await issues({ ein: '123456789' }), null)
  t.equal(await issues({ ein: 'HRB 1', country: 'DE' }), null, 'other countries have other forms')
  const contact = { ...brandProfile.authorizedContact, phone: '+15555550100' }
  t.same(await issues({ supportPhone: '+15555550100', authorizedContact: contact }), [
    'supportPhone number_invalid',
    'authorizedContact.phone number_invalid',
  ])
})

t.test("a vetting needs the carrier's brand, is ordered once for each class, and can verify the brand", async (t) => {
  const { brands, clock, asked, ...more } = await setUp(t, cluster)
  const tenant = await more.tenant()
  const vet = (vettingClass: 'STANDARD' | 'ENHANCED') => brands.vet(tenant, vettingClass)
  t.same(await faultOf(vet('STANDARD')), { kind: 'sms_brand_missing' })
  await brands.save(tenant, { ...brandProfile, ein: '120000002' })
  t.same(await faultOf(vet('STANDARD')), { kind: 'sms_brand_missing' }, 'a draft is not there yet')
  await brands.submit(tenant)
  await clock.advance(reviewMs)
  t.match(await brands.submit(tenant), { status: 'pending', identityStatus: 'UNVERIFIED' })
  t.equal(await vet('STANDARD'), 'pending')
  t.equal(await vet('STANDARD'), 'pending')
  t.equal(await vet('ENHANCED'), 'pending')
  await clock.advance(reviewMs)
  t.equal(await vet('STANDARD'), 'completed')
  t.equal(asked.filter((name) => name === 'orderVetting').length, 2, 'one of each class')
  t.match((await more.overview(tenant)).registration.brand, { status: 'verified', identityStatus: 'VETTED_VERIFIED' })
})

t.test('if the carrier refuses a vetting, the reasons are stored', async (t) => {
  const reasons = [{ field: 'legalName', message: 'It is not in the register.' }]
  let answer: SmsRegistryError | null = new SmsRegistryError(reasons)
  const { brands, verified, tenant, overview, simulated } = await setUp(t, cluster, {
    orderVetting: (...order) => (answer ? Promise.reject(answer) : simulated.orderVetting(...order)),
  })
  const acme = await tenant()
  await verified(acme)
  const stored = async () => (await overview(acme)).registration.brand
  t.same(await faultOf(brands.vet(acme, 'STANDARD')), { kind: 'sms_carrier_failed', of: 'vetting' })
  t.match(await stored(), { status: 'verified', reviewErrors: reasons })
  answer = new SmsRegistryError([])
  t.same(await faultOf(brands.vet(acme, 'STANDARD')), { kind: 'sms_carrier_failed', of: 'vetting' })
  t.match(await stored(), { reviewErrors: reasons }, 'an outage has no reasons')
  answer = null
  t.equal(await brands.vet(acme, 'STANDARD'), 'pending')
  t.match(await stored(), { reviewErrors: [] }, 'the order was taken')
})

t.test('a pending brand stays pending when it is saved, and a later check can revoke a verification', async (t) => {
  let answer: Partial<RegisteredBrand> = {}
  const { brands, overview, simulated, verified, tenant, clock } = await setUp(t, cluster, {
    findBrand: async (id) => ({ ...(await simulated.findBrand(id)), ...answer }),
  })
  const acme = await tenant()
  await brands.save(acme, brandProfile)
  await brands.submit(acme)
  const newer = { ...brandProfile, city: 'Chicago' }
  t.match(await brands.save(acme, newer), { status: 'pending', profile: newer, isChanged: true })
  t.match(await verified(acme), { status: 'verified' })
  const rows: [Partial<RegisteredBrand>, string][] = [
    [{ identityStatus: 'UNVERIFIED' }, 'pending'],
    [{}, 'verified'],
    [{ status: 'REGISTRATION_PENDING', identityStatus: null }, 'pending'],
    [{}, 'verified'],
    [{ status: 'REGISTRATION_FAILED', reviewErrors: [{ field: null, message: 'Gone.' }] }, 'failed'],
  ]
  for (const [said, status] of rows) {
    answer = said
    await clock.advance(1)
    t.match(await brands.submit(acme), { status, reviewErrors: said.reviewErrors ?? [] })
  }
  t.match((await overview(acme)).registration.brand, { status: 'failed', reviewErrors: [{ message: 'Gone.' }] })
  t.match(await brands.save(acme, brandProfile), { status: 'draft', reviewErrors: [] })
})
