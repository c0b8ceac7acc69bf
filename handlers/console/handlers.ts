/** Joins the handlers of the console's sign-in. */
import { accountHandlers } from './account.ts'
import { type LinkDeps, linkHandlers } from './links.ts'
import { type OidcHandlerDeps, oidcHandlers } from './oidc.ts'
import { signInHandlers } from './sign-in.ts'

export type ConsoleHandlers = ReturnType<typeof consoleHandlers>

export function consoleHandlers(deps: LinkDeps & OidcHandlerDeps) {
  return { ...signInHandlers(deps), ...accountHandlers(deps), ...linkHandlers(deps), ...oidcHandlers(deps) }
}
