/** The simulator's answers and webhooks against the carrier's OpenAPI document (`make test-all LANE=carrier`). */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import t from 'tap'
import { brandBody, brandUpdate, campaignBody } from '../../providers/telnyx/sms-profiles.ts'
import { type Json, lookUp, readDocument, withoutDocument } from '../carrier/openapi-document.ts'
import { brandProfile, campaignProfile } from '../carrier/sms-profiles.ts'
import { allCallEvents, callEventTypes } from './all-events.ts'
import { agentNumber, far, startWorld, streamFields } from './setup.ts'

const skip = withoutDocument

/** Compiles validators for the schemas in the carrier's document. */
function validators() {
  const document = readDocument()
  const ajv = new Ajv2020({ strict: false, allErrors: true, discriminator: false })
  addFormats.default(ajv).addFormat('integer', /^\d+$/)
  ajv.addSchema(document, 'carrier')
  const at = (pointer: readonly string[]) => lookUp(document, pointer)
  /** Follows a `$ref` and returns the value's pointer. */
  const resolve = (pointer: readonly string[]): readonly string[] => {
    const reference = (at(pointer) as Json | undefined)?.['$ref']
    if (typeof reference !== 'string') return pointer
    return resolve(
      reference
        .slice(2)
        .split('/')
        .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')),
    )
  }
  const errorsOf = (pointer: readonly string[], value: unknown): unknown => {
    if (at(pointer) === undefined) return `no schema at ${pointer.join('/')}`
    const written = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
    const validate = ajv.compile({ $ref: `carrier#/${written.join('/')}` })
    return validate(value) ? null : validate.errors
  }
  return {
    answer: (method: string, path: string, status: number, value: unknown): unknown => {
      const responses = ['paths', path, method, 'responses']
      const names = [String(status), `${Math.floor(status / 100)}XX`]
      const known = names.find((name) => at([...responses, name]) !== undefined) ?? 'default'
      return errorsOf([...resolve([...responses, known]), 'content', 'application/json', 'schema'], value)
    },
    /** Validates a webhook against the schema for its event type. */
    webhook: (type: string, value: unknown): unknown => {
      for (const name of Object.keys(at(['webhooks']) as Json)) {
        const schema = [...resolve(['webhooks', name, 'post', 'requestBody']), 'content', 'application/json', 'schema']
        if (JSON.stringify(typesIn(schema, resolve, at)).includes(`"${type}"`)) return errorsOf(schema, value)
      }
      return `no webhook ${type}`
    },
  }
}

function typesIn(
  schema: readonly string[],
  resolve: (pointer: readonly string[]) => readonly string[],
  at: (pointer: readonly string[]) => unknown,
): unknown {
  const data = resolve([...resolve(schema), 'properties', 'data'])
  return at([...resolve([...data, 'properties', 'event_type']), 'enum'])
}

t.test("the simulator's answers conform to the carrier's OpenAPI document", { skip }, async (t) => {
  const { answer } = validators()
  const world = await startWorld(t)
  const check = async (method: string, path: string, template: string, body?: object, status = 200) => {
    const given = await world.ask(method, path, body)
    t.equal(given.status, status, `${method} ${path}`)
    t.equal(answer(method.toLowerCase(), template, given.status, given.body), null, `${method} ${template} ${status}`)
    return given.body
  }
  const call = { connection_id: 'c', from: agentNumber, to: far('0006'), client_state: 'c3RhdGU=' }
  const { data } = await check('POST', '/calls', '/calls', call)
  const id = data['call_control_id'] as string
  const act = (action: string, body: object, status = 200, leg = id) =>
    check('POST', `/calls/${leg}/actions/${action}`, `/calls/{call_control_id}/actions/${action}`, body, status)
  await world.clock.advance(1000)
  await check('GET', `/calls/${id}`, '/calls/{call_control_id}')
  await act('streaming_start', streamFields(world))
  await act('streaming_stop', {})
  await act('send_dtmf', { digits: '1' })
  await act('send_dtmf', { digits: 'x' }, 422)
  const incoming = world.simulator.call({ from: far('0006'), to: agentNumber })
  await act('answer', {}, 200, incoming)
  await act('answer', {}, 422, incoming)
  await act('transfer', { to: far('0006') }, 200, incoming)
  await act('bridge', { call_control_id: incoming })
  await act('hangup', {})
  await act('hangup', {}, 422)
  await check('GET', `/calls/${id}`, '/calls/{call_control_id}')
  await check('POST', '/calls', '/calls', { ...call, from: null }, 422)
  await check('POST', '/calls', '/calls', { ...call, to: far('0024') }, 503)
  await check('POST', '/calls', '/calls', { ...call, to: far('0001') }, 403)
  const search = '/available_phone_numbers?filter[national_destination_code]=415'
  await check('GET', search, '/available_phone_numbers')
  for (const number of ['+14155550100', '+14155550198', '+14155550197'])
    await check('POST', '/number_orders', '/number_orders', { phone_numbers: [{ phone_number: number }] })
  await check('POST', '/number_orders', '/number_orders', { phone_numbers: [{ phone_number: '+14155550199' }] }, 422)
  await check('GET', '/number_orders', '/number_orders')
  await check('GET', '/phone_numbers', '/phone_numbers')
})

