/**
 * Emits each operation's lowest role for the console's pages. A page compares this role with the person's role, so it
 * can say that an action needs a higher role before the server refuses the action.
 */
import type { OpenApiDocument } from '../../ir.ts'
import { banner, print } from './print.ts'

export function emitConsoleRoles({ name, file, operations }: OpenApiDocument): string {
  const rows = operations.filter(({ role }) => role !== null && role !== 'none').map(({ id, role }) => [id, role])
  return `${banner('console-roles', file)}
/** The lowest role that may use each operation. */
export const ${name}Roles = ${print(Object.fromEntries(rows))} as const
`
}
