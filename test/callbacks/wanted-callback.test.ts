import t from 'tap'
import { numberOfPerson, readCallbackRequest } from '../../domain/callbacks/callback-request.ts'
import { isPhoneNumber } from '../../runtime/values/phone-number.ts'

const nowMs = Date.parse('2026-11-21T16:00:00.000Z')
const to = '+4915123456789'
const read = (args: unknown, maxDaysAhead = 7, defaultTo: string | null = null) =>
  readCallbackRequest(args, { nowMs, maxDaysAhead, defaultTo, isPhoneNumber })
const time = (args: object, maxDaysAhead?: number) => {
  const found = read({ to, ...args }, maxDaysAhead)
  return 'request' in found ? new Date(found.request.scheduledAtMs).toISOString() : Object.keys(found)[0]
}

t.test('the requested time of a callback is an offset in minutes, or an RFC 3339 time with a zone', (t) => {
  t.equal(time({ inMinutes: 90 }), '2026-11-21T17:30:00.000Z')
  t.equal(time({ inMinutes: 1.5 }), '2026-11-21T16:01:30.000Z')
  t.equal(time({ at: '2026-11-22T09:30:00+01:00' }), '2026-11-22T08:30:00.000Z')
  t.equal(time({ at: '2026-11-22T09:30Z', inMinutes: null }), '2026-11-22T09:30:00.000Z')
  for (const at of [
    '2026-11-22T09:30:00',
    '2026-11-22',
    'tomorrow at nine',
    '2027-02-30T09:30:00Z',
    '2026-11-22T25:30:00Z',
    '2026-11-22T09:30:00+1',
    7,
  ])
    t.equal(time({ at }), 'wrong', String(at))
  t.equal(time({}), 'wrong', 'none')
  t.equal(time({ at: '2026-11-22T09:30:00Z', inMinutes: 10 }), 'wrong', 'two')
  for (const inMinutes of [Number.NaN, '10', Number.POSITIVE_INFINITY]) t.equal(time({ inMinutes }), 'wrong')
  t.end()
})

t.test('a callback may be requested from 1 minute to maxDaysAhead days ahead', (t) => {
  t.equal(time({ inMinutes: 1 }), '2026-11-21T16:01:00.000Z')
  t.equal(time({ at: '2026-11-21T16:01:00Z' }), '2026-11-21T16:01:00.000Z')
  t.equal(time({ at: '2026-11-21T16:00:59.999Z' }), 'notAllowed')
  t.equal(time({ inMinutes: -5 }), 'notAllowed')
  for (const days of [1, 7, 30]) {
    t.equal(time({ inMinutes: days * 1440 }, days), new Date(nowMs + days * 86_400_000).toISOString())
    t.equal(time({ inMinutes: days * 1440 + 0.001 }, days), 'notAllowed')
  }
  t.equal(time({ inMinutes: 1e300 }), 'notAllowed')
  t.same(read({ to, inMinutes: 0 }, 3), { notAllowed: 'the time must be 1 minute to 3 days ahead' })
  t.end()
})

t.test('the number of a callback must be a valid phone number in E.164', (t) => {
  const isTaken = (number: unknown) => 'request' in read({ to: number, inMinutes: 5 })
  for (const number of ['+4915123456789', '+12025550143', '+15005550006']) t.ok(isTaken(number), number)
  for (const number of [
    '+15555550100',
    '4915123456789',
    '+49 1512 3456789',
    '+0151234567',
    '+1',
    '',
    'Anna',
    null,
    49,
    undefined,
  ])
    t.notOk(isTaken(number), String(number))
  t.same(read({ inMinutes: 5 }), { wrong: ['to'] }, 'a browser has no number of its caller')
  t.match(read({ inMinutes: 5 }, 7, to), { request: { toNumber: to } }, 'the number of the person by phone')
  t.same(
    read({ to: 'Anna', inMinutes: 5 }, 7, to),
    { wrong: ['to'] },
    'no other number is called in place of a wrong one',
  )
  t.same(read('text'), { wrong: ['at', 'inMinutes', 'to'] })
  t.end()
})

t.test('numberOfPerson returns the phone number of the person, whether the call was inbound or outbound', (t) => {
  const numberIn = (direction: 'inbound' | 'outbound', from: string | null) =>
    numberOfPerson({
      phone: { direction, from, to: '+12025550143', forwardedFrom: null, phoneNumberId: 'pn_1', legId: 'leg_1' },
    })
  t.equal(numberIn('inbound', to), to)
  t.equal(numberIn('inbound', null), null, 'withheld')
  t.equal(numberIn('outbound', to), '+12025550143')
  t.equal(numberOfPerson({ phone: null }), null, 'a browser')
  t.end()
})

t.test('reason and instructions of a callback have limits, and an empty text is null', (t) => {
  const texts = (reason: unknown, instructions: unknown) => read({ to, inMinutes: 5, reason, instructions })
  t.match(texts('😀'.repeat(500), 'x'.repeat(8192)), { request: { reason: '😀'.repeat(500) } })
  t.same(texts('x'.repeat(501), 'x'.repeat(8193)), { wrong: ['reason', 'instructions'] })
  t.match(texts('', null), { request: { reason: null, instructions: null } })
  t.same(texts(5, 'x'), { wrong: ['reason'] })
  t.end()
})
