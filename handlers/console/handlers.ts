/** Joins the handlers of the console's sign-in. */
import { accountHandlers } from './account.ts'
import { signInHandlers } from './sign-in.ts'
import type { ConsoleDeps } from './signed-in.ts'

export type ConsoleHandlers = ReturnType<typeof consoleHandlers>

export function consoleHandlers(deps: ConsoleDeps) {
  return { ...signInHandlers(deps), ...accountHandlers(deps) }
}
