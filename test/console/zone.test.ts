/** Tests how the console writes times in a time zone, and where it lets a day begin. */
import t from 'tap'
import { periods as callPeriods } from '../../console/app/pages/calls/periods.ts'
import { periods as usagePeriods } from '../../console/app/pages/usage/periods.ts'
import { startOfDay, timesIn } from '../../console/app/parts/zone.ts'

t.test('times are written in the zone, and the year only if it is not the present year', (t) => {
  const { zone, moment, day, timeOfDay } = timesIn('America/New_York')
  t.equal(zone, 'America/New_York')
  t.equal(moment('2025-03-09T06:59:59Z'), '9 Mar 2025, 01:59:59')
  t.equal(moment('2025-03-09T07:00:00Z'), '9 Mar 2025, 03:00:00', 'the clocks change')
  t.equal(day('2025-01-01T04:59:59Z'), '31 Dec 2024')
  t.equal(timeOfDay('2025-01-01T05:00:00Z'), '00:00:00')
  t.equal(day(`${new Date().getUTCFullYear()}-06-15T12:00:00Z`), '15 Jun')
  t.same(timesIn('Mars/Olympus').zone, 'UTC', 'a zone that this browser does not know')
  t.end()
})

t.test('a day begins at its midnight in the zone, and at the change if the clocks skip midnight', (t) => {
  const begin = (zone: string, month: number, day: number) => startOfDay(zone, 2026, month - 1, day).toISOString()
  t.equal(begin('UTC', 3, 29), '2026-03-29T00:00:00.000Z')
  t.equal(begin('Europe/Berlin', 3, 29), '2026-03-28T23:00:00.000Z')
  t.equal(begin('Europe/Berlin', 3, 30), '2026-03-29T22:00:00.000Z')
  t.equal(begin('Europe/Berlin', 10, 25), '2026-10-24T22:00:00.000Z')
  t.equal(begin('Europe/Berlin', 10, 26), '2026-10-25T23:00:00.000Z')
  t.equal(begin('Pacific/Kiritimati', 1, 1), '2025-12-31T10:00:00.000Z')
  t.equal(begin('Pacific/Pago_Pago', 1, 0), '2025-12-31T11:00:00.000Z', 'day 0 is the last of the month before')
  t.equal(begin('America/Havana', 3, 8), '2026-03-08T05:00:00.000Z', 'midnight is skipped: the day begins at 1:00')
  t.equal(begin('America/Havana', 11, 1), '2026-11-01T04:00:00.000Z', 'midnight comes twice')
  t.end()
})

t.test('filters by time begin at midnight in the zone', (t) => {
  const now = new Date('2026-03-31T22:30:00Z')
  t.match(callPeriods(now, 'Europe/Berlin').slice(1, 3), [
    { name: 'Today', since: '2026-03-31T22:00:00.000Z' },
    { name: 'Yesterday', since: '2026-03-30T22:00:00.000Z', until: '2026-03-31T22:00:00.000Z' },
  ])
  const [, week, april, march] = usagePeriods(now, 'Europe/Berlin')
  t.match(week, { value: 'week', from: '2026-03-25T23:00:00.000Z' })
  t.match(april, { value: '2026-04', label: 'April 2026', from: '2026-03-31T22:00:00.000Z' })
  t.same(march, {
    ...{ value: '2026-03', label: 'March 2026' },
    ...{ from: '2026-02-28T23:00:00.000Z', to: '2026-03-31T22:00:00.000Z' },
  })
  t.match(usagePeriods(now, 'UTC')[2], { value: '2026-03', from: '2026-03-01T00:00:00.000Z' })
  t.end()
})
