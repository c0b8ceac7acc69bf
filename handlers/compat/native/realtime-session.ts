import type { EphemeralTokens } from '../../../domain/access/ephemeral.ts'
import type { Caller } from '../../../domain/access/organization.ts'
import type { Context } from '../../../runtime/engine/handler.ts'

/** What a browser opens one socket with, minted for whoever holds the key. */
export function createRealtimeSession(mint: EphemeralTokens['mint']) {
  return (_request: unknown, { caller }: Context<Caller>) => {
    const { value, expiresInS } = mint(caller)
    const headers = { 'Cache-Control': 'no-store' } as const
    return { status: 200, headers, body: { client_secret: { value, expires_in: expiresInS } } } as const
  }
}
