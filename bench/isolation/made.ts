import { call } from '../../test/platform/setup.ts'
import type { Target } from '../../test/router/requests.ts'

/** Makes a resource over the API. Throws if the answer is not 201. */
export async function made<T>(target: Target, path: string, body: object): Promise<T> {
  const answer = await call(target, 'POST', path, body)
  if (answer.status !== 201) throw new Error(`${path} was answered ${answer.status}: ${answer.text}`)
  return answer.json<T>()
}
