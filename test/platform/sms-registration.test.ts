/**
 * Tests the registration for text messages over HTTP: who may use it, its limits, its codes, and its effects elsewhere.
 */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { newEntry } from '../../simulator/registry-ids.ts'
import { insertNumber } from '../phone/stored-number.ts'
import { openDatabase } from '../process/database.ts'
import { type Answer, send, type Target } from '../router/requests.ts'
import { call, faultOf, startOwnAdministered } from './setup.ts'

const { parley, admin } = await startOwnAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())

const base = '/v1/sms/10dlc'
const contact = { firstName: 'Dana', lastName: 'Reed', email: 'dana@harbordental.example', phone: '+12025550144' }
const brand = {
  legalName: 'Harbor Dental LLC',
  displayName: 'Harbor Dental',
  entityType: 'PRIVATE_PROFIT',
  vertical: 'HEALTHCARE',
  ein: '12-3456789',
  website: 'https://harbordental.example',
  street: '1 Main Street',
  city: 'Boston',
  state: 'MA',
  postalCode: '02108',
  supportEmail: 'help@harbordental.example',
  supportPhone: '+12025550143',
  authorizedContact: contact,
}
const campaign = {
  useCase: 'CUSTOMER_CARE',
  description: 'Reminders of appointments.',
  messageFlow: 'Patients agree in a form.',
  sampleMessages: ['Your appointment is tomorrow.'],
  helpMessage: 'Call for help.',
  optOutMessage: 'No more messages.',
}

async function enabled(name: string) {
  const acme = await admin.organization(name)
  await sql`update organizations set sms_enabled = true where id = ${acme.id}`
  return acme
}

/** Makes an id for a verified brand, because the simulated carrier stores the review result in the ids. */
const verifiedBrand = () => newEntry('brand', ['verified'], 'verified', Date.now() - 60_000).id

async function verify(t: Test, target: Target & { id: string }): Promise<void> {
  t.equal((await call(target, 'PUT', `${base}/brand`, brand)).status, 200)
  await sql`
    update sms_registrations set brand_status = 'pending', brand_carrier_id = ${verifiedBrand()}, brand_is_changed = false
    where organization_id = ${target.id}`
  const submitted = await call(target, 'POST', `${base}/brand/submit`)
  t.match(submitted.json(), { status: 'verified', identityStatus: 'VERIFIED' }, submitted.text)
}

t.test('if text messages are off for an organization, requests are refused before the body is read', async (t) => {
  const acme = await admin.organization('without messages')
  const ways: [string, string][] = [
    ['GET', base],
    ['PUT', `${base}/brand`],
    ['POST', `${base}/brand/submit`],
    ['POST', `${base}/brand/vetting`],
    ['PUT', `${base}/campaign`],
    ['POST', `${base}/campaign/submit`],
    ['POST', `${base}/numbers/pn_0123456789012345678901/assign`],
    ['DELETE', `${base}/numbers/pn_0123456789012345678901/assign`],
  ]
  for (const [method, path] of ways) {
    const body = method === 'GET' ? {} : { body: '{ no JSON', headers: { 'content-type': 'application/json' } }
    const answer = await send(acme, path, { method, ...body })
    t.same(faultOf(answer), { status: 403, code: 'SMS_10DLC_DISABLED_FOR_ORG' }, `${method} ${path}`)
  }
  const router = await admin.key(acme.id, { scopes: ['router'] })
  t.match(faultOf(await call(router, 'GET', base)), { status: 403, code: 'FORBIDDEN' }, 'the scope comes first')
  t.match(faultOf(await call({ ...router, key: 'sk_live_nothing' }, 'GET', base)), { status: 401 })
})

t.test('an SMS registration is empty at first, and separate for live and test keys', async (t) => {
  const acme = await enabled('empty')
  const empty = {
    ownBrand: null,
    ownCampaign: null,
    sharedCampaign: { available: false, label: null, campaignId: null, status: null },
    numbers: [],
    smsReady: false,
    activeCampaignSource: null,
  }
  t.same((await call(acme, 'GET', base)).json(), empty)
  const test = await admin.key(acme.id, { test: true, scopes: ['platform'] })
  await call(test, 'PUT', `${base}/brand`, brand)
  t.match((await call(test, 'GET', base)).json(), { ownBrand: { status: 'draft', profile: { country: 'US' } } })
  t.same((await call(acme, 'GET', base)).json(), empty, 'the live one is another')
})

