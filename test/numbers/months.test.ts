import t from 'tap'
import { nextMonthlyMs } from '../../domain/numbers/months.ts'

const next = (anchor: string, now: string) => new Date(nextMonthlyMs(Date.parse(anchor), Date.parse(now))).toISOString()

t.test('a charged month ends on the same day of the next month, or on its last day', (t) => {
  const cases: [anchor: string, now: string, next: string][] = [
    ['2026-11-21T16:00:00.000Z', '2026-11-21T16:00:00.000Z', '2026-12-21T16:00:00.000Z'],
    ['2026-11-21T16:00:00.000Z', '2026-12-21T15:59:59.999Z', '2026-12-21T16:00:00.000Z'],
    ['2026-12-31T10:00:00.000Z', '2026-12-31T10:00:00.000Z', '2027-01-31T10:00:00.000Z'],
    ['2026-01-31T10:00:00.000Z', '2026-01-31T10:00:00.000Z', '2026-02-28T10:00:00.000Z'],
    ['2026-01-31T10:00:00.000Z', '2026-02-28T10:00:00.000Z', '2026-03-31T10:00:00.000Z'],
    ['2027-12-31T10:00:00.000Z', '2028-02-01T00:00:00.000Z', '2028-02-29T10:00:00.000Z'],
    ['2026-01-15T10:00:00.000Z', '2026-07-20T00:00:00.000Z', '2026-08-15T10:00:00.000Z'],
  ]
  for (const [anchor, now, expected] of cases) t.equal(next(anchor, now), expected, `${anchor} ${now}`)
  t.end()
})
