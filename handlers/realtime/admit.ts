/**
 * Decides before the upgrade whether a client may open a socket. A server sends its key in `Authorization`. A browser
 * cannot set headers, so it sends an ephemeral token as a subprotocol. An app may send its token either way. A token is
 * spent only after all other checks. So it stays valid if another site's page has stolen it and is refused, or if no
 * provider can be reached at this moment.
 */
import type { EphemeralTokens, Redeemed } from '../../domain/access/ephemeral.ts'
import { Fault, type FaultKind } from '../../domain/records/fault.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { StreamAdmission } from '../../domain/speech/stream-admission.ts'
import type { TranscriptionSession } from '../../generated/realtime/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import type { Access } from '../../runtime/engine/operation.ts'
import type { Credentials } from '../../runtime/engine/options.ts'
import type { AdmitSocket, UpgradeRequest } from '../../runtime/engine/socket.ts'
import type { Owners } from '../../runtime/shares/owners.ts'
import { isOwnOrigin, nameSocket, requireAccess, requireEnabled } from '../authenticate.ts'
import { isConversationModel } from '../realtime-conversations.ts'

export type AdmitDeps = {
  /** Returns the API client for the credentials. Throws the refusals `unauthenticated` and `forbidden`. */
  authenticate: (credentials: Credentials, access: Access) => Caller | Promise<Caller>
  redeem: EphemeralTokens['redeem']
  /**
   * Records each organization with an admitted token, to detect whether several organizations use this server.
   * `authenticate` does this for API keys.
   */
  owners: Pick<Owners, 'see'>
  /** Throws if every stream would end with a fault for this client. */
  admitStream: StreamAdmission
}

/** A socket's authenticated client. `tokenSession` has the session settings from the token. */
export type SocketCaller = Caller & {
  tokenSession?: TranscriptionSession
  /** Set if the client asks for a conversation. The open socket refuses the conversation with an error event. */
  wantsConversation?: true
}

/** The prefix of tokens for OpenAI's clients. Some clients check it. */
export const clientSecretPrefix = 'ek_'

/**
 * Only this channel accepts an API key as a subprotocol, because OpenAI's clients send the key as
 * `openai-insecure-api-key.sk_…`.
 */
const keyChannel = 'transcriptionRealtime'

export function createAdmit(deps: AdmitDeps): AdmitSocket {
  return (request) => {
    const bearer = /^bearer +(\S+) *$/i.exec(request.authorization)?.[1]
    if (bearer !== undefined && isToken(bearer)) return admitToken(deps, request, bearer)
    const key = presentedKey(request)
    return key === '' ? admitToken(deps, request, request.credential) : admitKey(deps, request, key)
  }
}

const isToken = (value: string) => /^(ek_)?v1\./.test(value)

/** Returns the `Authorization` header's value, or the key from the subprotocol in the same form, or ''. */
function presentedKey({ authorization, credential, channelId }: UpgradeRequest): string {
  if (authorization !== '') return authorization
  return channelId === keyChannel && credential.startsWith('sk_') ? `Bearer ${credential}` : ''
}

async function admitKey(deps: AdmitDeps, request: UpgradeRequest, key: string): Promise<SocketCaller> {
  // Cookies do not count here, because any page can open a socket and the browser would add them. Our pages fetch a
  // token instead.
  const credentials = { authorization: key, cookie: '', fetchSite: '', origin: request.origin, host: request.host }
  const pending = deps.authenticate(credentials, request)
  // A cached API key needs no look-up, so `authenticate` returns no promise. Its request is accepted even if too many
  // other requests wait for look-ups.
  const caller = pending instanceof Promise ? await pending : pending
  nameSocket(request, caller)
  checkOrigin(request, caller)
  return (await wantsConversation(deps, request, caller)) ? { ...caller, wantsConversation: true } : caller
}

async function admitToken(
  { redeem, owners, ...deps }: AdmitDeps,
  request: UpgradeRequest,
  credential: string,
): Promise<SocketCaller> {
  if (credential === '') throw new Refusal('unauthenticated', { param: 'Authorization' })
  const value = credential.startsWith(clientSecretPrefix) ? credential.slice(clientSecretPrefix.length) : credential
  let isConversation = false
  const redeemed = await redeem(value, async (caller) => {
    nameSocket(request, caller)
    requireEnabled(caller)
    requireAccess(caller, request)
    checkOrigin(request, caller)
    isConversation = await wantsConversation(deps, request, caller)
  })
  if (redeemed === null)
    throw new Refusal('unauthenticated', {
      param: 'Sec-WebSocket-Protocol',
      hint: 'A token is good once and for 60 seconds: fetch one with POST /v1/realtime/sessions for each socket.',
    })
  owners.see(redeemed.caller.organization.id)
  return isConversation ? { ...callerOf(redeemed), wantsConversation: true } : callerOf(redeemed)
}

/**
 * Checks the stream. Resolves with true if one of OpenAI's clients asks for a conversation, by its `intent` or by a
 * conversation model's name. Published clients show no reason for a refused upgrade, so this socket is opened and then
 * refuses the conversation itself. If an alias or a provider serves a model with this name, the socket transcribes.
 */
async function wantsConversation(
  { admitStream }: Pick<AdmitDeps, 'admitStream'>,
  request: UpgradeRequest,
  caller: Caller,
): Promise<boolean> {
  const model = modelOf(request)
  const isCompatible = request.channelId === keyChannel
  if (isCompatible && request.query.get('intent') === 'conversation') return true
  try {
    await admitStream(caller, stageOf(request), model)
    return false
  } catch (error) {
    const isUnserved = error instanceof Fault && unservedKinds.includes(error.kind)
    if (isCompatible && isUnserved && model !== undefined && isConversationModel(model)) return true
    throw error
  }
}

/** The faults for a model that this server cannot use for live transcription. */
const unservedKinds: readonly FaultKind[] = ['unknown_model', 'capability_missing', 'credential_missing']

/**
 * Returns a token's authenticated client. The token's note contains the session settings from the request for the
 * token.
 */
function callerOf({ caller, note }: Redeemed): SocketCaller {
  return note === undefined ? caller : { ...caller, tokenSession: JSON.parse(note) as TranscriptionSession }
}

/** Returns the model in the URL's query. Only the channel for OpenAI's clients has this parameter. */
const modelOf = ({ query }: UpgradeRequest) => query.get('model') || undefined

const stageOf = ({ channelId }: UpgradeRequest) => (channelId === 'synthesizeStream' ? 'tts' : 'stt')

/**
 * Refuses a page that the key does not allow. In a browser, every page sends its origin. A request without an origin
 * comes from a server or an app.
 */
function checkOrigin({ origin, host }: UpgradeRequest, { policy }: Caller): void {
  if (origin === '' || isOwnOrigin(origin, host) || policy.allowedOrigins?.includes(origin)) return
  throw new Refusal('foreign_origin', {
    param: 'Origin',
    hint: 'Add the origin (scheme, host and port) to the allowed_origins of the key.',
  })
}
