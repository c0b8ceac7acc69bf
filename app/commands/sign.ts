/** Signs commands' requests to a developer's receiver on this machine, as webhook deliveries are signed. */
import type { WebhookSigner } from '../../cli/actions.ts'
import { webhookHeaders } from '../../domain/webhooks/signature.ts'
import { localSecret } from '../../runtime/process/local-secret.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { newWebhookSecret } from '../../store/webhooks/webhook-secrets.ts'

const secretFile = 'listen.secret'

/**
 * Makes the signer. If no secret is given, it signs with the data folder's secret. The first call makes this secret.
 */
export function webhookSigner(dataDir: string, given: string | undefined): WebhookSigner {
  const secret = given ?? localSecret(dataDir, secretFile, newWebhookSecret)
  return {
    storedSecret: given === undefined ? secret : null,
    headersOf: ({ id, body }) => webhookHeaders({ id, nowMs: systemClock.nowMs(), body }, [secret]),
  }
}
