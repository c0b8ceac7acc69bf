/**
 * Answers and webhooks of the simulator against the OpenAPI document of the carrier, which is not ours to publish:
 * `PARLEY_CARRIER_OPENAPI` names a copy of it (team-telnyx/openapi, JSON).
 */
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import t from 'tap'
import { brandBody, brandUpdate, campaignBody } from '../../providers/telnyx/sms-profiles.ts'
import { brandProfile, campaignProfile } from '../carrier/sms-profiles.ts'
import { agentNumber, far, startWorld, streamFields, type World } from './setup.ts'

const file = process.env['PARLEY_CARRIER_OPENAPI']
const skip = file === undefined ? 'the OpenAPI document of the carrier: PARLEY_CARRIER_OPENAPI=<file>' : false

type Json = Record<string, unknown>

/** A validator of the schema at a JSON pointer of the document. */
function validators() {
  const document = JSON.parse(readFileSync(file as string, 'utf8')) as Json
  const ajv = new Ajv2020({ strict: false, allErrors: true, discriminator: false })
  addFormats.default(ajv)
  ajv.addSchema(document, 'carrier')
  const at = (pointer: readonly string[]): unknown =>
    pointer.reduce<unknown>((value, part) => (value as Json | undefined)?.[part], document)
  /** Follows a `$ref` and answers where the value is. */
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
    /** Checked against the schema of its type of event. */
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

t.test('answers are those of the carrier', { skip }, async (t) => {
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

t.test('answers of the registry of text messages are those of the carrier', { skip }, async (t) => {
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

t.test('webhooks are those of the carrier', { skip }, async (t) => {
  const { webhook } = validators()
  const world = await startWorld(t)
  await allEvents(world)
  for (const { type, body } of world.events) t.equal(webhook(type, JSON.parse(body)), null, type)
  t.same([...new Set(world.types())].sort(), [
    'call.answered',
    'call.bridged',
    'call.dtmf.received',
    'call.hangup',
    'call.initiated',
    'call.machine.detection.ended',
    'streaming.failed',
    'streaming.started',
    'streaming.stopped',
  ])
  t.match(webhook('call.answered', { data: { event_type: 'call.answered', payload: { state: 'other' } } }), [{}])
})

async function allEvents(world: World): Promise<void> {
  const fields = { answering_machine_detection: 'detect', client_state: 'c3RhdGU=', ...streamFields(world) }
  const id = await world.dial(far('0017'), fields)
  await world.clock.advance(1000)
  const stream = await world.stream()
  await world.clock.advance(3000)
  const tone = Int16Array.from({ length: 8000 }, (_, at) => 12_000 * Math.sin(at / 3))
  stream.sendAudio(tone)
  for (let i = 0; !world.types().includes('call.dtmf.received') && i < 100; i++) await world.clock.advance(100)
  await world.act(id, 'streaming_stop')
  await world.act(id, 'streaming_start', { ...streamFields(world), stream_url: world.streamUrl.replace('media', 'x') })
  await world.event('streaming.failed')
  const incoming = world.simulator.call({ from: far('0006'), to: agentNumber, headers: [{ name: 'X-A', value: 'b' }] })
  await world.act(incoming, 'answer')
  await world.act(incoming, 'bridge', { call_control_id: id })
  await world.act(id, 'hangup')
  await world.event('call.hangup', 2)
}
