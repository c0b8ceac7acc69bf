/**
 * The Rust test program runs against the server. It is in a separate lane (a named set of tests), because a machine
 * seldom has cargo.
 */
import t from 'tap'
import { runLanguage } from './run-language.ts'
import { prepareRust, rustProgram } from './rust/prepare.ts'
import { startScenario } from './setup.ts'

t.setTimeout(3_600_000)
const skip = (await prepareRust()) ?? false
const scenario = await startScenario(t)

t.test('the test program with the Rust client prints the expected values', { skip }, (t) =>
  runLanguage(t, scenario, { name: 'Rust', prepare: prepareRust, run: [rustProgram] }),
)