t.test('a step of the registration is refused with the error code for the missing step', async (t) => {
  const acme = await enabled('steps')
  const refused = async (path: string, status: number, code: string, body?: object) =>
    t.same(faultOf(await call(acme, 'POST', `${base}/${path}`, body)), { status, code }, `${path} ${code}`)
  await refused('brand/submit', 400, 'PROFILE_REQUIRED')
  await refused('brand/vetting', 400, 'BRAND_REQUIRED', { vettingClass: 'STANDARD' })
  await refused('campaign/submit', 400, 'PROFILE_REQUIRED')
  t.match((await call(acme, 'PUT', `${base}/campaign`, campaign)).json(), { status: 'draft' })
  await refused('campaign/submit', 400, 'BRAND_NOT_READY')
  const number = await insertNumber(sql, { organizationId: acme.id, test: false }, { e164: '+12125550130' })
  await refused(`numbers/${number}/assign`, 400, 'SMS_ASSIGNMENT_UNSUPPORTED_NUMBER')
  await sql`update phone_numbers set source = 'sip_trunk', takes_sms = true where id = ${number}`
  await refused(`numbers/${number}/assign`, 400, 'SMS_ASSIGNMENT_UNSUPPORTED_NUMBER')
  await sql`update phone_numbers set source = 'managed' where id = ${number}`
  await refused(`numbers/${number}/assign`, 409, 'NO_ELIGIBLE_CAMPAIGN')
  await refused(`numbers/${number}/assign`, 409, 'OWN_CAMPAIGN_NOT_READY', { target: 'own' })
  await refused(`numbers/${number}/assign`, 409, 'SHARED_CAMPAIGN_UNAVAILABLE', { target: 'shared' })
  await refused('numbers/pn_0123456789012345678901/assign', 404, 'PHONE_NUMBER_NOT_FOUND')
  const unknown = await call(acme, 'DELETE', `${base}/numbers/nothing/assign`)
  t.same(faultOf(unknown), { status: 404, code: 'PHONE_NUMBER_NOT_FOUND' })
})

t.test('if the carrier does not have the brand or the campaign, each step fails with its error code', async (t) => {
  const acme = await enabled('strange ids')
  await call(acme, 'PUT', `${base}/brand`, brand)
  await call(acme, 'PUT', `${base}/campaign`, campaign)
  await sql`
    update sms_registrations set brand_status = 'verified', brand_carrier_id = 'nobody', brand_is_changed = false
    where organization_id = ${acme.id}`
  const failed = async (path: string, code: string, body?: object) =>
    t.same(faultOf(await call(acme, 'POST', `${base}/${path}`, body)), { status: 502, code })
  await failed('brand/vetting', 'CARRIER_VETTING_FAILED', { vettingClass: 'STANDARD' })
  await failed('campaign/submit', 'CARRIER_CAMPAIGN_SUBMIT_FAILED')
  const submitted = await call(acme, 'POST', `${base}/brand/submit`)
  t.match(submitted.json(), { status: 'failed', ownBrand: { reviewErrors: [{ field: null }] } }, 'it was removed there')
  await sql`
    insert into sms_campaigns (organization_id, test, id, status, review_errors, submitted_at)
    values (${acme.id}, false, 'nothing', 'active', '[]', now())`
  const number = await insertNumber(sql, { organizationId: acme.id, test: false }, { e164: '+12125550131' })
  await sql`update phone_numbers set takes_sms = true where id = ${number}`
  const assigned = await call(acme, 'POST', `${base}/numbers/${number}/assign`)
  t.same(faultOf(assigned), { status: 409, code: 'NO_ELIGIBLE_CAMPAIGN' }, 'it is read before a number is assigned')
})

t.test("if the carrier refuses a brand, reviewErrors has the carrier's reasons", async (t) => {
  const acme = await enabled('refused')
  await call(acme, 'PUT', `${base}/brand`, brand)
  // No request can save such a long name, so the test writes the name to the table.
  const rename = (length: number) => sql`
    update sms_registrations
    set brand_profile = jsonb_set(brand_profile::jsonb, '{displayName}', to_jsonb(repeat('x', ${length}::int)))
    where organization_id = ${acme.id}`
  await rename(101)
  const submitted = await call(acme, 'POST', `${base}/brand/submit`)
  await rename(100)
  t.same(faultOf(submitted), { status: 502, code: 'CARRIER_BRAND_SUBMIT_FAILED' })
  const { ownBrand } = (await call(acme, 'GET', base)).json<{ ownBrand: object }>()
  t.match(ownBrand, { status: 'draft', reviewErrors: [{ field: 'displayName', message: String }], submittedAt: null })
})

