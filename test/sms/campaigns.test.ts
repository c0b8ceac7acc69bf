/** Campaigns for text messages: every state, and the changes between the states. */
import t from 'tap'
import { SmsRegistryError } from '../../domain/ports/sms-registry.ts'
import { Fault } from '../../domain/records/fault.ts'
import { campaignStatusOf } from '../../domain/records/sms-states.ts'
import { brandProfile, campaignProfile } from '../carrier/sms-profiles.ts'
import { TestCluster } from '../store/cluster.ts'
import { campaignReviewMs, faultOf, setUp } from './setup.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

t.test('each campaign status of the carrier maps to a campaign status of our API', (t) => {
  const rows = {
    TCR_PENDING: 'pending',
    TCR_SUSPENDED: 'rejected',
    TCR_EXPIRED: 'expired',
    TCR_ACCEPTED: 'pending',
    TCR_FAILED: 'rejected',
    TELNYX_ACCEPTED: 'pending',
    TELNYX_FAILED: 'rejected',
    MNO_PENDING: 'pending',
    MNO_ACCEPTED: 'pending',
    MNO_REJECTED: 'rejected',
    MNO_PROVISIONED: 'active',
    MNO_PROVISIONING_FAILED: 'rejected',
    A_NEW_ONE: 'pending',
  }
  for (const [status, ours] of Object.entries(rows)) t.equal(campaignStatusOf({ status }), ours, status)
  t.end()
})

t.test('a campaign is saved, submitted and approved', async (t) => {
  const { campaigns, brands, overview, clock, asked, ...more } = await setUp(t, cluster)
  const tenant = await more.tenant()
  t.same(await faultOf(campaigns.submit(tenant)), { kind: 'sms_profile_missing', of: 'campaign' }, 'before the brand')
  t.match(await campaigns.save(tenant, campaignProfile), { status: 'draft', campaignId: null, submittedAtMs: null })
  t.same(await faultOf(campaigns.submit(tenant)), { kind: 'sms_brand_not_ready' }, 'without a brand')
  await brands.save(tenant, brandProfile)
  await brands.submit(tenant)
  t.same(await faultOf(campaigns.submit(tenant)), { kind: 'sms_brand_not_ready' }, 'while the brand is pending')
  await more.verified(tenant)
  asked.length = 0
  const submitted = await campaigns.submit(tenant)
  t.match(submitted, { status: 'pending', campaignId: String, submittedAtMs: clock.nowMs() })
  t.same(asked, ['createCampaign'])
  t.equal((await overview(tenant)).activeSource, null)
  await clock.advance(campaignReviewMs)
  await brands.submit(tenant)
  t.match((await overview(tenant)).registration.submitted, [{ status: 'active', id: submitted.campaignId }])
  t.match(await overview(tenant), { activeSource: 'own', isReady: false })
})

t.test('a campaign may be rejected, and an approved campaign may expire', async (t) => {
  const { submitted, verified, clock, brands, overview, tenant } = await setUp(t, cluster)
  const acme = await tenant()
  await verified(acme)
  await submitted(acme, { description: 'Wins a prize [reject] for everyone.' })
  await submitted(acme, { description: 'Is not renewed [expire] in time.' })
  await clock.advance(campaignReviewMs)
  await brands.submit(acme)
  const { registration } = await overview(acme)
  t.match(registration.submitted, [{ status: 'expired' }, { status: 'rejected', reviewErrors: [{ message: String }] }])
})

t.test('each submission makes a campaign, and the newest campaign is shown', async (t) => {
  const { submitted, campaigns, verified, clock, brands, overview, tenant } = await setUp(t, cluster)
  const acme = await tenant()
  await verified(acme)
  const first = await submitted(acme)
  await clock.advance(campaignReviewMs)
  await brands.submit(acme)
  const draft = await campaigns.save(acme, { ...campaignProfile, description: 'Another text.' })
  t.match(draft, { status: 'active', campaignId: first.campaignId, profile: { description: 'Another text.' } })
  const second = await campaigns.submit(acme)
  t.not(second.campaignId, first.campaignId)
  t.equal(second.status, 'pending')
  t.match((await overview(acme)).registration.submitted, [{ id: second.campaignId }, { id: first.campaignId }])
  t.equal((await overview(acme)).activeSource, 'own', 'the first one is approved still')
})

t.test('if the carrier refuses a campaign, the reasons are stored until the next submission', async (t) => {
  const refused = [{ field: 'messageFlow', message: 'Too short.' }]
  let isRefused = true
  const { submitted, campaigns, verified, simulated, overview, tenant } = await setUp(t, cluster, {
    createCampaign: (...wanted) =>
      isRefused ? Promise.reject(new SmsRegistryError(refused)) : simulated.createCampaign(...wanted),
  })
  const acme = await tenant()
  await verified(acme)
  t.same(await faultOf(submitted(acme)), { kind: 'sms_carrier_failed', of: 'campaign' })
  const { registration } = await overview(acme)
  t.match(registration, { campaign: { reviewErrors: refused }, submitted: [] })
  isRefused = false
  t.match(await campaigns.submit(acme), { status: 'pending', reviewErrors: [] })
})

