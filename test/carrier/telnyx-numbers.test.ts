/** The phone number adapter runs against a carrier stub: its requests, its prices, and the meaning of each failure. */
import t from 'tap'
import { type NumberCarrierError, type NumberFailure } from '../../domain/ports/number-carrier.ts'
import { TestClock } from '../clock.ts'
import { wholeProcess } from '../time/quiet.ts'
import { type Answer, refusedWith, serveCarrier } from './carrier-api.ts'

const available = (cost: object) => ({
  record_type: 'available_phone_number',
  phone_number: '+19705555098',
  region_information: [
    { region_type: 'country_code', region_name: 'US' },
    { region_type: 'rate_center', region_name: 'DENVER' },
  ],
  cost_information: cost,
  features: [{ name: 'sms' }, { name: 'voice' }],
})

t.test('an offered number has its price in micro-USD, or no price if it is unknown', async (t) => {
  const { numbers, answers, commands } = await serveCarrier(t)
  const cases: [cost: object, upfront: number | null, monthly: number | null][] = [
    [{ upfront_cost: '3.21', monthly_cost: '6.54', currency: 'USD' }, 3_210_000, 6_540_000],
    [{ upfront_cost: '4.03', monthly_cost: '16.01', currency: 'USD' }, 4_030_000, 16_010_000],
    [{ upfront_cost: '0.0000001', monthly_cost: '0', currency: 'USD' }, 1, 0],
    [{ upfront_cost: '3.21', monthly_cost: '6.54', currency: 'EUR' }, null, null],
    [{ upfront_cost: '-1', monthly_cost: 'x', currency: 'USD' }, null, null],
    [{}, null, null],
  ]
  for (const [cost, upfrontMicroUsd, monthlyMicroUsd] of cases) {
    answers({ status: 200, body: { data: [available(cost)] } })
    t.same(await numbers.offerOf('+19705555098'), {
      e164: '+19705555098',
      upfrontMicroUsd,
      monthlyMicroUsd,
      features: ['sms', 'voice'],
      region: { state: null, locality: null, rateCenter: 'DENVER' },
    })
  }
  t.equal(await numbers.offerOf('+19705555099'), null, 'another number is no offer of this one')
  t.match(commands[0], { authorization: 'Bearer KEY1', method: 'GET' })
})

t.test('an order of a number has the connection_id of our application and our reference', async (t) => {
  const { numbers, answers, commands } = await serveCarrier(t)
  for (const [status, expected] of [
    ['pending', 'pending'],
    ['success', 'done'],
    ['failure', 'failed'],
  ]) {
    answers({ status: 200, body: { data: { id: 'o1', status } } })
    t.same(await numbers.order('+19705555098', 'pn_1'), { id: 'o1', status: expected })
  }
  t.same(commands[0]?.body, {
    phone_numbers: [{ phone_number: '+19705555098' }],
    connection_id: '7267',
    customer_reference: 'pn_1',
  })
})

t.test('each failed order of a number is classified as unavailable, failed or unknown', async (t) => {
  const cases: [answer: Answer, failure: NumberFailure][] = [
    [refusedWith(422, '85006'), 'unavailable'],
    [refusedWith(422, '10015'), 'failed'],
    [refusedWith(401, '10009'), 'failed'],
    [refusedWith(503, '10007'), 'unknown'],
    [(response) => response.destroy(), 'unknown'],
    [() => {}, 'unknown'],
    [{ status: 200, body: { data: {} } }, 'unknown'],
  ]
  const clock = new TestClock({ quiet: wholeProcess })
  for (const [answer, failure] of cases) {
    const { numbers, answers, server } = await serveCarrier(t, { requestMs: 300, clock })
    answers(answer)
    const order = numbers.order('+19705555098', 'pn_1').catch((error: unknown) => error as NumberCarrierError)
    const error = await clock.during(order)
    t.match(error, { failure })
    t.notMatch(String((error as NumberCarrierError).cause), '+1500', 'the text of the carrier repeats numbers')
    server.closeAllConnections()
  }
})

t.test("if the carrier's server fails, the order may exist, so it is looked up by its reference", async (t) => {
  const { numbers, answers, commands } = await serveCarrier(t)
  const order = (data: object[]) => {
    answers((response) => {
      answers({ status: 200, body: { data } })
      response.writeHead(504).end()
    })
    return numbers.order('+19705555098', 'pn_1').catch((error: unknown) => error)
  }
  t.same(await order([{ id: 'o1', status: 'success' }]), { id: 'o1', status: 'done' })
  t.match(commands[1], { method: 'GET', path: '/v2/number_orders?filter%5Bcustomer_reference%5D=pn_1' })
  t.match(await order([]), { failure: 'failed' }, 'the order was not made')
})

t.test('if the carrier does not find an order, the number counts as not ordered', async (t) => {
  const { numbers, answers } = await serveCarrier(t)
  answers(refusedWith(404, '10005'))
  t.equal(await numbers.findOrder({ id: 'o1', reference: 'pn_1' }), null)
  answers(refusedWith(500, '10007'))
  const error = await numbers.findOrder({ id: 'o1', reference: 'pn_1' }).catch((error: unknown) => error)
  t.match(error, { failure: 'failed' })
})

t.test('if the carrier does not find a number, the number counts as released', async (t) => {
  const { numbers, answers } = await serveCarrier(t)
  answers(refusedWith(404, '10005'))
  await numbers.release('1293384261075731499')
  answers(refusedWith(500, '10007'))
  const error = await numbers.release('1293384261075731499').catch((error: unknown) => error)
  t.match(error, { failure: 'failed' })
})
