/**
 * Decides before the upgrade whether a client may open a socket. A server sends its key in `Authorization`; a browser cannot set headers and
 * sends an ephemeral token as a subprotocol. A token is spent only after all other checks, so neither a foreign page that stole it nor a
 * moment without a reachable provider uses it up.
 */
import type { EphemeralTokens } from '../../domain/access/ephemeral.ts'
import type { Caller, Scope } from '../../domain/access/organization.ts'
import type { StreamAdmission } from '../../domain/speech/stream-admission.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import type { AdmitSocket, UpgradeRequest } from '../../runtime/engine/socket.ts'
import { isOwnOrigin } from '../authenticate.ts'

export type AdmitDeps = {
  /** The caller of an `Authorization` header. Throws the refusals unauthenticated and forbidden. */
  authenticate: (authorization: string, scope: string) => Caller | Promise<Caller>
  redeem: EphemeralTokens['redeem']
  /** Throws the fault that every stream of this caller would end with. */
  admitStream: StreamAdmission
}

/** The channel whose subprotocol may contain a key: OpenAI's clients send theirs as `openai-insecure-api-key.sk_…`. */
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
  // A request without an Origin comes from a server.
  if (request.origin !== '') checkOrigin(request, caller)
  await deps.admitStream(caller, stageOf(request))
  return caller
}

async function admitToken({ redeem, admitStream }: AdmitDeps, request: UpgradeRequest): Promise<Caller> {
  if (request.credential === '') throw new Refusal('unauthenticated', { param: 'Authorization' })
  const caller = await redeem(request.credential, (found) => {
    checkScope(found, request.scope)
    // Tokens are for browsers, which always send their origin. A missing Origin must fail, or the allowlist would bind only honest clients.
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
