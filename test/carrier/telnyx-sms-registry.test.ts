/**
 * The adapter for text message registration runs against a carrier stub: its requests, and its reading of each
 * response.
 */
import t from 'tap'
import type { ReviewError, SmsRegistry } from '../../domain/ports/sms-registry.ts'
import { SmsRegistryError } from '../../domain/ports/sms-registry.ts'
import { TestClock } from '../clock.ts'
import { wholeProcess } from '../time/quiet.ts'
import { type Answer, serveCarrier } from './carrier-api.ts'
import { brandProfile, campaignProfile } from './sms-profiles.ts'

const number = '+12175550100'
const ok = (body: object): Answer => ({ status: 200, body })

async function refusal(work: Promise<unknown>): Promise<SmsRegistryError> {
  const error: unknown = await work.then(
    () => null,
    (error: unknown) => error,
  )
  if (error instanceof SmsRegistryError) return error
  throw new Error('no refusal', { cause: error })
}

t.test("a brand is sent with the carrier's field names", async (t) => {
  const { registry, answers, commands } = await serveCarrier(t)
  answers(ok({ brandId: 'b 1' }))
  t.same(await registry.createBrand(brandProfile), {
    id: 'b 1',
    status: 'REGISTRATION_PENDING',
    identityStatus: null,
    reviewErrors: [],
  })
  await registry.updateBrand('b 1', { ...brandProfile, entityType: 'PUBLIC_PROFIT', ein: 'CHE-123', country: 'CH' })
  const sent = {
    entityType: 'PRIVATE_PROFIT',
    displayName: 'Spoke & Wheel',
    companyName: 'Spoke and Wheel LLC',
    firstName: 'Ada',
    lastName: 'Wheel',
    ein: '123456789',
    phone: '+12175550100',
    street: '1 Main Street',
    city: 'Springfield',
    state: 'IL',
    postalCode: '62701',
    country: 'US',
    email: 'help@spoke.example.com',
    website: 'https://spoke.example.com',
    vertical: 'RETAIL',
  }
  const [create, update] = commands
  t.match(create, { method: 'POST', path: '/v2/10dlc/brand', authorization: 'Bearer KEY1' })
  t.same(create?.body, { ...sent, mobilePhone: '+12175550101' })
  t.match(update, { method: 'PUT', path: '/v2/10dlc/brand/b%201' })
  t.same(update?.body, {
    ...sent,
    entityType: 'PUBLIC_PROFIT',
    businessContactEmail: 'ada@spoke.example.com',
    ein: 'CHE-123',
    country: 'CH',
  })
})

t.test("if a brand's response was lost, the brand is found by its name, tax number and age", async (t) => {
  const { registry, answers, commands } = await serveCarrier(t)
  const row = { displayName: 'Spoke & Wheel', companyName: 'Spoke and Wheel LLC', entityType: 'PRIVATE_PROFIT' }
  const sinceMs = Date.parse('2026-11-24T12:00:00Z')
  const young = { ...row, createdAt: '2026-11-24T12:00:00.000000' }
  const records = [
    { ...young, brandId: 'b1' },
    { ...row, brandId: 'old', createdAt: '2026-11-24T11:59:59.999999' },
    { ...row, brandId: 'without a date' },
    { ...young, brandId: 'other', companyName: 'Wheel LLC' },
  ]
  // The stub sends one response to both requests, so the response has a list's fields and a brand's fields.
  const found = { records, ...young, brandId: 'b1', status: 'OK' }
  answers(ok({ ...found, ein: '123456789' }))
  t.match(await registry.findBrandsLike(brandProfile, sinceMs), [{ id: 'b1', status: 'OK' }])
  t.same(
    commands.map(({ method, path }) => `${method} ${path}`),
    ['GET /v2/10dlc/brand?displayName=Spoke%20%26%20Wheel&recordsPerPage=50&sort=-createdAt', 'GET /v2/10dlc/brand/b1'],
  )
  answers(ok({ ...found, ein: '987654321' }))
  t.same(await registry.findBrandsLike(brandProfile, sinceMs), [], 'another tax number')
})

