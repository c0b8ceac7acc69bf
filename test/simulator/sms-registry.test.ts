/**
 * Tests the simulated carrier's registry for text message senders with requests that the product's adapter never sends.
 */
import t, { type Test } from 'tap'
import { brandBody, campaignBody } from '../../providers/telnyx/sms-profiles.ts'
import { brandProfile, campaignProfile } from '../carrier/sms-profiles.ts'
import { startWorld } from './setup.ts'

const campaignId = '00000000-0000-8002-8000-000000000000'

async function startRegistry(t: Test) {
  const world = await startWorld(t)
  const ask = async (method: string, path: string, body?: object, key?: string) => {
    const answer = await world.ask(method, `/10dlc${path}`, body, key)
    return { status: answer.status, body: answer.body as unknown as Record<string, unknown> }
  }
  return { world, ask }
}

t.test('the refusal of a wrong body lists all its wrong fields, as the real registry does', async (t) => {
  const { ask } = await startRegistry(t)
  const fields = { ...brandBody(brandProfile), displayName: 7, country: 'USA', isReseller: 'no', email: null }
  const { status, body } = await ask('POST', '/brand', fields)
  t.equal(status, 422)
  t.same(body['detail'], [
    { loc: ['body', 'displayName'], msg: 'string type expected', type: 'type_error.string' },
    {
      loc: ['body', 'country'],
      msg: 'ensure this value has at most 2 characters',
      type: 'value_error.any_str.max_length',
    },
    { loc: ['body', 'email'], msg: 'field required', type: 'value_error.missing' },
    { loc: ['body', 'isReseller'], msg: 'boolean type expected', type: 'type_error.boolean' },
  ])
  t.equal((await ask('POST', '/brand', [])).status, 400)
  t.equal((await ask('POST', '/brand', fields, 'other')).status, 401)
  t.equal((await ask('PATCH', '/brand/other', fields)).status, 404)
  t.equal((await ask('PUT', '/brand/other', fields)).status, 404)
})

t.test('a campaign without accepted terms is refused with exactly one error', async (t) => {
  const { world, ask } = await startRegistry(t)
  const { brandId } = (await ask('POST', '/brand', brandBody(brandProfile))).body
  await world.clock.advance(5000)
  const body = campaignBody(brandId as string, campaignProfile)
  const refused = await ask('POST', '/campaignBuilder', { ...body, termsAndConditions: false })
  t.equal(refused.status, 400)
  t.same(refused.body, {
    code: '10015',
    title: 'Bad Request',
    detail: 'The terms and conditions must be accepted.',
  })
  t.equal((await ask('POST', '/campaignBuilder', { ...body, subUsecases: [1] })).status, 422)
})

t.test(
  'a number that belongs to a campaign cannot be added again, and is found only by its whole number',
  async (t) => {
    const { world, ask } = await startRegistry(t)
    const phoneNumber = '+12175550100'
    const path = `/phone_number_campaigns/${encodeURIComponent(phoneNumber)}`
    const body = { phoneNumber, campaignId }
    t.equal((await ask('POST', '/phone_number_campaigns', body)).status, 200)
    for (const wait of [0, 2000]) {
      await world.clock.advance(wait)
      t.match(await ask('POST', '/phone_number_campaigns', body), {
        status: 422,
        body: { errors: [{ source: { pointer: '/phoneNumber' } }] },
      })
    }
    t.equal((await ask('PUT', path, { ...body, phoneNumber: '+12175550101' })).status, 422)
    t.equal((await ask('PUT', path, { phoneNumber })).status, 422)
    t.equal((await ask('DELETE', path)).status, 200)
    await world.clock.advance(2000)
    t.equal((await ask('DELETE', path)).status, 404)
    t.match(await ask('PUT', path, body), { status: 200, body: { assignmentStatus: 'PENDING_ASSIGNMENT' } })
  },
)

t.test('the oldest simulated campaigns are removed, but their status is still returned', async (t) => {
  const { world, ask } = await startRegistry(t)
  const { brandId } = (await ask('POST', '/brand', brandBody(brandProfile))).body
  await world.clock.advance(5000)
  const body = campaignBody(brandId as string, { ...campaignProfile, description: '[reject]' })
  const first = (await ask('POST', '/campaignBuilder', body)).body
  for (let made = 0; made < 1000; made++) await ask('POST', '/campaignBuilder', body)
  await world.clock.advance(60_000)
  const { body: found } = await ask('GET', `/campaign/${first['campaignId'] as string}`)
  t.match(found, { campaignStatus: 'TCR_FAILED', description: '' })
})