t.test('if the answer to a submission was lost, the campaign is found and not created again', async (t) => {
  let lost: Error | null = new SmsRegistryError([], { mayBeDone: true })
  let isVisible = true
  const { submitted, campaigns, verified, simulated, overview, asked, tenant } = await setUp(t, cluster, {
    createCampaign: async (...wanted) => {
      const made = await simulated.createCampaign(...wanted)
      if (lost) throw lost
      return made
    },
    findCampaignByReference: (...of) => (isVisible ? simulated.findCampaignByReference(...of) : Promise.resolve(null)),
  })
  const acme = await tenant()
  await verified(acme)
  const stored = async () => (await overview(acme)).registration
  t.same(await faultOf(submitted(acme)), { kind: 'sms_carrier_failed', of: 'campaign' })
  t.match(await stored(), { submitted: [], campaign: { intent: { reference: String } } })
  isVisible = false
  t.same(
    await faultOf(campaigns.submit(acme)),
    { kind: 'sms_carrier_failed', of: 'campaign' },
    'the reference is in use',
  )
  isVisible = true
  asked.length = 0
  const found = await campaigns.submit(acme)
  t.match(found, { status: 'pending', campaignId: String, reviewErrors: [] })
  t.same(asked, ['findCampaignByReference'], 'nothing is paid')
  t.match(await stored(), { submitted: [{ id: found.campaignId }], campaign: { intent: null } })

  // The process dies after it has sent the request.
  lost = new Error('killed')
  await t.rejects(submitted(acme), { message: 'killed' })
  lost = null
  asked.length = 0
  const newer = await submitted(acme, { description: 'Another text.' })
  t.same(asked, ['findCampaignByReference', 'createCampaign'], 'another profile is another campaign')
  const ids = (await stored()).submitted.map(({ id }) => id)
  t.equal(new Set(ids).size, 3, 'both are known')
  t.equal(ids[0], newer.campaignId)
})

t.test('if the database fails after the carrier made a campaign, the request must not be repeated', async (t) => {
  let isAway = false
  const orAway = <Answer>(work: () => Promise<Answer>) =>
    isAway ? Promise.reject(new Fault({ kind: 'store_unreachable' }, { retryAfterS: 1 })) : work()
  const { submitted, campaigns, verified, simulated, overview, asked, clock, tenant } = await setUp(
    t,
    cluster,
    {
      createCampaign: async (...wanted) => {
        const made = await simulated.createCampaign(...wanted)
        isAway = true
        return made
      },
    },
    (stored) => ({
      change: (...change) => orAway(() => stored.change(...change)),
      release: (of) => orAway(() => stored.release(of)),
    }),
  )
  const acme = await tenant()
  await verified(acme)
  t.match(await submitted(acme).catch((error: unknown) => error), {
    kind: 'store_unreachable',
    detail: { isKeySpent: true },
  })
  isAway = false
  t.same(await faultOf(campaigns.submit(acme)), { kind: 'sms_under_way' })
  await clock.advance(120_001)
  asked.length = 0
  const found = await campaigns.submit(acme)
  t.same(asked, ['findCampaignByReference'], 'nothing is paid')
  t.match((await overview(acme)).registration.submitted, [{ id: found.campaignId }])
})

t.test('if the database fails after the carrier has ended a billed step, the request still succeeds', async (t) => {
  const release = () => Promise.reject(new Fault({ kind: 'store_unreachable' }, { retryAfterS: 1 }))
  let isAway = false
  const { submitted, verified, overview, tenant } = await setUp(t, cluster, {}, (stored) => ({
    release: (of) => (isAway ? release() : stored.release(of)),
  }))
  const acme = await tenant()
  await verified(acme)
  isAway = true
  const made = await submitted(acme)
  t.match((await overview(acme)).registration.submitted, [{ id: made.campaignId }])
})

t.test('if the carrier has refused or never received a campaign, it is submitted again', async (t) => {
  const answers = [new SmsRegistryError([], { mayBeDone: true }), new SmsRegistryError([]), null]
  const references: string[] = []
  const { submitted, campaigns, verified, simulated, asked, tenant } = await setUp(t, cluster, {
    createCampaign: (...wanted) => {
      references.push(wanted[2])
      const error = answers.shift()
      return error ? Promise.reject(error) : simulated.createCampaign(...wanted)
    },
  })
  const acme = await tenant()
  await verified(acme)
  await faultOf(submitted(acme))
  asked.length = 0
  await faultOf(campaigns.submit(acme))
  t.match(await campaigns.submit(acme), { status: 'pending' })
  const pair = ['findCampaignByReference', 'createCampaign']
  t.same(asked, [...pair, ...pair])
  t.equal(new Set(references).size, 1, 'under one reference, which the carrier takes once')
})

t.test('an organization may submit at most 100 campaigns', async (t) => {
  const { submitted, verified, sql, asked, tenant } = await setUp(t, cluster)
  const acme = await tenant()
  await verified(acme)
  const { organizationId, test } = acme
  await sql`
    insert into sms_campaigns (organization_id, test, id, status, review_errors, submitted_at)
    select ${organizationId}, ${test}, 'c' || n, 'expired', '[]', now() from generate_series(1, 99) n`
  t.equal(await faultOf(submitted(acme)), null)
  asked.length = 0
  t.same(await faultOf(submitted(acme)), { kind: 'limit_reached', resource: 'campaign', limit: 100 })
  t.same(asked, [], 'nothing is paid')
})
