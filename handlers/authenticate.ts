import type { Caller, Keys, Scope } from '../domain/access/organization.ts'
import { Refusal } from '../runtime/engine/handler.ts'

/**
 * Reads `Authorization: Bearer <key>` (RFC 6750 §2.1; the scheme is case-insensitive, RFC 9110 §11.1). Unknown, revoked and malformed keys get
 * the same answer, so that nobody learns which keys exist.
 */
export function createAuthenticate(keys: Keys): (authorization: string, scope: string) => Caller | Promise<Caller> {
  return (authorization, scope) => {
    const secret = /^bearer +(\S+) *$/i.exec(authorization)?.[1]
    if (secret === undefined) throw new Refusal('unauthenticated', { param: 'Authorization' })
    const found = keys.verify(secret)
    return found instanceof Promise ? found.then((caller) => admit(caller, scope)) : admit(found, scope)
  }
}

function admit(caller: Caller | null, scope: string): Caller {
  if (caller === null) throw new Refusal('unauthenticated', { param: 'Authorization' })
  // The scope administers things that the live keys of the organization share.
  if (scope === 'admin' && caller.test)
    throw new Refusal('forbidden', {
      message: 'This is a test key, and test keys do not administer the organization.',
      hint: 'Use a live key with the scope admin.',
    })
  if (caller.scopes.includes(scope as Scope)) return caller
  throw new Refusal('forbidden', {
    message: `This key does not carry the scope ${scope}.`,
    hint: `Use a key with the scope ${scope}, or have it added to this one.`,
  })
}

/**
 * Whether a page at `origin` was served from `host`, the request's Host header. Both schemes count, because TLS may end in front of us.
 * A browser writes both headers: a page cannot choose them, a program can.
 */
export function isOwnOrigin(origin: string, host: string): boolean {
  return host !== '' && (origin === `http://${host}` || origin === `https://${host}`)
}
