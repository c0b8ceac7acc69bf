/**
 * If a contract change breaks a language's users, that language's client must show it: the test program in
 * test/clients/scenario does not compile with the new client, or prints other values against the server, which still
 * has the old contract.
 */
import t, { type Test } from 'tap'
import { packageFile } from '../../../runtime/package-file.ts'
import { startScenario } from '../scenario/setup.ts'
import { changeLanguages } from './change-languages.ts'
import { makeTree } from './changed-tree.ts'
import { type ContractChange, contractChanges } from './contract-changes.ts'
import { firstDifference } from './first-difference.ts'

/** The tests in this file take about 15 minutes. */
t.setTimeout(7_200_000)
const missing = new Map<string, string | null>()
for (const { name, prepare } of changeLanguages) missing.set(name, await prepare())
const scenario = await startScenario(t)
const tree = makeTree(packageFile('.cache/client-changes/tree').pathname)

t.test('with an unchanged contract the test program in each language compiles, and prints the expected values', (t) =>
  checkChange(t, {
    kind: 'none',
    edits: [],
    unhurt: Object.fromEntries(changeLanguages.map(({ name }) => [name, ''])),
  }),
)

for (const change of contractChanges) t.test(`the test program fails if ${change.kind}`, (t) => checkChange(t, change))

async function checkChange(t: Test, { kind, edits, unhurt = {} }: ContractChange): Promise<void> {
  t.equal(await tree.generate(edits), null, 'the generator takes the change')
  for (const language of changeLanguages) {
    const skip = missing.get(language.name) ?? false
    await t.test(language.name, { skip }, async (t) => {
      const compiles = async () =>
        firstDifference((await scenario.prepare(t, `${kind} ${language.name}`)).env, language.run(tree.folder))
      const noticed = (await language.compile(tree.folder)) ?? (await compiles())
      const reason = unhurt[language.name]
      if (reason === undefined) t.ok(noticed, 'the change is noticed')
      else t.equal(noticed, null, reason)
      t.comment(noticed?.split('\n').slice(0, 3).join('\n') ?? 'not noticed')
    })
  }
}
