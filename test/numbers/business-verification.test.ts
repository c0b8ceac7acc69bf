/** Verifies businesses by an automatic review, with a test clock. The public API shows each state. */
import t from 'tap'
import { createBusinessVerifications, type Review } from '../../domain/numbers/business-verification.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { isPhoneNumber } from '../../runtime/values/phone-number.ts'
import { TestClock } from '../clock.ts'
import { runCommand } from '../command.ts'
import { call, faultOf, startOwnAdministered } from '../platform/setup.ts'
import type { Target } from '../router/requests.ts'
import { organization, TestCluster } from '../store/cluster.ts'
import { authorizedRepresentative, businessProfile, forms } from './forms.ts'

const path = '/v1/phone-numbers/kyb'
const conflictIn = (status: string) => ({ kind: 'kyb_conflict', status })

t.test('the automatic review of a business verifies the business', async (t) => {
  const cluster = await TestCluster.start()
  t.teardown(() => cluster.stop())
  const clock = new TestClock()
  const store = await cluster.store(t, await cluster.database(), { serves: false })
  const verificationsOf = (review: Review) =>
    createBusinessVerifications({
      store: store.businessVerifications,
      review,
      clock,
      submissionId: systemIds.submission,
      isPhoneNumber,
    })
  const auto = verificationsOf('auto')
  const idOf = async (name: string) => (await organization(store, name)).id

  const good = await idOf('good')
  t.equal(await auto.statusOf(good), 'missing')
  const submitted = await auto.submit(good, forms, 'key_1')
  await clock.advance(1_999)
  t.equal(await auto.statusOf(good), 'submitted')
  const faultOfRefusal = (fault: unknown) => fault
  t.match(await auto.submit(good, forms, 'key_1').catch(faultOfRefusal), { data: conflictIn('submitted') })
  await clock.advance(1)
  t.match(await auto.saveDraft(good, forms).catch(faultOfRefusal), { data: conflictIn('approved') })
  t.match(await auto.list(), [{ organizationId: good, status: 'approved' }], 'the list knows before it is written')
  const approved = await auto.find(good)
  t.match(approved, { id: submitted.id, status: 'approved', reviewedAtMs: (submitted.submittedAtMs ?? 0) + 2_000 })
  t.match(await store.businessVerifications.find(good), { status: 'approved' }, 'the approval is stored')

  const bad = await idOf('bad')
  await auto.submit(bad, { ...forms, businessProfile: { ...businessProfile, legalName: 'Reject LLC' } }, 'key_2')
  await clock.advance(2_000)
  t.match(await auto.find(bad), { status: 'rejected', rejectionReason: /legalName/ })
  t.match(await auto.saveDraft(bad, forms), { status: 'draft', rejectionReason: /legalName/, attestedAtMs: null })
  t.match(await auto.submit(bad, forms, 'key_2'), { status: 'submitted', rejectionReason: null, reviewedAtMs: null })
  await clock.advance(2_000)
  t.equal(await auto.statusOf(bad), 'approved')

  const waiting = await idOf('waiting')
  await verificationsOf('operator').submit(waiting, forms, 'key_3')
  await clock.advance(1_000_000)
  t.equal(await verificationsOf('operator').statusOf(waiting), 'submitted')
})

