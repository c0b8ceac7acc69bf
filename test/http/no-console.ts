/** Handlers of the console's operations, for tests of other pages. Each handler rejects. */
import { internalSurface } from '../../generated/internal/routes.ts'
import type { ConsoleHandlers } from '../../handlers/console/handlers.ts'

const ids = internalSurface.operations.filter(({ path }) => path.startsWith('/console/auth/')).map(({ id }) => id)

export const noConsole = Object.fromEntries(
  ids.map((id) => [id, () => Promise.reject(new Error('no console here'))]),
) as unknown as ConsoleHandlers
