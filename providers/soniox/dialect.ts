/** How Soniox signs and refuses. */
import type { ErrorClass } from '../../domain/routing/provider-error.ts'
import { classOfStatus } from '../wire/failures.ts'
import type { Dialect } from '../wire/http.ts'

/** The key goes with the connection. In the first frame, where it once stood, it is refused from 2027-01-15 on. */
export const dialect: Dialect = {
  sign: (apiKey) => ['authorization', `Bearer ${apiKey}`],
  classify: () => null,
}

/** Of an error frame: its codes are those of HTTP. A request that cannot go on is a 503, and another one may. */
export function classOfCode(code: unknown): ErrorClass {
  return typeof code === 'number' ? classOfStatus(code) : 'server'
}
