/** Tests OpenAI's Responses API through clients with this API as their default, with the model `auto`. */
import t, { type Test } from 'tap'
import { stubText } from '../providers/stub-openai.ts'
import { type Outcomes, startSetup } from './setup.ts'

/** For one client program: the expected values for successful steps, and the messages for failed steps. */
type Program = { succeed: Record<string, unknown>; fail: Record<string, RegExp> }

const withoutCredential = { message: /OPENAI_API_KEY/ }
const place = { city: 'Oslo' }
const turns = { respond: { text: stubText }, stream: { text: stubText, pieces: 4 }, parse: place, withoutCredential }

export const openai: Program = {
  succeed: {
    ...turns,
    respond: { text: stubText, tokens: [12, 9] },
    streamed: { text: stubText },
    tools: { arguments: place, text: 'The tool says: rain' },
    toolStream: [['weather', place]],
  },
  fail: { previous: /whole history/, hosted: /web_search/ },
}
const toolText = { text: 'The tool says: rain in Oslo' }
export const agent: Program = {
  succeed: { ...turns, tools: toolText, toolStream: toolText, secondTurn: { text: stubText } },
  fail: {},
}

export async function expectResponses(command: string, programs: Record<string, Program>): Promise<void> {
  // With the default limit, broken streams would open the provider's circuit, and `auto` would choose another provider.
  const patient = { PARLEY_CIRCUIT_FAILURES_MAX: '100' }
  const [working, breaking] = await Promise.all([startSetup(t, ['agent']), startSetup(t, ['cut'], patient)])
  for (const [file, { succeed, fail }] of Object.entries(programs))
    t.test(file, async (t) => {
      const outcomes = await working.run(command, [file])
      t.same(Object.keys(outcomes).sort(), [...Object.keys(succeed), ...Object.keys(fail)].sort())
      for (const [step, value] of Object.entries(succeed)) t.match(outcomes[step], { value }, step)
      for (const [step, message] of Object.entries(fail)) t.match(outcomes[step]?.error, { status: 400, message }, step)
      const { milliseconds } = outcomes['withoutCredential']?.value as { milliseconds: number }
      t.ok(milliseconds <= 100, `a model without a credential is refused after ${milliseconds} ms`)
      raises(t, await breaking.run(command, [file, 'broken']))
    })
}

/** Asserts that a stream raises an error if it ends early, because it must not look like a short answer. */
function raises(t: Test, outcomes: Outcomes): void {
  t.not(Object.keys(outcomes).length, 0)
  for (const { step, error } of Object.values(outcomes)) t.match(error?.message, /broke off/, step)
}
