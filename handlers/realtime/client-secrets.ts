/**
 * Answers `POST /v1/realtime/client_secrets` for OpenAI's clients: a token for one socket. The socket begins with the
 * session settings in the request.
 */
import { type EphemeralTokens, noteBytesMax } from '../../domain/access/ephemeral.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { CreateRealtimeClientSecretRequest } from '../../generated/compat/handlers.ts'
import { type Context, Refusal } from '../../runtime/engine/handler.ts'
import { clientSecretPrefix } from './admit.ts'
import { sessionOf } from './compatible-events.ts'
import { defaultSettings, type TranscriptionSettings, updated } from './transcription-settings.ts'

/**
 * Makes the operation. The contract fixes how long a token is valid, so `expires_after` changes nothing. The answer
 * states when the token expires.
 */
export function createRealtimeClientSecret(mint: EphemeralTokens['mint']) {
  return ({ body = {} }: CreateRealtimeClientSecretRequest, { caller, requestId }: Context<Caller>) => {
    const settings = body.session ? updated(defaultSettings, body.session) : defaultSettings
    const session = sessionOf(`sess_${requestId.replace(/^req_/, '')}`, settings)
    const { value, expiresAtMs } = mint(caller, noteOf(settings))
    const headers = { 'Cache-Control': 'no-store' } as const
    const answer = { value: clientSecretPrefix + value, expires_at: Math.floor(expiresAtMs / 1000), session }
    return { status: 200, headers, body: answer } as const
  }
}

/** Writes the settings as a session update, to be stored in the token. */
function noteOf(settings: TranscriptionSettings): string {
  const { format, transcription, turn_detection } = sessionOf('', settings).audio.input
  const note = JSON.stringify({ audio: { input: { format, transcription, turn_detection } } })
  if (Buffer.byteLength(note) <= noteBytesMax) return note
  throw new Refusal('invalid_parameter', {
    param: '/session',
    message: 'The session is too long for a token, which holds 1024 bytes of it.',
    hint: 'Send the prompt and the keywords in a session.update once the socket is open.',
  })
}