t.test('each field of a brand and of a campaign is accepted at its limit and refused beyond its limit', async (t) => {
  const acme = await enabled('limits')
  const put = (path: string, body: object) => call(acme, 'PUT', `${base}/${path}`, body)
  const taken = async (path: string, body: object, title: string) => t.equal((await put(path, body)).status, 200, title)
  const refused = async (path: string, body: object, at: string) =>
    t.same(faultOf(await put(path, body)), { status: 400, code: 'VALIDATION_ERROR', paths: [at] }, at)
  const long = (length: number) => 'x'.repeat(length)
  const texts: [string, string, number][] = [
    ...['legalName', 'displayName', 'website', 'street', 'city'].map(
      (field) => ['brand', field, 100] as [string, string, number],
    ),
    ['brand', 'state', 20],
    ['brand', 'postalCode', 10],
    ...['description', 'messageFlow', 'helpMessage', 'optInMessage', 'optOutMessage'].map(
      (field) => ['campaign', field, 4096] as [string, string, number],
    ),
    ...['optInKeywords', 'helpKeywords', 'optOutKeywords'].map(
      (field) => ['campaign', field, 255] as [string, string, number],
    ),
  ]
  for (const [path, field, charactersMax] of texts) {
    const whole = path === 'brand' ? brand : campaign
    await taken(path, { ...whole, [field]: long(charactersMax) }, `${field} of ${charactersMax}`)
    await refused(path, { ...whole, [field]: long(charactersMax + 1) }, `/${field}`)
    await refused(path, { ...whole, [field]: '' }, `/${field}`)
    await refused(path, { ...whole, [field]: '  ' }, `/${field}`)
  }
  const samples = (count: number, length = 1) => ({ ...campaign, sampleMessages: Array(count).fill(long(length)) })
  await taken('campaign', samples(1), 'one sample')
  await taken('campaign', samples(5, 1024), 'five samples of 1,024 characters')
  await refused('campaign', samples(0), '/sampleMessages')
  await refused('campaign', samples(6), '/sampleMessages')
  await refused('campaign', samples(1, 1025), '/sampleMessages/0')
  await refused('campaign', { ...campaign, useCase: 'SPAM' }, '/useCase')
  await refused('brand', { ...brand, vertical: 'SPAM' }, '/vertical')
  await refused('brand', { ...brand, entityType: 'SPAM' }, '/entityType')
  await refused('brand', { ...brand, country: 'usa' }, '/country')
  await refused('brand', { ...brand, ein: '1' }, '/ein')
  await refused('brand', { ...brand, ein: undefined }, '/ein')
  await refused('brand', { ...brand, supportPhone: '+15555550100' }, '/supportPhone')
  await refused('brand', { ...brand, supportEmail: 'nobody' }, '/supportEmail')
  // Outside the USA a tax number may have any form.
  await taken('brand', { ...brand, country: 'DE', ein: long(20) }, 'a tax number of 20 characters')
  await refused('brand', { ...brand, country: 'DE', ein: long(21) }, '/ein')
  const email = (length: number) => `${long(length - '@a.example'.length)}@a.example`
  await taken('brand', { ...brand, supportEmail: email(100) }, 'an address of 100 characters')
  await refused('brand', { ...brand, supportEmail: email(101) }, '/supportEmail')
  const limits = [
    ['firstName', long],
    ['lastName', long],
    ['email', email],
  ] as const
  for (const [field, ofLength] of limits) {
    const withField = (value: string | undefined) => ({ ...brand, authorizedContact: { ...contact, [field]: value } })
    await taken('brand', withField(ofLength(100)), `${field} of 100`)
    await refused('brand', withField(ofLength(101)), `/authorizedContact/${field}`)
    await refused('brand', withField(undefined), `/authorizedContact/${field}`)
  }
  await refused('brand', { ...brand, authorizedContact: { ...contact, phone: '12' } }, '/authorizedContact/phone')
  await taken(
    'brand',
    { ...brand, ein: undefined, entityType: 'SOLE_PROPRIETOR' },
    'a sole proprietor needs no tax number',
  )
  for (const field of Object.keys(brand).filter((name) => name !== 'ein'))
    await refused('brand', { ...brand, [field]: undefined }, `/${field}`)
  for (const field of Object.keys(campaign)) await refused('campaign', { ...campaign, [field]: undefined }, `/${field}`)
  const vetting = await call(acme, 'POST', `${base}/brand/vetting`, { vettingClass: 'QUICK' })
  t.match(faultOf(vetting), { status: 400, paths: ['/vettingClass'] })
  const target = await call(acme, 'POST', `${base}/numbers/pn_0123456789012345678901/assign`, { target: 'theirs' })
  t.match(faultOf(target), { status: 400, paths: ['/target'] })
})

