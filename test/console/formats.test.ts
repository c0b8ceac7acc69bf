/** Tests how the console writes and reads numbers: marks of a time axis, phone numbers and addresses of websites. */
import t from 'tap'
import { axisTime } from '../../console/app/parts/formats.ts'
import { e164Of, websiteOf } from '../../console/app/parts/tidy.ts'

t.test('marks of a time axis that are tenths of a second apart have one digit after the point', (t) => {
  const marks = Array.from({ length: 12 }, (_, at) => at)
  // The axis adds its step again and again, as a sum that is not exact.
  const sums = marks.map((count) => marks.slice(0, count).reduce((sum) => sum + 0.1, 0))
  t.same(
    sums.map((seconds) => axisTime(seconds, 0.1)),
    [
      '0:00.0',
      '0:00.1',
      '0:00.2',
      '0:00.3',
      '0:00.4',
      '0:00.5',
      '0:00.6',
      '0:00.7',
      '0:00.8',
      '0:00.9',
      '0:01.0',
      '0:01.1',
    ],
  )
  t.same([axisTime(59.8 + 0.2, 0.2), axisTime(65, 5)], ['1:00.0', '1:05'])
  t.end()
})

t.test('a US number becomes E.164 in each way that people write it, and other texts stay', (t) => {
  const written = [
    '(212) 555-0102',
    '212-555-0102',
    '212.555.0102',
    '2125550102',
    '1 212 555 0102',
    ' +1 (212) 555-0102',
  ]
  for (const text of written) t.equal(e164Of(text), '+12125550102', text)
  t.equal(e164Of('+49 30 901820'), '+4930901820')
  t.equal(e164Of('+49 (0)30 901820'), '+4930901820', 'the 0 in brackets is dialled only inside the country')
  for (const text of ['', '555-0102', '030 901820', '0049 30 901820', '212-555-0102 x7', '112 555 0102', '+0 212'])
    t.equal(e164Of(text), text)
  t.end()
})

t.test('the URL of a website gets https:// if it has no scheme', (t) => {
  t.equal(websiteOf('smile.example'), 'https://smile.example')
  t.equal(websiteOf(' smile.example:8443/teeth '), 'https://smile.example:8443/teeth')
  for (const text of ['', 'https://smile.example', 'http://smile.example']) t.equal(websiteOf(text), text)
  t.end()
})
