/**
 * Makes the checks on one target: a document, an operation or a channel. A failed request becomes a finding of its
 * check, so the run goes on.
 */
import type { Conformance } from './conformance.ts'
import { Missing } from './fixtures.ts'
import { RunEnded, Unanswered } from './limits.ts'
import { type Found, inapplicable } from './results.ts'
import { released } from './surfaces.ts'

type Check = { number: number; make: () => Promise<Found> | Found }

/** After this many checks without an answer, the other checks of the target are left out. */
const unansweredMax = 3
/** How long the server may take to answer its first document, in milliseconds, before the run ends. */
const reachMs = 30_000

/** Throws RunEnded if the run is over, or if the server answers no request. */
export async function checkTarget(run: Conformance, id: string, checks: readonly Check[]): Promise<void> {
  let unanswered = 0
  for (const { number, make } of checks) {
    if (unanswered >= unansweredMax) {
      run.results.record(id, number, inapplicable(`${unansweredMax} checks before got no answer`))
      continue
    }
    const { found, isAnswered } = await findingOf(run, make)
    run.results.record(id, number, found)
    if (isAnswered) continue
    unanswered += 1
    if (unanswered === unansweredMax && !(await isReachable(run))) throw new RunEnded('the server no longer answers')
  }
}

async function findingOf(run: Conformance, make: Check['make']): Promise<{ found: Found; isAnswered: boolean }> {
  try {
    return { found: await run.http.within(run.limits.checkMs, async () => make()), isAnswered: true }
  } catch (error) {
    if (error instanceof RunEnded) throw error
    if (error instanceof Missing) return { found: inapplicable(error.message), isAnswered: true }
    if (error instanceof Unanswered) return { found: [error.message], isAnswered: false }
    return { found: [`the check cannot be made: ${(error as Error).message}`], isAnswered: true }
  }
}

async function isReachable({ http }: Conformance): Promise<boolean> {
  const [[, path]] = released
  try {
    await http.within(reachMs, () => http.send({ method: 'GET', path, headers: {} }))
    return true
  } catch (error) {
    if (error instanceof Unanswered) return false
    throw error
  }
}
