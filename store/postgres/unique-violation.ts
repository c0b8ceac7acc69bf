import { driver } from './driver.ts'

const uniqueViolation = '23505'

/** Returns true if a statement failed because a row with this unique value exists. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return error instanceof driver.PostgresError && error.code === uniqueViolation && error.constraint_name === constraint
}
