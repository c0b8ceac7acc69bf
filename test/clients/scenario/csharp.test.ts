/**
 * The C# test program runs against the server. It is in a separate lane (a named set of tests), because its compiler
 * and its runtime are large.
 */
import t from 'tap'
import { csharpProgram, dotnet, prepareCsharp } from './csharp/prepare.ts'
import { runLanguage } from './run-language.ts'
import { startScenario } from './setup.ts'

t.setTimeout(1_800_000)
const skip = (await prepareCsharp()) ?? false
const scenario = await startScenario(t)

t.test('the test program with the C# client prints the expected values', { skip }, (t) =>
  runLanguage(t, scenario, { name: 'C#', prepare: prepareCsharp, run: [dotnet(), csharpProgram] }),
)
