/**
 * Tests how phone numbers are read as phone lines write them: in E.164, with or without the plus, and as dialled in a
 * country, and which texts are accepted as numbers.
 */
import t from 'tap'
import { e164Of, isPhoneNumber } from '../../runtime/values/phone-number.ts'

const us = '+14155550100'
const canada = '+14165550100'
const italy = '+390698765430'
const germany = '+4930123450'
const britain = '+442079460000'
const spain = '+34911234567'
const tollFree = '+80012345678'

t.test('a dialled number without a country code belongs to the country of our number', (t) => {
  const rows: [ours: string | undefined, text: string, number: string | null][] = [
    [italy, '3472345678', '+393472345678'],
    [italy, '393472345678', '+393472345678'],
    [italy, '+393472345678', '+393472345678'],
    [italy, '00393472345678', '+393472345678'],
    [italy, '0698765432', '+390698765432'],
    [italy, '390698765432', '+390698765432'],
    [italy, '06 9876 5432', '+390698765432'],
    // 393 may begin an Italian mobile number, or be Italy's code 39 with a mobile number.
    [italy, '3931234567', '+393931234567'],
    [italy, '393931234567', '+393931234567'],
    [italy, '+14155550123', '+14155550123'],
    [italy, '0014155550123', '+14155550123'],
    [germany, '015112345678', '+4915112345678'],
    [germany, '4915112345678', '+4915112345678'],
    [germany, '15112345678', '+4915112345678'],
    [germany, '030123456', '+4930123456'],
    // The first 0 is the German trunk prefix, so 49 is part of a national number here and not the country code.
    [germany, '04915112345678', '+494915112345678'],
    [britain, '07911123456', '+447911123456'],
    [britain, '447911123456', '+447911123456'],
    [britain, '7911123456', '+447911123456'],
    [spain, '612345678', '+34612345678'],
    [spain, '34612345678', '+34612345678'],
    [canada, '4165550123', '+14165550123'],
    [canada, '14155550123', '+14155550123'],
    [tollFree, '+393472345678', '+393472345678'],
    [tollFree, '4155550123', null],
    [italy, '4155550123', null],
    // A number of another country without a plus could mean anything, so it is not read.
    [italy, '14155550123', null],
    [italy, '1001', null],
    [italy, 'anonymous', null],
    [italy, '', null],
    [italy, '+', null],
    [germany, '+0151', null],
  ]
  for (const [ours, text, number] of rows) t.equal(e164Of(text, ours), number, `${text} for a call to ${ours}`)
  t.end()
})

t.test('without our number, or with a US number, a dialled text is read as a US number', (t) => {
  const rows: [text: string, number: string | null][] = [
    ['4155550123', '+14155550123'],
    ['14155550123', '+14155550123'],
    ['(415) 555-0123', '+14155550123'],
    ['1-415-555-0123', '+14155550123'],
    ['+14155550123', '+14155550123'],
    ['011393472345678', '+393472345678'],
    ['+393472345678', '+393472345678'],
    ['5005550006', '+15005550006'],
    ['393472345678', null],
    ['1001', null],
    ['911', null],
    ['anonymous', null],
  ]
  for (const [text, number] of rows) {
    t.equal(e164Of(text, us), number, `${text} for a call to ${us}`)
    t.equal(e164Of(text), number, text)
  }
  t.end()
})

t.test('a number is accepted only in E.164, without a trunk prefix, spaces or an extension', (t) => {
  for (const text of [us, canada, italy, germany, britain, spain, tollFree, '+525512345678', '+5491112345678'])
    t.ok(isPhoneNumber(text), text)
  for (const text of [
    '+49030123450',
    '+4402079460000',
    '+55011912345678',
    '+49 30 123450',
    `${us}x5`,
    '4155550100',
    '',
  ])
    t.notOk(isPhoneNumber(text), text)
  t.end()
})
