/**
 * Starts a server whose carrier runs outside the server's process, like a real carrier. The test acts as the carrier.
 */
import { loopbackProviders } from '../session/voice-session.ts'

type OutsideCarrier = { apiKey: string; baseUrl: string; publicKey: string }

/** Returns the settings for a server at this port of 127.0.0.1. Events arrive at `webhookPath`. */
export function settingsOf({ apiKey, baseUrl, publicKey }: OutsideCarrier, port: number): Record<string, string> {
  return {
    PARLEY_PROVIDERS: loopbackProviders,
    PARLEY_PORT: String(port),
    PARLEY_PUBLIC_URL: `http://127.0.0.1:${port}`,
    PARLEY_CARRIER_ADAPTER: 'telnyx',
    PARLEY_CARRIER_TELNYX_API_KEY: apiKey,
    PARLEY_CARRIER_TELNYX_BASE_URL: baseUrl,
    PARLEY_CARRIER_TELNYX_CONNECTION_ID: 'app',
    PARLEY_CARRIER_TELNYX_PUBLIC_KEY: publicKey,
  }
}

export const webhookPath = '/carrier/carrier/webhooks'
