/**
 * The Java test program runs against the server. It is in a separate lane (a named set of tests), because a machine
 * seldom has Java and Maven.
 */
import t from 'tap'
import { javaProgram, prepareJava } from './java/prepare.ts'
import { runLanguage } from './run-language.ts'
import { startScenario } from './setup.ts'

/** The JDK does not show the response body of a refused upgrade, so the error code in the body is not known. */
const differs = { socket_openings: { refused: [401, ''] } }

t.setTimeout(1_800_000)
const skip = (await prepareJava()) ?? false
const scenario = await startScenario(t)

t.test('the test program with the Java client prints the expected values', { skip }, (t) =>
  runLanguage(t, scenario, { name: 'Java', prepare: prepareJava, run: ['java', ...javaProgram] }, differs),
)
