/** Joins the handlers of the console's sign-in. */
import { accountHandlers } from './account.ts'
import { type LinkDeps, linkHandlers } from './links.ts'
import { signInHandlers } from './sign-in.ts'

export type ConsoleHandlers = ReturnType<typeof consoleHandlers>

export function consoleHandlers(deps: LinkDeps) {
  return { ...signInHandlers(deps), ...accountHandlers(deps), ...linkHandlers(deps) }
}
