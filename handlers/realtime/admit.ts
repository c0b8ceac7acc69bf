/**
 * Who may open a socket. A server brings its key in `Authorization`; a browser cannot set headers and brings an ephemeral token as a subprotocol.
 * Everything is decided before the upgrade, and before the token is spent: a foreign page that got hold of a token does not use it up, nor does a
 * moment in which no provider can be reached.
 */
import type { EphemeralTokens } from '../../domain/access/ephemeral.ts'
import type { Caller, Scope } from '../../domain/access/organization.ts'
import type { StreamAdmission } from '../../domain/speech/stream-admission.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import type { AdmitSocket, UpgradeRequest } from '../../runtime/engine/socket.ts'
import { isOwnOrigin } from '../authenticate.ts'

export type AdmitDeps = {
  /** From `Authorization` to the caller; throws authentication_failed and access_denied. */
  authenticate: (authorization: string, scope: string) => Caller | Promise<Caller>
  redeem: EphemeralTokens['redeem']
  /** Whether there is anything behind the socket. */
  admitStream: StreamAdmission
}

/** Here the subprotocol may hold a key as well: OpenAI's clients offer theirs so, `openai-insecure-api-key.sk_…`. */
const keyChannel = 'transcriptionRealtime'

export function createAdmit(deps: AdmitDeps): AdmitSocket {
  return (request) => {
    const key = presentedKey(request)
    return key === '' ? admitToken(deps, request) : admitKey(deps, request, key)
  }
}

/** The value of an `Authorization` header, or ''. */
function presentedKey({ authorization, credential, channelId }: UpgradeRequest): string {
  if (authorization !== '') return authorization
  return channelId === keyChannel && credential.startsWith('sk_') ? `Bearer ${credential}` : ''
}

async function admitKey(deps: AdmitDeps, request: UpgradeRequest, key: string): Promise<Caller> {
  const caller = await deps.authenticate(key, request.scope)
  // Without an Origin it is a server.
  if (request.origin !== '') checkOrigin(request, caller)
  await deps.admitStream(caller, stageOf(request))
  return caller
}

async function admitToken({ redeem, admitStream }: AdmitDeps, request: UpgradeRequest): Promise<Caller> {
  if (request.credential === '') throw new Refusal('unauthenticated', { param: 'Authorization' })
  const caller = await redeem(request.credential, (found) => {
    checkScope(found, request.scope)
    // Tokens are for browsers, and a browser always says its origin: without one the allowlist would bind only those who keep to it.
    checkOrigin(request, found)
    return admitStream(found, stageOf(request))
  })
  if (caller !== null) return caller
  throw new Refusal('unauthenticated', {
    param: 'Sec-WebSocket-Protocol',
    hint: 'A token is good once and for 60 seconds: fetch one with POST /v1/realtime/sessions for each socket.',
  })
}

const stageOf = ({ channelId }: UpgradeRequest) => (channelId === 'synthesizeStream' ? 'tts' : 'stt')

function checkScope({ scopes }: Caller, scope: string): void {
  if (scopes.includes(scope as Scope)) return
  throw new Refusal('forbidden', { message: `The key behind this token does not carry the scope ${scope}.` })
}

function checkOrigin({ origin, host }: UpgradeRequest, { policy }: Caller): void {
  if (isOwnOrigin(origin, host) || policy.allowedOrigins?.includes(origin)) return
  throw new Refusal('foreign_origin', {
    param: 'Origin',
    hint:
      origin === ''
        ? 'A token opens sockets from a browser only: a server presents the key in Authorization.'
        : 'Add the origin (scheme, host and port) to the allowed_origins of the key.',
  })
}
