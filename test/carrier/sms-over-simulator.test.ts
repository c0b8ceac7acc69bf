/** Businesses and campaigns are registered for text messages at the simulated carrier. Uses a test clock. */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { SmsRegistryError } from '../../domain/ports/sms-registry.ts'
import { createTelnyxSmsRegistry } from '../../providers/telnyx/sms-registry.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { clockOfNow } from '../simulator/setup.ts'
import { brandProfile, campaignProfile } from './sms-profiles.ts'

const pending = { status: 'REGISTRATION_PENDING', identityStatus: null, reviewErrors: [] }
const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error as SmsRegistryError,
  )

async function serveRegistry(t: Test, clock = clockOfNow()) {
  const speak = () => Promise.reject(new Error('nobody speaks here'))
  const simulator = await startSimulator({ clock, speak, webhookUrl: 'http://127.0.0.1:9/' })
  const { baseUrl, apiKey } = simulator
  const registry = createTelnyxSmsRegistry({ baseUrl, apiKey, requestMs: 5000, clock })
  t.teardown(async () => {
    await registry.close()
    await simulator.close()
  })
  return { clock, registry }
}

/** Makes a registry with a provisioned campaign. */
async function withCampaign(t: Test) {
  const { clock, registry } = await serveRegistry(t)
  const { id: brandId } = await registry.createBrand(brandProfile)
  await clock.advance(5000)
  const { id: campaignId } = await registry.createCampaign(brandId, campaignProfile, randomUUID())
  await clock.advance(60_000)
  return { clock, registry, brandId, campaignId }
}

t.test("the tax number decides the outcome of a simulated brand's review", async (t) => {
  const { clock, registry } = await serveRegistry(t)
  const failure = { field: null, message: 'The legal company name does not match the tax number (EIN).' }
  const failed = { status: 'REGISTRATION_FAILED', identityStatus: null, reviewErrors: [failure] }
  const ok = { status: 'OK', identityStatus: 'VERIFIED', reviewErrors: [] }
  for (const [ein, first, end] of [
    ['12-0000001', failed, failed],
    ['120000001', failed, failed],
    ['120000002', pending, { ...ok, identityStatus: 'UNVERIFIED' }],
    ['12-0000003', pending, pending],
    ['12-3456789', pending, ok],
    [null, pending, ok],
  ] as const) {
    const brand = await registry.createBrand({ ...brandProfile, ein })
    t.match(brand, first, `${ein} at first`)
    await clock.advance(4999)
    t.match(await registry.findBrand(brand.id), first, `${ein} a moment before`)
    await clock.advance(1)
    t.match(await registry.findBrand(brand.id), end, `${ein} at the end`)
  }
})

t.test('a changed tax number starts a new review of a simulated brand', async (t) => {
  const { clock, registry } = await serveRegistry(t)
  const { id } = await registry.createBrand({ ...brandProfile, ein: '12-0000001' })
  t.match(await registry.updateBrand(id, brandProfile), { id, ...pending })
  await clock.advance(5000)
  t.match(await registry.findBrand(id), { status: 'OK', identityStatus: 'VERIFIED' })
  const renamed = await registry.updateBrand(id, { ...brandProfile, displayName: 'Spoke' })
  t.match(renamed, { status: 'OK', identityStatus: 'VERIFIED' }, 'another name does not')
})

t.test("the error for a brand's too long or missing fields has our API's field names, not the carrier's", async (t) => {
  const { registry, brandId } = await withCampaign(t)
  const brand = await refusalOf(
    registry.createBrand({ ...brandProfile, legalName: 'x'.repeat(101), supportEmail: '', vertical: 'OTHER' }),
  )
  t.match(brand?.reviewErrors, [
    { field: 'legalName', message: 'ensure this value has at most 100 characters' },
    { field: 'supportEmail', message: 'field required' },
    { field: 'vertical', message: /^value is not a valid enumeration member/ },
  ])
  const contact = { ...brandProfile.authorizedContact, firstName: 'x'.repeat(101), phone: '1'.repeat(21) }
  const names = (await refusalOf(registry.updateBrand(brandId, { ...brandProfile, authorizedContact: contact })))
    ?.reviewErrors
  t.match(names, [{ field: 'authorizedContact.firstName' }])
  const nameless = await refusalOf(
    registry.createBrand({ ...brandProfile, legalName: '', ein: null, entityType: 'NON_PROFIT' }),
  )
  t.match(nameless?.reviewErrors, [{ field: 'legalName' }, { field: 'ein' }])
  const samples = ['One.', 'x'.repeat(4097)]
  const campaign = await refusalOf(
    registry.createCampaign(brandId, { ...campaignProfile, sampleMessages: samples }, randomUUID()),
  )
  t.match(campaign?.reviewErrors, [{ field: 'sampleMessages.1' }])
})

