/** Tests assignments of numbers to campaigns: every state, which campaign is chosen, and the shared campaign. */
import t from 'tap'
import { SmsRegistryError } from '../../domain/ports/sms-registry.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { shareCampaign } from '../../domain/sms/shared-campaign.ts'
import { insertRmsgNumber } from '../rmsg/stored-number.ts'
import { TestCluster } from '../store/cluster.ts'
import { assignmentMs, campaignReviewMs, faultOf, setUp } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

type Parts = Awaited<ReturnType<typeof setUp>>

/** Makes an organization with an approved campaign. Our copy of its status changes only after a refresh. */
async function approved(parts: Parts, isRefreshed = true): Promise<Tenant & { campaignId: string }> {
  const tenant = await parts.tenant()
  await parts.verified(tenant)
  const { campaignId } = await parts.submitted(tenant)
  await parts.clock.advance(campaignReviewMs)
  if (isRefreshed) await parts.brands.submit(tenant)
  return { ...tenant, campaignId: campaignId ?? '' }
}

t.test('a number is assigned to a campaign, and removed from the campaign', async (t) => {
  const parts = await setUp(t, cluster)
  const { assignments, brands, overview, clock } = parts
  const acme = await approved(parts)
  const id = await parts.number(acme, '+12125550101')
  const ofNumber = async () => (await overview(acme)).numbers.find((number) => number.id === id)?.smsAssignment
  const { campaignId } = acme
  const pending = { campaignId, assignedTo: 'own', status: 'PENDING_ASSIGNMENT', updatedAtMs: clock.nowMs() }
  t.match((await assignments.assign(acme, id, null)).smsAssignment, pending)
  t.equal((await overview(acme)).isReady, false)
  await clock.advance(assignmentMs)
  t.equal((await ofNumber())?.status, 'PENDING_ASSIGNMENT', 'what is stored is a snapshot')
  parts.asked.length = 0
  t.equal((await assignments.assign(acme, id, null)).smsAssignment?.status, 'ASSIGNED', 'assigned again: a look')
  t.same(parts.asked, ['findCampaign', 'findAssignment'])
  t.match(await overview(acme), { isReady: true, activeSource: 'own' })
  t.equal((await assignments.unassign(acme, id)).smsAssignment?.status, 'PENDING_UNASSIGNMENT')
  t.equal((await overview(acme)).isReady, false)
  await clock.advance(assignmentMs)
  await brands.submit(acme)
  t.equal(await ofNumber(), null, 'the brand was submitted again')
  t.equal((await assignments.unassign(acme, id)).smsAssignment, null, 'a number without a campaign stays as it is')
})

t.test('a rich-message number with the same digits shows if SMS is ready', async (t) => {
  const parts = await setUp(t, cluster)
  const { assignments, brands, clock, store, sql } = parts
  const acme = await approved(parts)
  const e164 = '+12125550102'
  const id = await parts.number(acme, e164)
  await insertRmsgNumber(sql, { e164, smsStatus: 'not_configured' })
  await insertRmsgNumber(sql, { e164, smsStatus: 'not_configured', test: true })
  const sms = async (test = false) => {
    const [number] = await store.rmsgInventory.list(test, 1)
    return [number?.smsStatus, number?.smsReadyAtMs]
  }
  await assignments.assign(acme, id, null)
  t.same(await sms(), ['pending', null])
  await clock.advance(assignmentMs)
  await brands.submit(acme)
  const readyAtMs = clock.nowMs()
  t.same(await sms(), ['ready', readyAtMs], 'the statuses were read')
  await clock.advance(1000)
  await brands.submit(acme)
  t.same(await sms(), ['ready', readyAtMs], 'the time is that of the change')
  await assignments.unassign(acme, id)
  t.same(await sms(), ['pending', null])
  await clock.advance(assignmentMs)
  await assignments.unassign(acme, id)
  t.same(await sms(), ['not_configured', null])
  await assignments.assign(acme, id, null)
  await store.ownedNumbers.remove(acme, id)
  t.same(await sms(), ['not_configured', null], 'the number was given back')
  t.same(await sms(true), ['not_configured', null], 'that of test keys is another one')
})

