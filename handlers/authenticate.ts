import { credentialPrefix, reachesRole } from '../domain/access/users.ts'
import type { Caller, Keys, Role, Scope } from '../domain/records/organization.ts'
import { ResourceFault } from '../domain/records/resource-fault.ts'
import { Refusal } from '../runtime/engine/handler.ts'
import type { Access } from '../runtime/engine/operation.ts'
import type { Credentials } from '../runtime/engine/options.ts'
import type { UpgradeRequest } from '../runtime/engine/socket.ts'
import type { LogFields } from '../runtime/engine/trace-context.ts'
import type { Owners } from '../runtime/shares/owners.ts'

export const sessionCookie = 'parley_session'

/**
 * `owners` records each organization with an admitted request, to detect whether several organizations use this server.
 */
export type AuthenticateDeps = { keys: Keys; owners: Owners }

/** The header in which the client sent the credential. */
type Source = 'Authorization' | 'Cookie'
type Presented = { secret: string; source: Source }

/**
 * Reads an API key or user token from `Authorization: Bearer <secret>` (RFC 6750 §2.1; the scheme is case-insensitive,
 * RFC 9110 §11.1). Without that header, reads a session from the cookie. Unknown, revoked and malformed credentials get
 * the same response, so it does not reveal whether a credential exists.
 */
export function createAuthenticate({
  keys,
  owners,
}: AuthenticateDeps): (
  credentials: Credentials,
  access: Access,
  denied?: (caller: Caller) => void,
) => Caller | Promise<Caller> {
  return (credentials, access, denied) => {
    const presented = credentials.authorization === '' ? readCookie(credentials.cookie) : readBearer(credentials)
    const result = keys.verify(presented.secret)
    const admitted = (known: Caller | null) => {
      const caller = admit(known, presented, credentials, access, denied)
      owners.see(caller.organization.id)
      return caller
    }
    return result instanceof Promise ? result.then(admitted) : admitted(result)
  }
}

function readBearer({ authorization }: Credentials): Presented {
  const source = 'Authorization'
  const secret = /^bearer +(\S+) *$/i.exec(authorization)?.[1]
  if (secret === undefined || secret.startsWith(credentialPrefix.session)) throw unauthenticated(source)
  return { secret, source }
}

/**
 * Reads the session from a header `a=1; parley_session=us_…; b=2` (RFC 6265 §4.2.1). Without a session cookie, the
 * request has no credential.
 */
function readCookie(cookie: string): Presented {
  const secret = cookieValue(cookie, sessionCookie)
  if (secret === null) throw unauthenticated('Authorization')
  if (!secret.startsWith(credentialPrefix.session)) throw unauthenticated('Cookie')
  return { secret, source: 'Cookie' }
}

/** Returns the value of the first cookie with this name in a Cookie header, or null. */
export function cookieValue(cookie: string, name: string): string | null {
  const start = `${name}=`
  const pair = cookie.split(';').find((part) => part.trim().startsWith(start))
  return pair === undefined ? null : pair.trim().slice(start.length)
}

function admit(
  caller: Caller | null,
  { source }: Presented,
  credentials: Credentials,
  access: Access,
  denied: (caller: Caller) => void = () => {},
): Caller {
  if (caller === null) throw unauthenticated(source)
  requireEnabled(caller)
  if (source === 'Cookie') requireOwnPage(credentials)
  if (caller.role !== undefined && access.role !== 'none' && !reachesRole(caller.role, access.role)) denied(caller)
  requireAccess(caller, access)
  return caller
}

/** Throws unless the user's role, or the API key's scopes, permit the operation. */
export function requireAccess(caller: Caller, { scope, role }: Access): void {
  if (caller.role !== undefined) return requireRole(caller.role, role)
  // The scope `admin` is for the organization's live resources, so a test key is refused.
  if (scope === 'admin' && caller.test)
    throw new Refusal('forbidden', {
      message: 'This is a test key, and test keys do not administer the organization.',
      hint: 'Use a live key with the scope admin.',
    })
  if (!caller.scopes.includes(scope as Scope)) throw new Refusal('forbidden', forbiddenKey(scope))
}

/**
 * Throws unless the user's role is `least` or a higher role. If `least` is `none`, only API keys may use the operation.
 */
export function requireRole(held: Role, least: string | null): void {
  if (least === 'none') throw new ResourceFault({ kind: 'api_key_required' })
  if (!reachesRole(held, least)) throw new Refusal('forbidden', forbiddenRole(held, least))
}

/** Adds the client's organization and API key id to the log fields. The id is not secret. */
export function nameCaller(logFields: LogFields, { organization, keyId }: Caller): void {
  logFields['organizationId'] = organization.id
  logFields['keyId'] = keyId
}

/** Adds a socket's client to the log fields, and counts the socket and its request for the client's organization. */
export function nameSocket(request: Pick<UpgradeRequest, 'logFields' | 'belongsTo'>, caller: Caller): void {
  nameCaller(request.logFields, caller)
  request.belongsTo(caller.organization.id)
}

/**
 * Throws the refusal `disabled` if the organization is disabled. This function must also be called for a client
 * identified without a credential.
 */
export function requireEnabled({ organization }: Caller): void {
  if (organization.isDisabled) throw new Refusal('disabled')
}

const unauthenticated = (param: Source) => new Refusal('unauthenticated', { param })

const forbiddenKey = (scope: string | null) => ({
  message: `This key does not carry the scope ${scope}.`,
  hint: `Use a key with the scope ${scope}, or have it added to this one.`,
})

const forbiddenRole = (held: Role, least: string | null) => ({
  message: `This needs the role ${least}, and the role of this user is ${held}.`,
  hint: `Ask the operator for the role ${least}, or ask a user who has it.`,
})

/**
 * Throws unless a request with a cookie comes from our page, because browsers also send cookies with requests from
 * other sites' pages. They mark such requests in Sec-Fetch-Site, and pages cannot set this header. Browsers without it
 * send Origin with every request that can change something.
 */
function requireOwnPage(sender: Credentials): void {
  if (isFromOwnPage(sender)) return
  throw new Refusal('foreign_origin', {
    message: 'A page of another origin may not use the session of the dashboard.',
    hint: 'Use an API key or a user token.',
  })
}

/** Returns true if our page has sent the request, or the sender is no browser. */
export function isFromOwnPage({
  fetchSite,
  origin,
  host,
}: Pick<Credentials, 'fetchSite' | 'origin' | 'host'>): boolean {
  return fetchSite === '' ? origin === '' || isOwnOrigin(origin, host) : ownSites.has(fetchSite)
}

/** The accepted values of Sec-Fetch-Site. `none`: no page made the request, because the user typed the URL. */
const ownSites: ReadonlySet<string> = new Set(['same-origin', 'none'])

/**
 * Returns true if `host` (the request's Host header) served the page at `origin`. Both schemes count, because a proxy
 * may terminate TLS. A browser writes both headers. A page cannot choose them, but a program can.
 */
export function isOwnOrigin(origin: string, host: string): boolean {
  return host !== '' && (origin === `http://${host}` || origin === `https://${host}`)
}
