/**
 * Tests the responses about text messages: all fields, the closed lists of values, and the carrier's reasons for a
 * number.
 */
import t from 'tap'
import { brandProfile, campaignProfile } from '../carrier/sms-profiles.ts'
import type { Target } from '../router/requests.ts'
import { call, faultOf, startOwnAdministered } from './setup.ts'

const { parley, admin } = await startOwnAdministered(t)
const base = '/v1/sms/10dlc'

async function enabled(name: string): Promise<Target> {
  const { id, ...acme } = await admin.organization(name)
  await admin.store.organizations.change(id, { smsEnabled: true })
  // Test keys buy numbers without a verified business.
  return admin.key(id, { test: true, scopes: ['platform'] }).then((key) => ({ ...acme, ...key }))
}

async function asked<Body = Record<string, unknown>>(target: Target, method: string, path: string, body?: object) {
  const answer = await call(target, method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.json<Body>()
}
const advance = (advanceMs: number) => asked(parley, 'POST', '/simulator/clock', { advanceMs })
const refresh = (target: Target) => asked(target, 'POST', `${base}/brand/submit`)
const namesIn = (value: unknown) => Object.keys(value as object).sort()

type Shown = {
  ownBrand: Record<string, unknown>
  ownCampaign: Record<string, unknown>
  sharedCampaign: object
  numbers: { id: string; smsAssignmentStatus: string | null; reviewErrors: object[] }[]
}
const overview = (target: Target) => asked<Shown>(target, 'GET', base)

/** Makes an organization whose campaign is approved. */
async function approved(name: string): Promise<Target> {
  const acme = await enabled(name)
  await asked(acme, 'PUT', `${base}/brand`, brandProfile)
  await refresh(acme)
  await advance(5_000)
  await refresh(acme)
  await asked(acme, 'PUT', `${base}/campaign`, campaignProfile)
  await asked(acme, 'POST', `${base}/campaign/submit`)
  await advance(60_000)
  await refresh(acme)
  return acme
}

async function bought(target: Target, e164: string): Promise<string> {
  return (await asked<{ id: string }>(target, 'POST', '/v1/phone-numbers', { e164 })).id
}

t.test('each answer of the SMS registration has all fields of the contract', async (t) => {
  const acme = await enabled('fields')
  const brand = ['hasUnsubmittedChanges', 'identityStatus', 'profile', 'reviewErrors', 'status', 'submittedAt']
  const campaign = ['campaignId', 'profile', 'reviewErrors', 'status', 'submittedAt', 'useCase']
  const number = ['assignedTo', 'campaignId', 'e164', 'id', 'label', 'smsAssignmentStatus', 'smsEligible']
  for (const [method, path, body] of [
    ['PUT', 'brand', brandProfile],
    ['POST', 'brand/submit', undefined],
  ] as const) {
    const answer = await asked(acme, method, `${base}/${path}`, body)
    t.same(namesIn(answer), ['identityStatus', 'ownBrand', 'status'], path)
    t.same(namesIn(answer['ownBrand']), brand, path)
  }
  await advance(5_000)
  await refresh(acme)
  const vetting = await asked(acme, 'POST', `${base}/brand/vetting`, { vettingClass: 'STANDARD' })
  t.same(vetting, { status: 'pending', vettingClass: 'STANDARD' })
  for (const [method, path, body] of [
    ['PUT', 'campaign', campaignProfile],
    ['POST', 'campaign/submit', undefined],
  ] as const) {
    const answer = await asked(acme, method, `${base}/${path}`, body)
    t.same(namesIn(answer), ['ownCampaign', 'status'], path)
    t.same(namesIn(answer['ownCampaign']), campaign, path)
  }
  await advance(60_000)
  await refresh(acme)
  const id = await bought(acme, '+12125550110')
  for (const method of ['POST', 'DELETE'])
    t.same(namesIn(await asked(acme, method, `${base}/numbers/${id}/assign`)), number, method)
  const all = await overview(acme)
  t.same(
    namesIn(all),
    ['activeCampaignSource', 'numbers', 'ownBrand', 'ownCampaign', 'sharedCampaign', 'smsReady'],
    'the registration',
  )
  t.same(namesIn(all.ownBrand), brand)
  t.same(namesIn(all.ownCampaign), campaign)
  t.same(namesIn(all.sharedCampaign), ['available', 'campaignId', 'label', 'status'])
  t.same(namesIn(all.numbers[0]), [...number, 'reviewErrors'].sort())
})

t.test('a brand tells whether it has changes that were not submitted', async (t) => {
  const acme = await enabled('changes')
  const hasChanges = async () => (await overview(acme)).ownBrand['hasUnsubmittedChanges']
  await asked(acme, 'PUT', `${base}/brand`, brandProfile)
  t.equal(await hasChanges(), true)
  await refresh(acme)
  t.equal(await hasChanges(), false)
  await asked(acme, 'PUT', `${base}/brand`, brandProfile)
  t.equal(await hasChanges(), false, 'the same profile')
  await asked(acme, 'PUT', `${base}/brand`, { ...brandProfile, street: '2 Main Street' })
  t.equal(await hasChanges(), true)
  await refresh(acme)
  t.equal(await hasChanges(), false)
})

t.test("a refused assignment and a failed assignment show the carrier's reasons with the number", async (t) => {
  const acme = await approved('reasons')
  const refused = await bought(acme, '+12125550194')
  const answer = await call(acme, 'POST', `${base}/numbers/${refused}/assign`)
  t.same(faultOf(answer), { status: 502, code: 'CARRIER_NUMBER_ASSIGNMENT_FAILED' })
  const numberOf = async (id: string) => (await overview(acme)).numbers.find((number) => number.id === id)
  t.match(await numberOf(refused), {
    smsAssignmentStatus: null,
    reviewErrors: [{ field: null, message: 'The number cannot be in a campaign.' }],
  })
  const fails = await bought(acme, '+12125550196')
  t.match(await asked(acme, 'POST', `${base}/numbers/${fails}/assign`), { smsAssignmentStatus: 'PENDING_ASSIGNMENT' })
  t.match(await numberOf(fails), { smsAssignmentStatus: 'PENDING_ASSIGNMENT', reviewErrors: [] })
  await advance(2_000)
  await refresh(acme)
  t.match(await numberOf(fails), {
    smsAssignmentStatus: 'FAILED_ASSIGNMENT',
    reviewErrors: [{ field: null, message: 'The carriers refused the number.' }],
  })
  await asked(acme, 'POST', `${base}/numbers/${fails}/assign`)
  t.match(await numberOf(fails), { smsAssignmentStatus: 'PENDING_ASSIGNMENT', reviewErrors: [] }, 'until the next one')
  const stays = await bought(acme, '+12125550195')
  await asked(acme, 'POST', `${base}/numbers/${stays}/assign`)
  await advance(2_000)
  await asked(acme, 'DELETE', `${base}/numbers/${stays}/assign`)
  await advance(2_000)
  await refresh(acme)
  t.match(await numberOf(stays), { smsAssignmentStatus: 'FAILED_UNASSIGNMENT', reviewErrors: [{ message: String }] })
})

const entityTypes = ['PRIVATE_PROFIT', 'PUBLIC_PROFIT', 'NON_PROFIT', 'GOVERNMENT', 'SOLE_PROPRIETOR']
const verticals =
  `REAL_ESTATE HEALTHCARE ENERGY ENTERTAINMENT RETAIL AGRICULTURE INSURANCE EDUCATION HOSPITALITY FINANCIAL
  GAMBLING CONSTRUCTION NGO MANUFACTURING GOVERNMENT TECHNOLOGY COMMUNICATION`.split(/\s+/)
const useCases =
  `2FA ACCOUNT_NOTIFICATION CUSTOMER_CARE DELIVERY_NOTIFICATION FRAUD_ALERT HIGHER_EDUCATION LOW_VOLUME MARKETING
  MIXED POLLING_VOTING PUBLIC_SERVICE_ANNOUNCEMENT SECURITY_ALERT CHARITY EMERGENCY POLITICAL SOLE_PROPRIETOR`.split(
    /\s+/,
  )

t.test('brands, campaigns, vettings and assignments accept only the listed values', async (t) => {
  const acme = await enabled('lists')
  const lists: [string, string, object, readonly string[]][] = [
    ['brand', 'entityType', brandProfile, entityTypes],
    ['brand', 'vertical', brandProfile, verticals],
    ['campaign', 'useCase', campaignProfile, useCases],
  ]
  for (const [path, field, profile, values] of lists) {
    for (const value of values)
      t.equal((await call(acme, 'PUT', `${base}/${path}`, { ...profile, [field]: value })).status, 200, value)
    for (const value of ['OTHER', values[0]?.toLowerCase(), ''])
      t.same(
        faultOf(await call(acme, 'PUT', `${base}/${path}`, { ...profile, [field]: value })),
        { status: 400, code: 'VALIDATION_ERROR', paths: [`/${field}`] },
        `${field} ${value}`,
      )
  }
  for (const vettingClass of ['STANDARD', 'ENHANCED', 'POLITICAL'])
    t.match(faultOf(await call(acme, 'POST', `${base}/brand/vetting`, { vettingClass })), { code: 'BRAND_REQUIRED' })
  for (const target of ['own', 'shared'])
    t.match(faultOf(await call(acme, 'POST', `${base}/numbers/nobody/assign`, { target })), {
      code: 'PHONE_NUMBER_NOT_FOUND',
    })
})

t.test(
  'a failed brand gets no campaign, and a rejected campaign shows the reasons that the carrier gave',
  async (t) => {
    const acme = await approved('codes')
    const long = await enabled('a brand that the carrier does not take')
    t.equal((await call(long, 'PUT', `${base}/brand`, { ...brandProfile, ein: '12-0000001' })).status, 200)
    const failed = await refresh(long)
    t.match(failed, { status: 'failed', ownBrand: { reviewErrors: [{ field: null, message: String }] } })
    await asked(long, 'PUT', `${base}/campaign`, campaignProfile)
    t.same(faultOf(await call(long, 'POST', `${base}/campaign/submit`)), { status: 400, code: 'BRAND_NOT_READY' })
    await asked(acme, 'PUT', `${base}/campaign`, { ...campaignProfile, description: 'We write [reject] to all.' })
    await asked(acme, 'POST', `${base}/campaign/submit`)
    await advance(60_000)
    await refresh(acme)
    t.match(await overview(acme), { ownCampaign: { status: 'rejected', reviewErrors: [{ message: String }] } })
  },
)