t.test('a failed assignment can be repeated, and so can a failed unassignment', async (t) => {
  const parts = await setUp(t, cluster)
  const { assignments, clock } = parts
  const acme = await approved(parts)
  const [fails, stays] = [await parts.number(acme, '+12125550196'), await parts.number(acme, '+12125550195')]
  await assignments.assign(acme, fails, 'own')
  await assignments.assign(acme, stays, 'own')
  await clock.advance(assignmentMs)
  await parts.brands.submit(acme)
  const statusOf = async (id: string) =>
    (await parts.overview(acme)).numbers.find((number) => number.id === id)?.smsAssignment?.status
  t.equal(await statusOf(fails), 'FAILED_ASSIGNMENT')
  t.equal((await assignments.assign(acme, fails, 'own')).smsAssignment?.status, 'PENDING_ASSIGNMENT')
  t.equal((await assignments.unassign(acme, stays)).smsAssignment?.status, 'PENDING_UNASSIGNMENT')
  await clock.advance(assignmentMs)
  t.equal((await assignments.unassign(acme, stays)).smsAssignment?.status, 'FAILED_UNASSIGNMENT', 'asked again: a look')
  t.equal((await assignments.unassign(acme, stays)).smsAssignment?.status, 'PENDING_UNASSIGNMENT')
})

t.test("if no campaign is given, the organization's campaign is used, else the shared campaign", async (t) => {
  const parts = await setUp(t, cluster)
  const { assignments, store, simulated } = parts
  const operator = await approved(parts)
  const bare = await parts.tenant()
  const bareNumber = await parts.number(bare, '+12125550110')
  const assign = (target: 'own' | 'shared' | null) => assignments.assign(bare, bareNumber, target)
  t.same(await faultOf(assign('own')), { kind: 'sms_own_campaign_not_ready' })
  t.same(await faultOf(assign('shared')), { kind: 'sms_shared_campaign_unavailable' })
  t.same(await faultOf(assign(null)), { kind: 'sms_campaign_missing' })
  const shared = { label: 'For all', campaignId: operator.campaignId }
  t.match(await shareCampaign(store.sharedCampaign, simulated, shared), { ...shared, status: 'active' })
  t.match(await parts.overview(bare), { activeSource: 'shared', isReady: false })
  t.same(await faultOf(assign('own')), { kind: 'sms_own_campaign_not_ready' })
  t.match((await assign(null)).smsAssignment, { assignedTo: 'shared', campaignId: operator.campaignId })
  await parts.clock.advance(assignmentMs)
  await assign('shared')
  t.match(await parts.overview(bare), { isReady: true })
  const own = await parts.number(operator, '+12125550111')
  t.match((await assignments.assign(operator, own, null)).smsAssignment, { assignedTo: 'own' })
  await store.sharedCampaign.set(null)
  t.match(await parts.overview(bare), { activeSource: null, isReady: false }, 'it is shared no more')
})

t.test('a number moves to another campaign', async (t) => {
  const parts = await setUp(t, cluster)
  const { assignments, store, simulated } = parts
  const operator = await approved(parts)
  await shareCampaign(store.sharedCampaign, simulated, { label: 'For all', campaignId: operator.campaignId })
  const acme = await approved(parts)
  const id = await parts.number(acme, '+12125550112')
  await assignments.assign(acme, id, 'shared')
  await parts.clock.advance(assignmentMs)
  const moved = (await assignments.assign(acme, id, 'own')).smsAssignment
  t.match(moved, { assignedTo: 'own', campaignId: acme.campaignId, status: 'PENDING_ASSIGNMENT' })
})

