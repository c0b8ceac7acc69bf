/** The language of the caller's words is the agent's language, or else the recognizer's language, or else English. */
import t from 'tap'
import { callersLanguage } from '../../domain/conversation/words/languages/languages.ts'
import { joinSettings } from '../../domain/sessions/join.ts'
import { converse, pipeline } from '../conversation/setup.ts'

const settingsOf = (language: string, recognized: string | null) => ({
  intent: { ...pipeline.intent, language },
  sttOptions: { ...pipeline.sttOptions, language: recognized },
})

t.test("the word list is that of the agent's language, else of the recognizer's language, else English", (t) => {
  const rows: [agents: string, recognizers: string | null, language: string][] = [
    ['de', null, 'de'],
    ['de-AT', 'en', 'de-AT'],
    ['ca', 'es-ES', 'es-ES'],
    ['ca', 'auto', 'en'],
    ['ca', null, 'en'],
    ['ca', 'eu', 'en'],
  ]
  for (const [agents, recognizers, language] of rows)
    t.equal(callersLanguage(settingsOf(agents, recognizers)), language, `${agents}, recognizer ${recognizers}`)
  t.end()
})

t.test("without a word list for the agent's language the recognizer's language decides when a turn ends", async (t) => {
  const { sim, record } = converse({ settings: settingsOf('ca', 'es') })
  sim.say('A ver.')
  sim.pause(900)
  sim.say('Una mesa.')
  await sim.until(() => record.turns.length === 2)
  t.equal(record.turns[0]?.text, 'A ver. Una mesa.')
})

t.test('a session without a language gets the language of its recognizer', (t) => {
  const languageOf = (language?: string) =>
    joinSettings(null, { ...(language !== undefined && { sttOptions: { language } }) }).intent.language
  t.equal(languageOf('fr'), 'fr')
  t.equal(languageOf('auto'), 'en')
  t.equal(languageOf(), 'en')
  t.end()
})
