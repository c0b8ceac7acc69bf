/** The summary that a recipient gets where nobody has written one. */
import t from 'tap'
import { defaultSummary } from '../../domain/transfers/default-summary.ts'
import type { Step } from './sequences/steps.ts'
import { World } from './sequences/world.ts'

t.test('a summary has the last words of the caller, in the language of the call', (t) => {
  t.equal(defaultSummary('I want a bicycle.', 'en-US'), 'The caller has said: I want a bicycle.')
  t.equal(defaultSummary(' Ein Rad,\nbitte. ', 'de'), 'Der Anrufer hat gesagt: Ein Rad, bitte.')
  t.equal(defaultSummary('Egy bicikli.', 'hu'), 'The caller has said: Egy bicikli.')
  t.equal(defaultSummary(' ', 'en'), null)
  t.equal(defaultSummary(null, 'en'), null)
  const long = defaultSummary(`${'word '.repeat(40)}`, 'en') ?? ''
  t.ok(long.length < 130)
  t.match(long, / word …$/, 'no word is cut')
  t.end()
})

t.test('a warm transfer without a summary gets one, and no other', async (t) => {
  const to = '+15005550011'
  const cases = [
    [{ does: 'warm', asked: { to } }, 'The caller has said: I want to buy a bicycle.'],
    [{ does: 'warm', asked: { to, summary: 'About a bicycle.' } }, 'About a bicycle.'],
    [{ does: 'blind', asked: { to } }, null],
  ] as const
  for (const [asked, summary] of cases) {
    const steps: Step[] = [{ afterMs: 3000, ...asked }]
    const sequence = { seed: 1, weather: 'calm', direction: 'inbound', lastOut: 'caller leaves', steps } as const
    const world = new World(sequence, null)
    t.equal((await world.run()).failure, null)
    t.same(
      [...world.database.transfers.values()].map((row) => row.summary),
      [summary],
    )
  }
})
