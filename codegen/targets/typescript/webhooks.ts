/** Emits the types of a document's webhooks, and the check of their signatures. */
import type { OpenApiDocument, Operation } from '../../ir.ts'
import { clientViewsOf } from '../../views.ts'
import { banner, printKey } from './print.ts'
import { TypeNames } from './type-names.ts'

export function emitWebhooks(document: OpenApiDocument): string {
  const names = new TypeNames(clientViewsOf(document))
  const members = document.webhooks.map((webhook) => emitMember(webhook, names))
  return `${banner('webhooks', document.file)}
import { readBody, type SignedRequest, type VerifyOptions, verifySignature } from './signatures.ts'
${names.importFrom(`./models/${document.name}.ts`)}
export type { SignedRequest, VerifyOptions } from './signatures.ts'
export { WebhookVerificationError } from './signatures.ts'

/** The body of each webhook, by the kind of its event. */
export type WebhookBodies = {
${members.join('')}}

export type WebhookEvent = WebhookBodies[keyof WebhookBodies]

/**
 * Returns the event if the server with one of the secrets signed this request at most five minutes ago. Otherwise
 * throws WebhookVerificationError. The body must be unchanged, so verify before any JSON parser sees it.
 */
export async function verifyWebhook(
  request: SignedRequest,
  secrets: string | readonly string[],
  options?: VerifyOptions,
): Promise<WebhookEvent> {
  await verifySignature(request, secrets, options)
  return readBody(request) as WebhookEvent
}
`
}

function emitMember({ path, summary, body }: Operation, names: TypeNames): string {
  const [media] = body?.content ?? []
  if (!media?.value) throw new Error(`the webhook ${path} has no body`)
  return `  /** ${summary} */\n  ${printKey(path)}: ${names.print(media.value, 'answered')}\n`
}
