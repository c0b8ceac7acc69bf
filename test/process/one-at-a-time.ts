/** Sends simultaneous requests under a concurrency limit of one. */
import { holding, type StubOpenAi } from '../providers/stub-openai.ts'
import type { Answer } from '../router/requests.ts'
import { until } from './machine.ts'

/**
 * Sends the requests at once. The provider delays its single answer until all other requests are refused, so they
 * cannot run one after another.
 */
export async function askAtOnce(
  stub: StubOpenAi,
  count: number,
  askMock: (at: number) => Promise<Answer>,
): Promise<Answer[]> {
  const { behaviour, release } = holding()
  stub.behave(behaviour)
  let refused = 0
  const answers = Array.from({ length: count }, async (_, at) => {
    const answer = await askMock(at)
    if (answer.status === 429) refused += 1
    return answer
  })
  await until('all others are refused', () => refused === count - 1).finally(release)
  return Promise.all(answers)
}
