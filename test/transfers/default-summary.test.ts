/** The call's summary for a transfer recipient if the request has no summary. */
import t from 'tap'
import { defaultSummary } from '../../domain/calls/transfer-summary.ts'
import type { Step } from './sequences/steps.ts'
import { World } from './sequences/world.ts'

t.test("a default summary has the caller's last words, in the language of the call", (t) => {
  t.equal(defaultSummary(['I want a bicycle.'], 'en-US'), 'The caller has said: I want a bicycle.')
  t.equal(defaultSummary([' Ein Rad,\nbitte. '], 'de'), 'Der Anrufer hat gesagt: Ein Rad, bitte.')
  t.equal(defaultSummary(['Egy bicikli.'], 'hu'), 'The caller has said: Egy bicikli.')
  t.equal(defaultSummary([' '], 'en'), null)
  t.equal(defaultSummary([], 'en'), null)
  t.end()
})

t.test("a default summary states the subject of the call, not the caller's request for a transfer", (t) => {
  const cases = [
    ['en', 'My bicycle has a flat tyre.', 'Can you put me through to the workshop?'],
    ['de', 'Mein Rad hat einen Platten.', 'Können Sie mich bitte verbinden?'],
    ['es', 'Mi bicicleta está rota.', 'Quiero hablar con una persona.'],
    ['fr', 'Mon vélo est en panne.', 'Passez-moi un vendeur.'],
    ['it', 'La mia bici è rotta.', 'Mi passi un collega, per favore.'],
    ['pt', 'A minha bicicleta está avariada.', 'Posso falar com alguém?'],
    ['nl', 'Mijn fiets is kapot.', 'Kunt u me doorverbinden?'],
  ] as const
  for (const [language, subject, request] of cases) {
    const summary = defaultSummary(['Hello?', subject, request], language) ?? ''
    t.ok(summary.endsWith(`: ${subject}`), summary)
    t.ok(defaultSummary([request], language)?.endsWith(request), 'unless it is all that was said')
  }
  t.end()
})

t.test('a default summary has as many of the last turns as fit into nine seconds of speech', (t) => {
  const turns = ['The oldest turn is left out.', `It ${'rattles '.repeat(10)}a lot.`, 'And I need it tomorrow.']
  const said = `${turns[1]} ${turns[2]}`
  t.equal(defaultSummary(turns, 'en'), `The caller has said: ${said}`)
  const long = defaultSummary([...turns, `${'word '.repeat(40)}`], 'en') ?? ''
  t.ok(long.length < 170, `${long.length} characters`)
  t.match(long, /: (word )+…$/, 'no word is cut')
  t.end()
})

t.test('only a warm transfer without a given summary gets the default summary', async (t) => {
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
