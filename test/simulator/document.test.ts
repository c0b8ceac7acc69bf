/** The document of the simulator lists each number that acts in its own way, and no other. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { planOf } from '../../simulator/far-ends/magic-numbers.ts'
import { messagePlanOf } from '../../simulator/rich-messages.ts'
import { far } from './setup.ts'

const usual = '0006'
/** This phone acts as the usual one. The server lets its recording fail. */
const recordingFails = '0014'
/** Messages to this number are delivered, as those to any other. */
const usualMessage = '0030'

t.test('docs/simulator.md lists the numbers of the simulator', (t) => {
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
