/** The test programs in all languages run the same steps against the same server, and must print the same values. */
import t from 'tap'
import { languages } from './languages.ts'
import { runLanguage } from './run-language.ts'
import { startScenario } from './setup.ts'

t.setTimeout(1_800_000)
const missing = new Map<string, string | null>()
for (const { name, prepare } of languages) missing.set(name, await prepare())
const scenario = await startScenario(t)

for (const language of languages) {
  const skip = missing.get(language.name) ?? false
  t.test(`the test program with the ${language.name} client prints the expected values`, { skip }, (t) =>
    runLanguage(t, scenario, language),
  )
}
