/** Declares the interfaces for events, for frames, and for webhooks. */
import type { ClientChannel, ClientFrame, ClientOperation, ClientWebhook } from '../../clients/model.ts'
import { comment } from './format.ts'
import { exported } from './names.ts'
import type { GoPackage } from './package.ts'
import { emitReader, type Interfaces, type Row } from './unions.ts'

export function declareEvents(interfaces: Interfaces, goPackage: GoPackage): void {
  for (const operation of goPackage.surface.operations) declareStream(operation, interfaces, goPackage)
  for (const channel of goPackage.surface.channels) declareFrames(channel, interfaces)
  if (goPackage.surface.webhooks.length > 0) declareWebhooks(goPackage.surface.webhooks, interfaces, goPackage)
}

function declareStream({ id, methods }: ClientOperation, interfaces: Interfaces, goPackage: GoPackage): void {
  const answer = methods.map((method) => method.answer).find(({ kind }) => kind === 'events')
  if (answer?.kind !== 'events') return
  const name = goPackage.names.take(`${exported(id)}Event`, 'Value')
  const arms = answer.events.map(({ event, use }) => [JSON.stringify(event), interfaces.armType(use)] as const)
  interfaces.declare(
    name,
    'the data of an event',
    arms.map(([, type]) => type),
    true,
  )
  const rows = arms.map(([event, type]): Row => [event, interfaces.zero(type)])
  interfaces.add(emitReader(name, 'ByEvent(', rows))
}

function declareFrames({ id, sends, receives, frameType }: ClientChannel, interfaces: Interfaces): void {
  const typeOf = ({ use }: ClientFrame) => (use === null ? interfaces.audioType() : interfaces.armType(use))
  const [sent, received] = [`${exported(id)}Sent`, `${exported(id)}Received`]
  interfaces.declare(sent, 'a frame of the client', sends.map(typeOf), false)
  interfaces.declare(received, 'a frame of the server', receives.map(typeOf), true)
  const rows = receives.map((frame): Row => {
    const text = frame.isBinary ? 'wire.Binary' : JSON.stringify(frame.type)
    return [text, interfaces.zero(typeOf(frame))]
  })
  interfaces.add(emitReader(received, `ByFrame("${frameType}", `, rows))
}

/**
 * Declares an interface for webhook bodies. The field `type` tells the bodies apart. At most one body has no such
 * field.
 */
function declareWebhooks(webhooks: readonly ClientWebhook[], interfaces: Interfaces, goPackage: GoPackage): void {
  const types = new Map(webhooks.map(({ body }) => [interfaces.armType(body), typeText(body, goPackage)]))
  interfaces.declare('WebhookEvent', 'the body of a webhook', [...types.keys()], true)
  const rows = [...types].map(([type, text]): Row => [JSON.stringify(text), interfaces.zero(type)])
  interfaces.add(`${comment('VerifyWebhook checks the signature of a webhook, and reads its body.')}func VerifyWebhook(verifier parley.Verifier, header http.Header, body []byte) (WebhookEvent, error) {
	if err := verifier.Verify(header, body); err != nil {
		return nil, err
	}
	return decodeWebhookEvent(body)
}`)
  interfaces.add(emitReader('WebhookEvent', 'ByTag("type", ', rows))
}

function typeText(body: ClientWebhook['body'], goPackage: GoPackage): string {
  const declaration = goPackage.declaration(body.kind === 'named' ? body.name : '')
  const field = declaration.kind === 'object' ? declaration.fields.find(({ name }) => name === 'type') : undefined
  return field?.use.kind === 'constant' ? field.use.value : ''
}
