import type { Cell } from '../suite/matrix.ts'

/** The error code in the answer to a configuration, by test case. */
export const errorCodes: Partial<Record<Cell, number>> = {
  auth: 401,
  quota: 402,
  rate_limited_bare: 429,
  overloaded: 503,
  server: 500,
  bad_request: 400,
}
