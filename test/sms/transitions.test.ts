/**
 * State tables for a brand, a campaign, and a number's campaign. Each row is a state, an action, the next state or the
 * refusal, and the requests to the carrier.
 */
import t from 'tap'
import type { AssignmentStatus, RegisteredBrand } from '../../domain/ports/sms-registry.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { brandProfile, campaignProfile } from '../carrier/sms-profiles.ts'
import { TestCluster } from '../store/cluster.ts'
import { faultOf, setUp } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const answered: Record<string, Partial<RegisteredBrand>> = {
  pending: { status: 'REGISTRATION_PENDING', identityStatus: null, reviewErrors: [] },
  verified: { status: 'OK', identityStatus: 'VERIFIED', reviewErrors: [] },
  failed: { status: 'REGISTRATION_FAILED', identityStatus: null, reviewErrors: [{ field: null, message: 'No.' }] },
}
const changed = { ...brandProfile, city: 'Chicago' }

t.test("a brand changes its state, and causes requests to the carrier, only as in this test's table", async (t) => {
  let answer: Partial<RegisteredBrand> = {}
  const registered = () => Promise.resolve({ id: 'b', ...answer } as RegisteredBrand)
  const parts = await setUp(t, cluster, {
    ...{ createBrand: registered, updateBrand: registered, findBrand: registered },
  })
  const { brands, asked } = parts
  async function brandIn(state: string): Promise<Tenant> {
    const tenant = await parts.tenant()
    if (state === 'null') return tenant
    await brands.save(tenant, brandProfile)
    if (state === 'draft') return tenant
    answer = answered[state] ?? {}
    await brands.submit(tenant)
    return tenant
  }
  const submitsAs = (says: string) => async (tenant: Tenant) => {
    answer = answered[says] ?? {}
    await brands.submit(tenant)
  }
  const saves =
    (profile = brandProfile) =>
    async (tenant: Tenant) =>
      void (await brands.save(tenant, profile))
  const both = (says: string) => async (tenant: Tenant) => {
    await saves(changed)(tenant)
    await submitsAs(says)(tenant)
  }
  const missing = 'sms_profile_missing'
  const rows: [state: string, event: string, run: (tenant: Tenant) => Promise<void>, next: string, asked: string[]][] =
    [
      ['null', 'PUT', saves(), 'draft', []],
      ['null', 'submit', submitsAs('pending'), missing, []],
      ['draft', 'PUT', saves(changed), 'draft', []],
      ['draft', 'submit, pending', submitsAs('pending'), 'pending', ['createBrand']],
      ['draft', 'submit, verified at once', submitsAs('verified'), 'verified', ['createBrand']],
      ['draft', 'submit, failed at once', submitsAs('failed'), 'failed', ['createBrand']],
      ['failed', 'PUT', saves(), 'draft', []],
      ['failed', 'submit', submitsAs('pending'), 'pending', ['createBrand']],
      ['pending', 'PUT', saves(changed), 'pending', []],
      ['pending', 'submit, still pending', submitsAs('pending'), 'pending', ['findBrand']],
      ['pending', 'submit, verified', submitsAs('verified'), 'verified', ['findBrand']],
      ['pending', 'submit, failed', submitsAs('failed'), 'failed', ['findBrand']],
      ['pending', 'PUT another profile and submit', both('pending'), 'pending', ['updateBrand']],
      ['verified', 'PUT', saves(changed), 'verified', []],
      ['verified', 'submit', submitsAs('verified'), 'verified', ['findBrand']],
      ['verified', 'PUT another profile and submit', both('verified'), 'verified', ['updateBrand']],
      ['verified', 'submit, not verified any more', submitsAs('pending'), 'pending', ['findBrand']],
      ['verified', 'submit, failed', submitsAs('failed'), 'failed', ['findBrand']],
    ]
  for (const [state, event, run, next, requests] of rows) {
    const tenant = await brandIn(state)
    asked.length = 0
    const fault = await faultOf(run(tenant))
    const { brand } = (await parts.overview(tenant)).registration
    t.equal(fault === null ? brand?.status : fault.kind, next, `${state} –${event}→ ${next}`)
    t.same(asked, requests, `${state} –${event}→ ${requests.join() || 'nobody is asked'}`)
    if (next === 'failed') t.match(brand, { reviewErrors: [{ message: 'No.' }] }, `${state} –${event}: with reasons`)
    if (event.startsWith('PUT another')) t.equal(brand?.profile.city, 'Chicago', `${state} –${event}: it is stored`)
  }
})

