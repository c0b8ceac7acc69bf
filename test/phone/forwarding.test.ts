/** Tests how the number that forwarded a call is found: the order of the SIP headers, and hidden numbers. */
import t from 'tap'
import { forwardingOf, forwardingSources } from '../../domain/phone/forwarding.ts'
import type { ForwardingFields } from '../../domain/ports/phone-line.ts'
import { e164Of } from '../../runtime/values/phone-number.ts'

const dialed = '+14155550100'
const [one, two] = ['+14155550123', '+14155550124']
const none: ForwardingFields = {
  forwardedFrom: null,
  originalTo: null,
  redirectingNumber: null,
  diversion: [],
  historyInfo: [],
  privacy: [],
}
const at = (number: string, more = '') => `<sip:${number}@carrier.example${more}>`
/** A History-Info header: the forwarding number first, and our number last. */
const history = (entry: string) => [`${entry};index=1, ${at(dialed)};index=1.1`]
const of = (fields: Partial<ForwardingFields>) => forwardingOf({ ...none, ...fields }, dialed, e164Of)

t.test('the forwarding number comes from the first source with a number that was not dialled', (t) => {
  const rows: [source: (typeof forwardingSources)[number], fields: Partial<ForwardingFields>][] = [
    ['forwarded_from', { forwardedFrom: one }],
    ['original_to', { originalTo: one }],
    ['redirecting_number', { redirectingNumber: one }],
    ['diversion', { diversion: [at(one)] }],
    ['history_info', { historyInfo: history(at(one)) }],
  ]
  t.same(
    rows.map(([source]) => source),
    forwardingSources,
  )
  const mentions = (number: string) => [
    { forwardedFrom: number },
    { originalTo: number },
    { redirectingNumber: number },
    { diversion: [at(number)] },
    { historyInfo: history(at(number)) },
  ]
  rows.forEach(([source, fields], place) => {
    t.same(of(fields), { number: one, source }, `${source} alone`)
    const later = Object.assign({}, ...mentions(two).slice(place + 1)) as Partial<ForwardingFields>
    t.same(of({ ...later, ...fields }), { number: one, source }, `${source} before those that come after it`)
    for (const skipped of [dialed, 'anonymous', 'Restricted', '', '12']) {
      const earlier = Object.assign({}, ...mentions(skipped).slice(0, place)) as Partial<ForwardingFields>
      t.same(of({ ...earlier, ...fields }), { number: one, source }, `${source} after sources with "${skipped}"`)
    }
  })
  t.equal(of({}), null)
  t.end()
})