t.test('a campaign is sent with its samples and the texts that the law requires', async (t) => {
  const { registry, answers, commands } = await serveCarrier(t)
  answers(ok({ campaignId: 'c1' }))
  t.same(await registry.createCampaign('b1', { ...campaignProfile, optInMessage: null }, 'r1'), {
    id: 'c1',
    status: 'TCR_PENDING',
    reviewErrors: [],
  })
  t.match(commands[0], { method: 'POST', path: '/v2/10dlc/campaignBuilder' })
  t.same(commands[0]?.body, {
    brandId: 'b1',
    usecase: 'CUSTOMER_CARE',
    description: campaignProfile.description,
    messageFlow: campaignProfile.messageFlow,
    sample1: 'Your bicycle is ready.',
    sample2: 'We close at six today.',
    subscriberOptin: true,
    optinKeywords: 'START,YES',
    subscriberHelp: true,
    helpKeywords: 'HELP',
    helpMessage: campaignProfile.helpMessage,
    subscriberOptout: true,
    optoutKeywords: 'STOP',
    optoutMessage: campaignProfile.optOutMessage,
    embeddedLink: false,
    embeddedPhone: true,
    termsAndConditions: true,
    referenceId: 'r1',
  })
})

t.test("statuses of brands and campaigns are read with the carrier's reasons", async (t) => {
  const { registry, answers } = await serveCarrier(t)
  for (const identityStatus of ['VERIFIED', 'UNVERIFIED', 'SELF_DECLARED', 'VETTED_VERIFIED']) {
    answers(ok({ brandId: 'b1', status: 'OK', identityStatus }))
    t.match(await registry.findBrand('b1'), { status: 'OK', identityStatus })
  }
  answers(ok({ brandId: 'b1', status: 'REGISTRATION_FAILED', identityStatus: 'OTHER', failureReasons: 'Too\nnew.' }))
  t.same(await registry.findBrand('b1'), {
    id: 'b1',
    status: 'REGISTRATION_FAILED',
    identityStatus: null,
    reviewErrors: [{ field: null, message: 'Too new.' }],
  })
  answers(ok({ campaignId: 'c1', campaignStatus: 'MNO_REJECTED', failureReasons: 'x'.repeat(600) }))
  t.same(await registry.findCampaign('c1'), {
    id: 'c1',
    status: 'MNO_REJECTED',
    reviewErrors: [{ field: null, message: 'x'.repeat(512) }],
  })
  const reasons = [{ code: 501, fields: ['ein'], description: 'No such number.' }, 'It is new.', { code: 7 }, 7, null]
  answers(ok({ brandId: 'b1', failureReasons: reasons }))
  t.same((await registry.findBrand('b1')).reviewErrors, [
    { field: 'ein', message: 'No such number.' },
    { field: null, message: 'It is new.' },
  ])
  answers(ok({ campaignId: 'c1', submissionStatus: 'FAILED' }))
  t.match(await registry.findCampaign('c1'), { status: 'TCR_FAILED' })
})