t.test("the simulated SMS registry's answers conform to the carrier's OpenAPI document", { skip }, async (t) => {
  const { answer } = validators()
  const world = await startWorld(t)
  const check = async (method: string, path: string, body?: object, status = 200) => {
    const given = await world.ask(method, `/10dlc${path}`, body)
    t.equal(given.status, status, `${method} ${path}`)
    const template = path
      .replace(/^\/(brand|campaign)\/[^/]+/, '/$1/{$1Id}')
      .replace(/^\/phone_number_campaigns\/.+/, '/phone_number_campaigns/{phoneNumber}')
    t.equal(answer(method.toLowerCase(), `/10dlc${template}`, status, given.body), null, `${method} ${path} ${status}`)
    return given.body as unknown as Record<string, string>
  }
  const { brandId } = await check('POST', '/brand', brandBody(brandProfile))
  const failing = await check('POST', '/brand', brandBody({ ...brandProfile, ein: '120000001' }))
  await check('POST', '/brand', { ...brandBody(brandProfile), vertical: 'OTHER', displayName: '' }, 422)
  await check('POST', '/campaignBuilder', campaignBody(brandId!, campaignProfile), 400)
  await world.clock.advance(5000)
  for (const id of [brandId, failing['brandId']]) await check('GET', `/brand/${id}`)
  await check('GET', '/brand/other', undefined, 404)
  await check('PUT', `/brand/${brandId}`, brandUpdate(brandProfile))
  await check('POST', `/brand/${brandId}/externalVetting`, { evpId: 'AEGIS', vettingClass: 'STANDARD' })
  await check('POST', `/brand/${brandId}/externalVetting`, { evpId: 'AEGIS' }, 422)
  await world.clock.advance(5000)
  await check('GET', `/brand/${brandId}/externalVetting`)
  const made: string[] = []
  for (const end of ['', '[reject]', '[expire]']) {
    const body = campaignBody(brandId!, { ...campaignProfile, description: `${campaignProfile.description} ${end}` })
    made.push((await check('POST', '/campaignBuilder', body))['campaignId']!)
  }
  await check('POST', '/campaignBuilder', { usecase: 'MIXED' }, 422)
  await world.clock.advance(60_000)
  for (const id of made) await check('GET', `/campaign/${id}`)
  const [campaignId, rejected] = made
  const phoneNumber = '+12175550196'
  await check('POST', '/phone_number_campaigns', { phoneNumber, campaignId: rejected }, 422)
  await check('POST', '/phone_number_campaigns', { phoneNumber, campaignId })
  await world.clock.advance(2000)
  const path = `/phone_number_campaigns/${encodeURIComponent(phoneNumber)}`
  await check('GET', path)
  await check('PUT', path, { phoneNumber, campaignId })
  await check('DELETE', path)
  await world.clock.advance(2000)
  await check('GET', path, undefined, 404)
})

t.test("the simulator's webhooks conform to the carrier's OpenAPI document", { skip }, async (t) => {
  const { webhook } = validators()
  const world = await startWorld(t)
  await allCallEvents(world)
  for (const { type, body } of world.events) t.equal(webhook(type, JSON.parse(body)), null, type)
  t.same([...new Set(world.types())].sort(), callEventTypes)
  t.match(webhook('call.answered', { data: { event_type: 'call.answered', payload: { state: 'other' } } }), [{}])
})