t.test("a campaign changes its state, and causes requests to the carrier, only as in this test's table", async (t) => {
  let made = 0
  let status = 'TCR_PENDING'
  const parts = await setUp(t, cluster, {
    createCampaign: () => Promise.resolve({ id: `c${made++}`, status, reviewErrors: [] }),
    findCampaign: (id) => Promise.resolve({ id, status, reviewErrors: [] }),
  })
  const { campaigns, asked, overview } = parts
  const carriers = { pending: 'TCR_PENDING', active: 'MNO_PROVISIONED', rejected: 'TCR_FAILED', expired: 'TCR_EXPIRED' }
  async function campaignIn(state: string): Promise<Tenant> {
    const tenant = await parts.tenant()
    await parts.verified(tenant)
    if (state === 'null') return tenant
    await campaigns.save(tenant, campaignProfile)
    if (state === 'draft') return tenant
    status = carriers[state as keyof typeof carriers]
    await campaigns.submit(tenant)
    return tenant
  }
  const shown = async (tenant: Tenant) =>
    (await campaigns.save(tenant, { ...campaignProfile, description: 'Y' })).status
  const states = ['null', 'draft', 'pending', 'active', 'rejected', 'expired']
  for (const state of states) {
    const tenant = await campaignIn(state)
    asked.length = 0
    const saved = await campaigns.save(tenant, { ...campaignProfile, description: 'X' })
    t.equal(saved.status, state === 'null' ? 'draft' : state, `${state} –PUT→ a submitted one keeps its status`)
    t.equal(saved.profile.description, 'X', `${state} –PUT→ the draft is its profile`)
    t.same(asked, [], `${state} –PUT→ nobody is asked`)
    status = 'TCR_PENDING'
    const before = (await overview(tenant)).registration.submitted.map(({ id }) => id)
    t.equal((await campaigns.submit(tenant)).status, 'pending', `${state} –submit→ pending`)
    const after = (await overview(tenant)).registration.submitted.map(({ id }) => id)
    t.same(after.slice(1), before, `${state} –submit→ a new one, and those before stay`)
    t.same(asked, ['createCampaign'], `${state} –submit→ one request`)
  }
  const untouched = await parts.tenant()
  t.same(
    await faultOf(campaigns.submit(untouched)),
    { kind: 'sms_profile_missing', of: 'campaign' },
    'null –submit→ refused',
  )
  for (const [next, carrier] of Object.entries(carriers)) {
    const tenant = await campaignIn('pending')
    status = carrier
    await parts.brands.submit(tenant)
    t.equal(await shown(tenant), next, `pending –${carrier}→ ${next}`)
  }
})

t.test('the campaign assignment of a number changes its state only as in the table of this test', async (t) => {
  let answer: AssignmentStatus | null = 'PENDING_ASSIGNMENT'
  const carrier = () => Promise.resolve(answer && { campaignId: 'c', status: answer, reviewErrors: [] })
  const parts = await setUp(t, cluster, {
    findCampaign: (id) => Promise.resolve({ id, status: 'MNO_PROVISIONED', reviewErrors: [] }),
    createCampaign: () => Promise.resolve({ id: 'c', status: 'MNO_PROVISIONED', reviewErrors: [] }),
    assign: async () => (await carrier())!,
    ...{ unassign: carrier, findAssignment: carrier },
  })
  const { assignments, asked, brands } = parts
  const acme = await parts.tenant()
  await parts.verified(acme)
  await parts.submitted(acme)
  let last = 100
  const says = (next: AssignmentStatus | null) => {
    answer = next
  }
  async function numberIn(state: AssignmentStatus | null): Promise<string> {
    last += 1
    const id = await parts.number(acme, `+12125550${last}`)
    const smsAssignment = state && { campaignId: 'c', assignedTo: 'own' as const, status: state, updatedAtMs: 1 }
    await parts.store.numberCampaigns.assign(acme, id, { smsAssignment, smsReviewErrors: [] })
    return id
  }
  const rows: [AssignmentStatus | null, 'assign' | 'unassign' | 'refresh', AssignmentStatus | null, string[]][] = [
    [null, 'assign', 'PENDING_ASSIGNMENT', ['assign']],
    ['FAILED_ASSIGNMENT', 'assign', 'PENDING_ASSIGNMENT', ['assign']],
    ['PENDING_ASSIGNMENT', 'assign', 'ASSIGNED', ['findAssignment']],
    ['PENDING_ASSIGNMENT', 'assign', 'FAILED_ASSIGNMENT', ['findAssignment']],
    ['ASSIGNED', 'assign', 'ASSIGNED', ['findAssignment']],
    ['FAILED_UNASSIGNMENT', 'assign', 'PENDING_ASSIGNMENT', ['assign']],
    ['PENDING_ASSIGNMENT', 'refresh', 'ASSIGNED', ['findAssignment']],
    ['PENDING_ASSIGNMENT', 'refresh', 'FAILED_ASSIGNMENT', ['findAssignment']],
    ['ASSIGNED', 'unassign', 'PENDING_UNASSIGNMENT', ['unassign']],
    ['FAILED_UNASSIGNMENT', 'unassign', 'PENDING_UNASSIGNMENT', ['unassign']],
    ['PENDING_UNASSIGNMENT', 'unassign', null, ['findAssignment']],
    ['PENDING_UNASSIGNMENT', 'unassign', 'FAILED_UNASSIGNMENT', ['findAssignment']],
    ['PENDING_UNASSIGNMENT', 'refresh', null, ['findAssignment']],
    ['PENDING_UNASSIGNMENT', 'refresh', 'FAILED_UNASSIGNMENT', ['findAssignment']],
    [null, 'unassign', null, []],
  ]
  for (const [state, event, next, requests] of rows) {
    const id = await numberIn(state)
    asked.length = 0
    says(next)
    if (event === 'refresh') await brands.submit(acme)
    else if (event === 'assign') await assignments.assign(acme, id, null)
    else await assignments.unassign(acme, id)
    const number = (await parts.overview(acme)).numbers.find((one) => one.id === id)
    const title = `${state} –${event}→ ${next}`
    t.equal(number?.smsAssignment?.status ?? null, next, title)
    t.same(
      asked.filter((name) => /ssign/.test(name)),
      requests,
      title,
    )
    await parts.store.ownedNumbers.remove(acme, id)
  }
})
