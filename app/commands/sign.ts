/** Signs what commands send to a receiver on this machine, as deliveries are signed. */
import type { WebhookSigner } from '../../cli/actions.ts'
import { webhookHeaders } from '../../domain/webhooks/signature.ts'
import { localSecret } from '../../runtime/process/local-secret.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { newWebhookSecret } from '../../store/webhooks/webhook-secrets.ts'

const secretFile = 'listen.secret'

/** Without a secret it signs with the one of the data folder, which the first call makes. */
export function webhookSigner(dataDir: string, given: string | undefined): WebhookSigner {
  const secret = given ?? localSecret(dataDir, secretFile, newWebhookSecret)
  return {
    keptSecret: given === undefined ? secret : null,
    headersOf: ({ id, body }) => webhookHeaders({ id, nowMs: systemClock.nowMs(), body }, [secret]),
  }
}