t.test('a campaign without keywords gets START, HELP and STOP, and no embedded link or phone', async (t) => {
  const acme = await enabled('defaults')
  const saved = await call(acme, 'PUT', `${base}/campaign`, campaign)
  const words = { optInKeywords: 'START', helpKeywords: 'HELP', optOutKeywords: 'STOP' }
  const profile = { ...campaign, ...words, embeddedLink: false, embeddedPhone: false }
  t.same(saved.json<{ ownCampaign: { profile: object } }>().ownCampaign.profile, profile)
  t.match((await call(acme, 'GET', base)).json(), { ownCampaign: { status: 'draft', useCase: 'CUSTOMER_CARE' } })
})

t.test('a repeated submission with the same Idempotency-Key submits the campaign once', async (t) => {
  const acme = await enabled('repeats')
  await verify(t, acme)
  await call(acme, 'PUT', `${base}/campaign`, campaign)
  const headers = { 'idempotency-key': randomUUID() }
  const submit = () => send(acme, `${base}/campaign/submit`, { method: 'POST', headers })
  const first = await submit()
  t.match(first.json(), { status: 'pending' }, first.text)
  const again = await submit()
  t.equal(again.headers.get('idempotent-replayed'), 'true')
  t.same(again.json(), first.json())
  const other = await call(acme, 'POST', `${base}/campaign/submit`)
  const idOf = (answer: Answer) => answer.json<{ ownCampaign: { campaignId: string } }>().ownCampaign.campaignId
  t.not(idOf(other), idOf(first), 'without a key each makes a new one')
})

t.test('a purchased number has a campaign until the number is released', async (t) => {
  const acme = await enabled('numbers')
  const test = await admin.key(acme.id, { test: true, scopes: ['platform'] })
  const bought = await call(test, 'POST', '/v1/phone-numbers', { e164: '+13035550142' })
  t.equal(bought.status, 201, bought.text)
  const { id } = bought.json<{ id: string }>()
  const campaignId = newEntry('campaign', ['provisioned'], 'provisioned', Date.now() - 100_000).id
  await sql`
    insert into sms_campaigns (organization_id, test, id, status, review_errors, submitted_at)
    values (${acme.id}, true, ${campaignId}, 'active', '[]', now())`
  await sql`insert into sms_registrations (organization_id, test) values (${acme.id}, true)`
  t.match((await call(test, 'GET', base)).json(), {
    numbers: [{ id, e164: '+13035550142', smsEligible: true, smsAssignmentStatus: null, assignedTo: null }],
    activeCampaignSource: 'own',
  })
  const assigned = await call(test, 'POST', `${base}/numbers/${id}/assign`)
  const pending = { smsAssignmentStatus: 'PENDING_ASSIGNMENT', assignedTo: 'own', campaignId }
  t.match(assigned.json(), { id, ...pending }, assigned.text)
  t.match((await call(test, 'GET', `/v1/phone-numbers/${id}`)).json(), {
    smsCampaignId: campaignId,
    smsAssignmentStatus: 'PENDING_ASSIGNMENT',
    smsAssignmentUpdatedAt: String,
  })
  t.same((await call(test, 'DELETE', `/v1/phone-numbers/${id}`)).json(), { released: true })
  t.match((await call(test, 'GET', base)).json(), { numbers: [] })
})

t.test('a business verification is prefilled from the live brand, and never from a test brand', async (t) => {
  const acme = await enabled('prefilled')
  const prefill = async () =>
    (await call(acme, 'GET', '/v1/phone-numbers/kyb')).json<{ prefill: object | null }>().prefill
  const test = await admin.key(acme.id, { test: true, scopes: ['platform'] })
  await call(test, 'PUT', `${base}/brand`, brand)
  t.equal(await prefill(), null)
  await call(acme, 'PUT', `${base}/brand`, brand)
  t.same(await prefill(), {
    legalName: 'Harbor Dental LLC',
    displayName: 'Harbor Dental',
    entityType: 'PRIVATE_PROFIT',
    country: 'US',
    registrationId: '12-3456789',
    website: 'https://harbordental.example',
    address: { street: '1 Main Street', city: 'Boston', state: 'MA', postalCode: '02108', country: 'US' },
  })
})