t.test('if a brand has several vettings of one class, the newest vetting counts', async (t) => {
  const { registry, answers, commands } = await serveCarrier(t)
  const vetting = (vettingClass: string, createDate: string, vettedDate?: string) => ({
    vettingClass,
    createDate,
    vettedDate,
  })
  const old = vetting('STANDARD', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z')
  const cases: [list: object[], expected: string | null][] = [
    [[], null],
    [[vetting('POLITICAL', '2026-01-02T00:00:00Z')], null],
    [[old], 'completed'],
    [[old, vetting('STANDARD', '2026-02-02T00:00:00Z')], 'pending'],
    [[vetting('STANDARD', '2026-02-02T00:00:00Z', '2026-02-03'), vetting('STANDARD', '')], 'completed'],
  ]
  for (const [list, expected] of cases) {
    answers(ok(list))
    t.equal(await registry.findVetting('b1', 'STANDARD'), expected)
  }
  answers(ok({}))
  await registry.orderVetting('b1', 'AEGIS', 'ENHANCED')
  t.match(commands.at(-1), { method: 'POST', path: '/v2/10dlc/brand/b1/externalVetting' })
  t.same(commands.at(-1)?.body, { evpId: 'AEGIS', vettingClass: 'ENHANCED' })
})

t.test("in every form of the carrier's refusal, the carrier's field names are replaced by ours", async (t) => {
  const { registry, answers } = await serveCarrier(t)
  const error = (detail: string, pointer?: string) => ({
    code: '10004',
    title: 'Bad',
    detail,
    ...(pointer !== undefined && { source: { pointer } }),
  })
  const cases: [answer: { status: number; body: object }, expected: ReviewError[]][] = [
    [
      { status: 400, body: { errors: [error('Too long.', '/companyName'), error('Not good.', '/body/mobilePhone')] } },
      [
        { field: 'legalName', message: 'Too long.' },
        { field: 'authorizedContact.phone', message: 'Not good.' },
      ],
    ],
    [
      { status: 409, body: { errors: [error('It exists.'), { title: 'Bad' }, 7, {}] } },
      [
        { field: null, message: 'It exists.' },
        { field: null, message: 'Bad' },
      ],
    ],
    [{ status: 400, body: error('Alone.', '/sample3') }, [{ field: 'sampleMessages.2', message: 'Alone.' }]],
    [
      {
        status: 422,
        body: {
          detail: [
            { loc: ['body', 'email'], msg: 'field required', type: 'value_error.missing' },
            { loc: ['body', 'sample1', 0], msg: 'str type expected' },
            { loc: ['body'], msg: 'bad' },
          ],
        },
      },
      [
        { field: 'supportEmail', message: 'field required' },
        { field: 'sampleMessages.0', message: 'str type expected' },
        { field: null, message: 'bad' },
      ],
    ],
    [
      { status: 422, body: { detail: [{ loc: 'body', msg: `a\u0000b\u001b[31m\u2028\u202ec${'😀'.repeat(600)}` }] } },
      [{ field: null, message: `a b [31m c${'😀'.repeat(502)}` }],
    ],
    [{ status: 400, body: { title: 'Bearer KEY1 is bad.' } }, [{ field: null, message: 'Bearer [key] is bad.' }]],
    [{ status: 422, body: { detail: 'One text.' } }, [{ field: null, message: 'One text.' }]],
  ]
  for (const [answer, expected] of cases) {
    answers(answer)
    t.same((await refusal(registry.createBrand(brandProfile))).reviewErrors, expected)
  }
  answers({ status: 400, body: { errors: Array.from({ length: 100 }, () => error('Again.')) } })
  t.equal((await refusal(registry.findCampaign('c1'))).reviewErrors.length, 20)
})

t.test('an outage, or a refusal of our account, reports no field errors', async (t) => {
  const text = 'The number +15005550006 is not good.'
  const body = { errors: [{ code: '10009', title: 'No', detail: text }] }
  const cases: Answer[] = [
    ...[401, 402, 403, 408, 429, 500, 503].map((status) => ({ status, body })),
    { status: 302, body },
    (response) => response.writeHead(422).end('<html>'),
    (response) => response.writeHead(400).end('[]'),
    (response) => response.destroy(),
    () => {},
  ]
  const clock = new TestClock({ quiet: wholeProcess })
  for (const answer of cases) {
    const { registry, answers, server } = await serveCarrier(t, { requestMs: 300, clock })
    answers(answer)
    const error = await clock.during(refusal(registry.createBrand(brandProfile)))
    t.same(error.reviewErrors, [])
    t.notMatch(String(error.cause), '+1500')
    t.notMatch(error.message, '+1500')
    server.closeAllConnections()
  }
  const { registry, server } = await serveCarrier(t)
  await new Promise((resolve) => server.close(resolve))
  t.same((await refusal(registry.findBrand('b1'))).reviewErrors, [])
})

t.test('a response of the carrier with an unknown shape is a failure', async (t) => {
  const { registry, answers } = await serveCarrier(t)
  const every: ((registry: SmsRegistry) => Promise<unknown>)[] = [
    (registry) => registry.createBrand(brandProfile),
    (registry) => registry.findBrand('b1'),
    (registry) => registry.findVetting('b1', 'STANDARD'),
    (registry) => registry.createCampaign('b1', campaignProfile, 'r1'),
    (registry) => registry.findCampaign('c1'),
    (registry) => registry.assign(number, 'c1'),
    (registry) => registry.unassign(number),
    (registry) => registry.findAssignment(number),
  ]
  const bodies = [
    'null',
    'nothing',
    '',
    '7',
    '{"data":{}}',
    '{"brandId":"","campaignId":7}',
    `{"brandId":"${'x'.repeat(65)}","campaignId":"${'x'.repeat(65)}"}`,
    '{"brandId":"b1","status":"OTHER","campaignId":"c1","campaignStatus":"<b>","assignmentStatus":"OTHER"}',
  ]
  for (const body of bodies)
    for (const ask of every) {
      answers((response) => response.writeHead(200).end(body))
      t.same((await refusal(ask(registry))).reviewErrors, [], body)
    }
})

t.test('a number is added to a campaign by POST, and moved to another campaign by PUT', async (t) => {
  const { registry, answers, commands } = await serveCarrier(t)
  const path = '/v2/10dlc/phone_number_campaigns'
  const ofNumber = `${path}/%2B12175550100`
  const assigned = (campaignId: string, assignmentStatus?: string) => ok({ campaignId, assignmentStatus })
  const sequence = async (first: Answer, second: Answer) => {
    commands.length = 0
    answers((response) => {
      answers(second)
      const { status, body } = first as { status: number; body: object }
      response.writeHead(status).end(JSON.stringify(body))
    })
    const result = await registry.assign(number, 'c1')
    return { result, requests: commands.map((command) => `${command.method} ${command.path}`) }
  }
  t.same(await sequence({ status: 404, body: {} }, assigned('c1')), {
    result: { campaignId: 'c1', status: 'PENDING_ASSIGNMENT', reviewErrors: [] },
    requests: [`GET ${ofNumber}`, `POST ${path}`],
  })
  t.same(commands[1]?.body, { phoneNumber: number, campaignId: 'c1' })
  for (const known of [assigned('c2', 'ASSIGNED'), assigned('c1', 'FAILED_ASSIGNMENT')])
    t.same(await sequence(known, assigned('c1', 'ASSIGNED')), {
      result: { campaignId: 'c1', status: 'ASSIGNED', reviewErrors: [] },
      requests: [`GET ${ofNumber}`, `PUT ${ofNumber}`],
    })
  t.same(commands[1]?.body, { phoneNumber: number, campaignId: 'c1' })
  for (const status of ['ASSIGNED', 'PENDING_ASSIGNMENT'])
    t.same(await sequence(assigned('c1', status), { status: 500, body: {} }), {
      result: { campaignId: 'c1', status, reviewErrors: [] },
      requests: [`GET ${ofNumber}`],
    })
  answers(assigned('c1'))
  t.same(await registry.unassign(number), { campaignId: 'c1', status: 'PENDING_UNASSIGNMENT', reviewErrors: [] })
  t.match(commands.at(-1), { method: 'DELETE', path: ofNumber })
  answers({ status: 404, body: {} })
  t.equal(await registry.unassign(number), null)
  t.equal(await registry.findAssignment(number), null)
  answers({ status: 500, body: {} })
  for (const ask of [registry.unassign(number), registry.findAssignment(number)])
    t.same((await refusal(ask)).reviewErrors, [])
})