t.test('a business moves through the states of verification, and the operator reviews it', async (t) => {
  const { parley, admin } = await startOwnAdministered(t, { PARLEY_KYB_REVIEW: 'operator' })
  const acme = await admin.organization('acme')
  const kyb = (...args: string[]) => runCommand(parley, ['kyb', ...args])
  const get = async (target: Target = acme) => (await call(target, 'GET', path)).json<{ status: string }>()
  const draft = (body: object, target = acme) => call(target, 'PUT', `${path}/draft`, body)
  const submit = (body: object = forms, target = acme) => call(target, 'POST', `${path}/submit`, body)
  const conflict = { status: 409, code: 'KYB_STATE_CONFLICT' }

  t.same(await get(), { status: 'missing', submission: null, prefill: null })
  t.match(await kyb('approve', '--org', acme.id), { code: 1, stderr: /is missing/ })
  t.match((await draft({ businessProfile: { legalName: 'Harbor\n' } })).json(), {
    status: 'draft',
    submission: { organizationId: acme.id, businessProfile: { legalName: 'Harbor\n' }, attestedAt: null },
  })
  const forged = `Harbor\u001b[2K\norg_other  approved  Bank`
  await draft({ businessProfile: { legalName: forged } })
  t.match((await kyb('list')).stdout, `${acme.id}  draft  Harbor [2K org_other  approved  Bank\n`, 'a name is one line')
  t.match((await draft({})).json(), { submission: { businessProfile: null, authorizedRepresentative: null } })

  const sent = await submit()
  t.equal(sent.status, 200)
  const { submission } = sent.json<{ submission: { submittedByApiKeyId: string; status: string } }>()
  t.match(submission, { ...forms, status: 'submitted', submittedByApiKeyId: acme.keyId })
  t.match(faultOf(await submit()), conflict)
  t.match(faultOf(await draft({})), conflict)

  t.not((await kyb('reject', '--org', acme.id)).code, 0, 'a rejection needs a reason')
  t.match(await kyb('reject', '--org', acme.id, '--reason', 'no such address'), {
    code: 0,
    stdout: /rejected {2}Harbor Dental/,
  })
  t.match(await get(), { status: 'rejected', submission: { rejectionReason: 'no such address' } })
  t.equal((await submit()).status, 200)
  t.match(await kyb('approve', '--org', acme.id), { code: 0 })
  t.match(await get(), { status: 'approved', submission: { rejectionReason: null } })
  t.match(faultOf(await submit()), conflict)
  t.match(await kyb('revoke', '--org', acme.id), { code: 0 })
  t.match(JSON.parse((await kyb('list', '--json')).stdout), {
    data: [
      { status: 'approved', legalName: null },
      { organizationId: acme.id, status: 'revoked', legalName: 'Harbor Dental LLC' },
    ],
  })
  t.equal((await draft({})).status, 200)

  t.match(await get(parley), { status: 'approved' }, 'the organization of a new installation')
  const test = await admin.key(acme.id, { test: true })
  t.same(await get({ ...acme, ...test }), await get())
  t.match(faultOf(await draft({}, { ...acme, ...test })), { status: 403, code: 'FORBIDDEN' })
  t.match(faultOf(await submit(forms, { ...acme, ...test })), { status: 403, code: 'FORBIDDEN' })
})

t.test('incomplete and invalid forms for the verification of a business are refused', async (t) => {
  const { admin } = await startOwnAdministered(t)
  const acme = await admin.organization('acme')
  const invalid = async (operation: string, body: object, ...paths: string[]) =>
    t.same(
      faultOf(await call(acme, operation === 'draft' ? 'PUT' : 'POST', `${path}/${operation}`, body)),
      { status: 400, code: 'VALIDATION_ERROR', paths },
      paths.join(),
    )
  const withPhone = (phone: string) => ({ authorizedRepresentative: { ...authorizedRepresentative, phone } })
  await invalid('draft', withPhone('+15551234567'), '/authorizedRepresentative/phone')
  await invalid('draft', { businessProfile: { useCase: 'x'.repeat(2_001) } }, '/businessProfile/useCase')
  await invalid('draft', { businessProfile: { entityType: 'CLUB' } }, '/businessProfile/entityType')
  await invalid('submit', { ...forms, ...withPhone('+15551234567') }, '/authorizedRepresentative/phone')
  await invalid('submit', { ...forms, attestationAccepted: false }, '/attestationAccepted')
  await invalid(
    'submit',
    { ...forms, businessProfile: { ...businessProfile, legalName: ' ' } },
    '/businessProfile/legalName',
  )
  t.equal((await call(acme, 'PUT', `${path}/draft`, withPhone(''))).status, 200, 'a draft has empty fields')
})