t.test("if no campaign is known to be approved, the carrier is asked for the campaign's status", async (t) => {
  const parts = await setUp(t, cluster)
  const acme = await approved(parts, false)
  const id = await parts.number(acme, '+12125550113')
  parts.asked.length = 0
  t.equal((await parts.assignments.assign(acme, id, 'own')).smsAssignment?.status, 'PENDING_ASSIGNMENT')
  t.same(parts.asked, ['findCampaign', 'assign'])
})

t.test('a shared campaign that the carrier no longer approves or knows cannot be used', async (t) => {
  let status = 'MNO_PROVISIONED'
  const parts = await setUp(t, cluster, {
    findCampaign: (id) => Promise.resolve({ id, status, reviewErrors: [] }),
  })
  const { store, simulated, assignments } = parts
  const acme = await parts.tenant()
  const id = await parts.number(acme, '+12125550114')
  t.equal(await shareCampaign(store.sharedCampaign, simulated, { label: 'x', campaignId: 'unknown' }), null)
  t.equal(await store.sharedCampaign.find(), null)
  await store.sharedCampaign.set({ label: 'x', campaignId: 'c', status: 'active' })
  status = 'TCR_SUSPENDED'
  t.same(await faultOf(assignments.assign(acme, id, 'shared')), { kind: 'sms_shared_campaign_unavailable' })
  t.match(await parts.overview(acme), { shared: { status: 'rejected' }, activeSource: null }, 'it is stored')
})

t.test('a campaign that the carrier has removed counts as expired', async (t) => {
  let isGone = false
  const parts = await setUp(t, cluster, {
    findCampaign: (id) =>
      isGone ? Promise.reject(new SmsRegistryError([], { isUnknown: true })) : parts.simulated.findCampaign(id),
  })
  const acme = await approved(parts)
  await parts.store.sharedCampaign.set({ label: 'x', campaignId: acme.campaignId, status: 'active' })
  isGone = true
  await parts.brands.submit(acme)
  t.match((await parts.overview(acme)).registration.submitted, [{ status: 'expired' }])
  const id = await parts.number(acme, '+12125550116')
  t.same(await faultOf(parts.assignments.assign(acme, id, null)), { kind: 'sms_campaign_missing' })
})

t.test('a test key cannot use the shared campaign', async (t) => {
  const parts = await setUp(t, cluster)
  await parts.store.sharedCampaign.set({ label: 'x', campaignId: 'c', status: 'active' })
  const acme = await parts.tenant(true)
  const id = await parts.number(acme, '+12125550115')
  t.same(await faultOf(parts.assignments.assign(acme, id, null)), { kind: 'sms_campaign_missing' })
  t.match(await parts.overview(acme), { shared: null, activeSource: null })
})

t.test("numbers that cannot send text messages, and other organizations' numbers, are not assigned", async (t) => {
  const parts = await setUp(t, cluster)
  const { assignments, isEligible, overview } = parts
  const acme = await approved(parts)
  const rows = {
    'a number without text messages': await parts.number(acme, '+12125550120', { takesSms: false }),
    'a number of another country': await parts.number(acme, '+493012345678'),
    'a number of Canada': await parts.number(acme, '+14165550123'),
    'a number whose order is pending': await parts.number(acme, '+12125550121'),
  }
  await parts.sql`
    update phone_numbers set order_status = 'pending' where id = ${rows['a number whose order is pending']}`
  for (const [title, id] of Object.entries(rows)) {
    t.same(await faultOf(assignments.assign(acme, id, null)), { kind: 'sms_number_unsupported' }, title)
    const number = (await overview(acme)).numbers.find((one) => one.id === id)
    t.equal(number && isEligible(number), false, title)
  }
  const theirs = await parts.number(await parts.tenant(), '+12125550122')
  for (const id of [theirs, 'pn_0123456789012345678901', 'nothing'])
    for (const work of [() => assignments.assign(acme, id, null), () => assignments.unassign(acme, id)])
      t.same(await faultOf(work()), { kind: 'sms_number_not_found' }, id)
})