t.test('a simulated vetting is complete after 5 s, and verifies a brand with the status OK', async (t) => {
  const { clock, registry } = await serveRegistry(t)
  const { id } = await registry.createBrand({ ...brandProfile, ein: '120000002' })
  await clock.advance(5000)
  t.equal(await registry.findVetting(id, 'STANDARD'), null)
  await registry.orderVetting(id, 'AEGIS', 'STANDARD')
  t.equal(await registry.findVetting(id, 'STANDARD'), 'pending')
  t.match(await registry.findBrand(id), { identityStatus: 'UNVERIFIED' })
  await clock.advance(5000)
  t.equal(await registry.findVetting(id, 'STANDARD'), 'completed')
  t.equal(await registry.findVetting(id, 'ENHANCED'), null)
  t.match(await registry.findBrand(id), { status: 'OK', identityStatus: 'VETTED_VERIFIED' })
  await registry.orderVetting(id, 'AEGIS', 'STANDARD')
  t.equal(await registry.findVetting(id, 'STANDARD'), 'pending', 'the newest counts')
  t.match(await registry.findBrand(id), { identityStatus: 'VETTED_VERIFIED' })
  const failing = await registry.createBrand({ ...brandProfile, ein: '120000001' })
  await registry.orderVetting(failing.id, 'AEGIS', 'STANDARD')
  await clock.advance(5000)
  t.match(await registry.findBrand(failing.id), { status: 'REGISTRATION_FAILED', identityStatus: null })
})

t.test("a word in the description decides the outcome of a simulated campaign's review", async (t) => {
  const { clock, registry, brandId } = await withCampaign(t)
  for (const [word, end] of [
    ['', { status: 'MNO_PROVISIONED', reviewErrors: [] }],
    ['[reject]', { status: 'TCR_FAILED', reviewErrors: [{ field: null, message: /recipients agree/ }] }],
    ['[expire]', { status: 'TCR_EXPIRED', reviewErrors: [] }],
  ] as const) {
    const campaign = await registry.createCampaign(
      brandId,
      { ...campaignProfile, description: `Repairs ${word}` },
      randomUUID(),
    )
    t.match(campaign, { status: 'TCR_PENDING', reviewErrors: [] }, word)
    await clock.advance(59_999)
    t.match(await registry.findCampaign(campaign.id), { status: 'TCR_PENDING' }, word)
    await clock.advance(1)
    t.match(await registry.findCampaign(campaign.id), end, word)
  }
})

t.test('a campaign needs a brand that is verified', async (t) => {
  const { clock, registry } = await serveRegistry(t)
  const unverified = await registry.createBrand({ ...brandProfile, ein: '120000002' })
  const early = await registry.createBrand(brandProfile)
  await clock.advance(4000)
  const reasons = [{ field: null, message: 'The identity of the brand is not verified.' }]
  for (const { id } of [unverified, early])
    t.match(await refusalOf(registry.createCampaign(id, campaignProfile, randomUUID())), { reviewErrors: reasons })
  await clock.advance(5000)
  t.match(await refusalOf(registry.createCampaign(unverified.id, campaignProfile, randomUUID())), {
    reviewErrors: reasons,
  })
  t.match(await registry.createCampaign(early.id, campaignProfile, randomUUID()), { status: 'TCR_PENDING' })
  t.match(await refusalOf(registry.createCampaign('other', campaignProfile, randomUUID())), {
    reviewErrors: [{ field: null, message: 'The brand does not exist.' }],
  })
})