t.test('the forwarding number is read from each form of the Diversion and History-Info headers', (t) => {
  const rows: [why: string, fields: Partial<ForwardingFields>, number: string | null][] = [
    ['the topmost of two headers', { diversion: [at(one), at(two)] }, one],
    ['the first of two values', { diversion: [`${at(one)};reason=no-answer, ${at(two)}`] }, one],
    ['our own number above it', { diversion: [at(dialed), at(one)] }, one],
    [
      'the topmost hides itself, so the one below is not the forwarding number',
      { diversion: [`${at(one)};privacy=full`, at(two)] },
      null,
    ],
    ['the topmost is no number', { diversion: [at('reception'), at(two)] }, null],
    ['an address without brackets', { diversion: [`sip:${one}@carrier.example;reason=unknown`] }, one],
    ['a name with a comma and brackets', { diversion: [`"Shop, <front>" ${at(one)}`] }, one],
    ['a telephone address', { diversion: ['<tel:+1-415-555-0123;phone-context=x>'] }, one],
    [
      'an address over TLS, with a port and a user parameter',
      { diversion: [`<sips:${one};npdi@carrier.example:5061;user=phone>`] },
      one,
    ],
    ['a password in the address', { diversion: [`<sip:${one}:secret@carrier.example>`] }, one],
    ['an escaped plus', { diversion: ['<sip:%2B14155550123@carrier.example>'] }, one],
    ['a broken escape', { diversion: ['<sip:%2@carrier.example>'] }, null],
    ['a national number', { diversion: [at('4155550123')] }, one],
    [
      'the entry before ours',
      { historyInfo: [`${at(two)};index=1`, `${at(one)};index=1.1`, `${at(dialed)};index=1.1.1`] },
      one,
    ],
    [
      'our own number twice',
      { historyInfo: [`${at(one)};index=1, ${at(dialed)};index=1.1, ${at(dialed)};index=1.1.1`] },
      one,
    ],
    [
      'entries behind ours, as an exchange adds them for the phone that it calls',
      {
        historyInfo: [
          `${at(two)};index=1, ${at(one)};index=1.1, ${at(dialed)};index=1.1.1, <sip:trunk-7@203.0.113.5>;index=1.1.1.1`,
        ],
      },
      one,
    ],
    [
      'another number behind ours, to which our calls are sent on',
      { historyInfo: [`${at(one)};index=1, ${at(dialed)};index=1.1, ${at(two)};index=1.1.1`] },
      one,
    ],
    ['our entry is the first', { historyInfo: [`${at(dialed)};index=1, ${at(two)};index=1.1`] }, null],
    ['a history without our entry', { historyInfo: [`${at(two)};index=1, ${at(one)};index=1.1`] }, one],
    ['a cause in the address', { historyInfo: history(at(one, '?Reason=SIP%3Bcause%3D302')) }, one],
    [
      'the entry before ours hides itself',
      { historyInfo: [`${at(two)};index=1, ${at(one, '?Privacy=history')};index=1.1, ${at(dialed)};index=2`] },
      null,
    ],
    [
      'our own entry hides itself',
      { historyInfo: [`${at(one)};index=1, ${at(dialed, '?Privacy=history')};index=1.1`] },
      one,
    ],
    ['nothing but our own number', { diversion: [at(dialed)], historyInfo: [at(dialed)] }, null],
    ['a header that is none', { diversion: [',,', '"', '<'], historyInfo: [''] }, null],
  ]
  for (const [why, fields, number] of rows) t.equal(of(fields)?.number ?? null, number, why)
  t.end()
})

t.test('a forwarding number that is marked as private is not shown', (t) => {
  const shown: Partial<ForwardingFields>[] = [
    { diversion: [`${at(one)};privacy=off`] },
    // Here only the name is private, so the number may be shown.
    { diversion: [`${at(one)};privacy=name;reason=deflection`] },
    { historyInfo: history(at(one, '?Privacy=none')) },
    { historyInfo: history(at(one)), privacy: ['none'] },
    // Here the privacy concerns the caller, so the forwarding number may be shown.
    { historyInfo: history(at(one)), privacy: ['id'] },
    { diversion: [at(one)], privacy: ['history'] },
  ]
  for (const fields of shown) t.equal(of(fields)?.number, one, JSON.stringify(fields))
  const hidden: Partial<ForwardingFields>[] = [
    { forwardedFrom: 'anonymous' },
    { originalTo: '<sip:anonymous@anonymous.invalid>' },
    ...['full', 'FULL', 'uri', '"full"', 'unheard-of'].map((word) => ({
      diversion: [`${at(one)};reason=x;privacy=${word}`],
    })),
    { diversion: [`${at(one)} ; Privacy = full`] },
    { diversion: [`"Anonymous" ${at(one)}`] },
    { diversion: [at(one).replace('carrier.example', 'anonymous.invalid')] },
    ...['history', 'History', 'session', 'header', 'id', 'user%3Bhistory', 'history%3Bcritical'].map((word) => ({
      historyInfo: history(at(one, `?Reason=SIP%3Bcause%3D302&privacy=${word}`)),
    })),
    ...['history', 'header;session', 'id; History'].map((word) => ({ historyInfo: history(at(one)), privacy: [word] })),
  ]
  for (const fields of hidden) t.equal(of(fields), null, JSON.stringify(fields))
  const next = { diversion: [`${at(one)};privacy=full`], historyInfo: history(at(two)) }
  t.same(of(next), { number: two, source: 'history_info' }, 'the next source is taken')
  t.end()
})

t.test('the time to read a long header grows in proportion to its length', (t) => {
  const { user: startUs } = process.cpuUsage()
  for (const part of ['<', '"\\', '<"', '"', '<a', ';', '; privacy'])
    of({ diversion: [part.repeat(30_000 / part.length)], historyInfo: [part.repeat(30_000 / part.length)] })
  t.ok(process.cpuUsage().user - startUs < 1_000_000)
  t.end()
})
