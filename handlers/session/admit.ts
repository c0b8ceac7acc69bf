/** Decides before the upgrade whether a client may open a session's media channel. */
import type { LiveKeys } from '../../domain/access/ephemeral.ts'
import { type Grant, grantOf } from '../../domain/access/revocations.ts'
import type { SeatAdmission, SessionSeat } from '../../domain/calls/live/seats.ts'
import type { Traces } from '../../domain/ports/trace.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { TransportTokens } from '../../domain/sessions/transport-token.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { type AdmitSocket, OwnedElsewhere, type UpgradeRequest } from '../../runtime/engine/socket.ts'
import type { Owners } from '../../runtime/shares/owners.ts'
import { isOwnOrigin, nameSocket, requireEnabled, requireRole } from '../authenticate.ts'

export type SessionAdmitDeps = {
  tokens: TransportTokens
  keys: LiveKeys
  sessions: SeatAdmission
  /** Records each organization with an admitted token, to detect whether several organizations use this server. */
  owners: Pick<Owners, 'see'>
  /** Absent or null if calls are not traced. */
  traces?: Traces | null
}

/** An admitted session, with the grant that its token was made under. */
export type GrantedSeat = SessionSeat & { grant: Grant }

/**
 * Admits a socket to a session. Its token names the session and the user, and both together identify the socket's
 * client.
 */
export function createSessionAdmit({ tokens, keys, sessions, owners, traces }: SessionAdmitDeps): AdmitSocket {
  return async (request): Promise<GrantedSeat> => {
    const claims = tokens.read(presentedToken(request))
    if (claims === null || claims.sessionId !== request.path['id']) throw badToken()
    const caller = await keys.find(claims.organizationId, claims.keyId)
    if (caller === null || !hasScope(caller, request.scope)) throw badToken()
    nameSocket(request, caller)
    request.logFields['callId'] = claims.sessionId
    requireEnabled(caller)
    if (caller.role !== undefined) requireRole(caller.role, request.role)
    checkOrigin(request, caller.policy.allowedOrigins)
    owners.see(caller.organization.id)
    const seat = await sessions.admit(claims, caller)
    if ('ownerId' in seat) throw new OwnedElsewhere(seat.ownerId)
    request.joinTrace(traces?.call(claims.sessionId) ?? null)
    return { ...seat, grant: grantOf(caller, request) }
  }
}

/**
 * Returns true if the client still has the scope. If a user loses the scope after making a session, the session's open
 * socket is closed too.
 */
const hasScope = ({ scopes }: Caller, scope: string) => scopes.some((each) => each === scope)

function presentedToken({ authorization, credential }: UpgradeRequest): string {
  return authorization === '' ? credential : (/^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '')
}

function badToken(): Refusal {
  return new Refusal('unauthenticated', {
    message: 'The transport token is missing, is not one for this session, or its API key lives no more.',
    hint: 'Send the transportToken that POST /v1/sessions answered. API keys open nothing here.',
  })
}

/**
 * Checks a page's origin. If the key has no list of origins, any page may present the token, because it opens only one
 * session made by a server. A request without an origin comes from a server or an app.
 */
function checkOrigin({ origin, host }: UpgradeRequest, allowed: readonly string[] | undefined): void {
  if (allowed === undefined || origin === '' || isOwnOrigin(origin, host) || allowed.includes(origin)) return
  throw new Refusal('foreign_origin')
}