t.test('a number is assigned, moved and unassigned', async (t) => {
  const { clock, registry, brandId, campaignId } = await withCampaign(t)
  const number = '+12175550100'
  t.equal(await registry.findAssignment(number), null)
  t.equal(await registry.unassign(number), null)
  t.same(await registry.assign(number, campaignId), { campaignId, status: 'PENDING_ASSIGNMENT', reviewErrors: [] })
  await clock.advance(2000)
  t.same(await registry.findAssignment(number), { campaignId, status: 'ASSIGNED', reviewErrors: [] })
  t.same(await registry.assign(number, campaignId), { campaignId, status: 'ASSIGNED', reviewErrors: [] }, 'unchanged')
  const other = await registry.createCampaign(brandId, campaignProfile, randomUUID())
  t.match(await refusalOf(registry.assign(number, other.id)), {
    reviewErrors: [{ field: null, message: 'The campaign is not provisioned.' }],
  })
  await clock.advance(60_000)
  t.same(await registry.assign(number, other.id), {
    campaignId: other.id,
    status: 'PENDING_ASSIGNMENT',
    reviewErrors: [],
  })
  await clock.advance(2000)
  t.same(await registry.unassign(number), { campaignId: other.id, status: 'PENDING_UNASSIGNMENT', reviewErrors: [] })
  await clock.advance(1999)
  t.same(
    await registry.unassign(number),
    { campaignId: other.id, status: 'PENDING_UNASSIGNMENT', reviewErrors: [] },
    'it goes on',
  )
  await clock.advance(1)
  t.equal(await registry.findAssignment(number), null)
  t.match(await refusalOf(registry.assign('+442079460000', campaignId)), { reviewErrors: [{ field: null }] })
})

t.test('a simulated number ending in 96 cannot be assigned, and one ending in 95 cannot be unassigned', async (t) => {
  const { clock, registry, campaignId } = await withCampaign(t)
  await registry.assign('+12175550196', campaignId)
  await clock.advance(2000)
  t.match(await registry.findAssignment('+12175550196'), {
    campaignId,
    status: 'FAILED_ASSIGNMENT',
    reviewErrors: [{ field: null, message: String }],
  })
  t.same(
    await registry.assign('+12175550196', campaignId),
    { campaignId, status: 'PENDING_ASSIGNMENT', reviewErrors: [] },
    'again',
  )
  await registry.assign('+12175550195', campaignId)
  await clock.advance(2000)
  t.same(await registry.unassign('+12175550195'), { campaignId, status: 'PENDING_UNASSIGNMENT', reviewErrors: [] })
  await clock.advance(2000)
  t.match(await registry.findAssignment('+12175550195'), {
    campaignId,
    status: 'FAILED_UNASSIGNMENT',
    reviewErrors: [{ field: null, message: String }],
  })
  t.same(
    await registry.assign('+12175550195', campaignId),
    { campaignId, status: 'PENDING_ASSIGNMENT', reviewErrors: [] },
    'back again',
  )
})

t.test('another process returns the same state of a simulated brand and of a simulated campaign', async (t) => {
  const { clock, registry, brandId } = await withCampaign(t)
  const { registry: other } = await serveRegistry(t, clock)
  const ids: { brands: string[]; campaigns: string[] } = { brands: [], campaigns: [] }
  for (const ein of ['120000001', '120000002', '120000003', '123456789'])
    ids.brands.push((await registry.createBrand({ ...brandProfile, ein })).id)
  for (const description of ['Repairs', '[reject]', '[expire]'])
    ids.campaigns.push((await registry.createCampaign(brandId, { ...campaignProfile, description }, randomUUID())).id)
  const statuses = new Set<string>()
  for (const wait of [0, 5000, 60_000]) {
    await clock.advance(wait)
    for (const id of ids.brands) {
      const brand = await registry.findBrand(id)
      t.same(await other.findBrand(id), brand)
      statuses.add(`${brand.status} ${brand.identityStatus}`)
    }
    for (const id of ids.campaigns) {
      const campaign = await registry.findCampaign(id)
      t.same(await other.findCampaign(id), campaign)
      statuses.add(campaign.status)
    }
  }
  t.equal(statuses.size, 8)
  await other.assign('+12175550100', ids.campaigns[0]!)
  t.match(await other.createCampaign(ids.brands[3]!, campaignProfile, randomUUID()), { status: 'TCR_PENDING' })
  for (const id of [ids.campaigns[0]!, '3a5f0c2e-4d6b-4b9d-9b1d-3a5f0c2e4d6b'])
    t.match(await refusalOf(other.findBrand(id)), { reviewErrors: [{ field: null }] }, 'the id belongs to no brand')
  t.match(await refusalOf(other.findCampaign(brandId)), { reviewErrors: [{ field: null }] })
})

t.test('one simulated campaign is always provisioned, so that it can be the shared campaign', async (t) => {
  const { registry } = await serveRegistry(t)
  const id = '00000000-0000-8002-8000-000000000000'
  t.same(await registry.findCampaign(id), { id, status: 'MNO_PROVISIONED', reviewErrors: [] })
})
