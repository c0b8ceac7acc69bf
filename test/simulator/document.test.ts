/** docs/simulator.md lists exactly the phone numbers with special behaviour. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { planOf } from '../../simulator/far-ends/magic-numbers.ts'
import { messagePlanOf } from '../../simulator/rich-messages.ts'
import { far } from './setup.ts'

const usual = '0006'
/** The simulator treats this phone like any other phone, but the server lets its recording fail. */
const recordingFails = '0014'
/** Messages to this number are delivered, like messages to any other number. */
const usualMessage = '0030'

t.test("docs/simulator.md lists the simulator's phone numbers", (t) => {
  const document = readFileSync(new URL('../../docs/simulator.md', import.meta.url), 'utf8')
  const listed = [...document.matchAll(/^\| …(\d{4}) \|/gm)].map(([, digits]) => digits as string)
  const digits = Array.from({ length: 10_000 }, (_, at) => String(at).padStart(4, '0'))
  const named = [usual, recordingFails, usualMessage]
  const isSpecial = (digits: string) =>
    named.includes(digits) ||
    planOf(far(digits)) !== planOf(far(usual)) ||
    messagePlanOf(far(digits)) !== messagePlanOf(far(usual))
  const special = digits.filter(isSpecial)
  t.same(listed, special)
  t.end()
})