t.test('before a number is assigned, its approved campaign is checked at the carrier again', async (t) => {
  const suspended = new Set<string>()
  const parts = await setUp(t, cluster, {
    findCampaign: async (id) => ({
      ...(await parts.simulated.findCampaign(id)),
      ...(suspended.has(id) && { status: 'TCR_SUSPENDED' }),
    }),
  })
  const { assignments, store, simulated, overview } = parts
  const operator = await approved(parts)
  const acme = await approved(parts)
  const newer = (await parts.submitted(acme)).campaignId ?? ''
  await parts.clock.advance(campaignReviewMs)
  await parts.brands.submit(acme)
  const id = await parts.number(acme, '+12125550124')
  suspended.add(newer)
  t.match((await assignments.assign(acme, id, 'own')).smsAssignment, { campaignId: acme.campaignId }, 'an older one')
  suspended.add(acme.campaignId)
  t.match(await overview(acme), { activeSource: 'own' }, 'what is stored is a snapshot')
  t.same(await faultOf(assignments.assign(acme, id, 'own')), { kind: 'sms_own_campaign_not_ready' })
  t.match(await overview(acme), { activeSource: null, registration: { submitted: [{ status: 'rejected' }] } })
  await shareCampaign(store.sharedCampaign, simulated, { label: 'For all', campaignId: operator.campaignId })
  t.match((await assignments.assign(acme, id, null)).smsAssignment, { assignedTo: 'shared' }, 'the shared one')
})

t.test('the reasons of a refusal are stored with the number until its assignment changes', async (t) => {
  const reasons = [{ field: null, message: 'The number is on another network.' }]
  let answer: SmsRegistryError | null = new SmsRegistryError(reasons)
  const parts = await setUp(t, cluster, {
    assign: (e164, campaignId) => (answer ? Promise.reject(answer) : parts.simulated.assign(e164, campaignId)),
  })
  const { assignments, overview, clock } = parts
  const acme = await approved(parts)
  const id = await parts.number(acme, '+12125550196')
  const stored = async () => (await overview(acme)).numbers[0]
  t.same(await faultOf(assignments.assign(acme, id, null)), { kind: 'sms_carrier_failed', of: 'number' })
  t.match(await stored(), { smsAssignment: null, smsReviewErrors: reasons })
  answer = new SmsRegistryError([])
  t.same(await faultOf(assignments.assign(acme, id, null)), { kind: 'sms_carrier_failed', of: 'number' })
  t.match(await stored(), { smsReviewErrors: reasons }, 'an outage has no reasons')
  answer = null
  await assignments.assign(acme, id, null)
  t.same((await stored())?.smsReviewErrors, [])
  await clock.advance(assignmentMs)
  await parts.brands.submit(acme)
  const failed = { smsAssignment: { status: 'FAILED_ASSIGNMENT' }, smsReviewErrors: [{ field: null, message: String }] }
  t.match(await stored(), failed, 'an assignment that fails later has reasons too')
})

t.test('if the carrier refuses or is unreachable, the number keeps its assignment', async (t) => {
  const refuse = () => Promise.reject(new SmsRegistryError([]))
  const parts = await setUp(t, cluster, { assign: refuse, unassign: refuse })
  const acme = await approved(parts)
  const id = await parts.number(acme, '+12125550123')
  t.same(await faultOf(parts.assignments.assign(acme, id, null)), { kind: 'sms_carrier_failed', of: 'number' })
  t.equal((await parts.overview(acme)).numbers[0]?.smsAssignment, null)
  await parts.store.numberCampaigns.assign(acme, id, {
    smsAssignment: { campaignId: acme.campaignId, assignedTo: 'own', status: 'ASSIGNED', updatedAtMs: 1 },
    smsReviewErrors: [],
  })
  t.same(await faultOf(parts.assignments.unassign(acme, id)), { kind: 'sms_carrier_failed', of: 'number' })
  t.equal((await parts.overview(acme)).numbers[0]?.smsAssignment?.status, 'ASSIGNED')
})
