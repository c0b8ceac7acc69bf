/** Joins the handlers for signing in to the console. */
import { accountHandlers } from './account.ts'
import { type LinkDeps, linkHandlers } from './links.ts'
import { type OidcHandlerDeps, oidcHandlers } from './oidc.ts'
import { signInHandlers } from './sign-in.ts'

export type ConsoleHandlers = ReturnType<typeof consoleHandlers>

export function consoleHandlers(deps: LinkDeps & OidcHandlerDeps) {
  return { ...signInHandlers(deps), ...accountHandlers(deps), ...linkHandlers(deps), ...oidcHandlers(deps) }
}
