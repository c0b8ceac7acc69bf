/** Declares the interfaces for events, for frames, and for webhooks. */
import type { ClientChannel, ClientFrame, ClientOperation, ClientWebhook } from '../../clients/model.ts'
import { comment } from './format.ts'
import { exported } from './names.ts'
import type { GoPackage } from './package.ts'
import { emitSwitch, type Interfaces } from './unions.ts'

export function declareEvents(interfaces: Interfaces, goPackage: GoPackage): void {
  for (const operation of goPackage.surface.operations) declareStream(operation, interfaces, goPackage)
  for (const channel of goPackage.surface.channels) declareFrames(channel, interfaces)
  if (goPackage.surface.webhooks.length > 0) declareWebhooks(goPackage.surface.webhooks, interfaces, goPackage)
}

function declareStream({ id, methods }: ClientOperation, interfaces: Interfaces, goPackage: GoPackage): void {
  const answer = methods.map((method) => method.answer).find(({ kind }) => kind === 'events')
  if (answer?.kind !== 'events') return
  const name = goPackage.names.take(`${exported(id)}Event`, 'Value')
  const cases = answer.events.map(({ event, use }) => [JSON.stringify(event), interfaces.armType(use)] as const)
  interfaces.declare(
    name,
    'the data of an event',
    cases.map(([, type]) => type),
    true,
  )
  interfaces.add(emitSwitch(`decode${name}(event string, data []byte)`, name, 'event', cases))
}

function declareFrames({ id, sends, receives, frameType }: ClientChannel, interfaces: Interfaces): void {
  const typeOf = ({ use }: ClientFrame) => (use === null ? interfaces.audioType() : interfaces.armType(use))
  const [sent, received] = [`${exported(id)}Sent`, `${exported(id)}Received`]
  interfaces.declare(sent, 'a frame of the client', sends.map(typeOf), false)
  interfaces.declare(received, 'a frame of the server', receives.map(typeOf), true)
  const cases = receives.flatMap((frame) =>
    frame.use === null ? [] : [[JSON.stringify(frame.type), typeOf(frame)] as const],
  )
  const text = emitSwitch(
    `decode${received}(data []byte, isBinary bool)`,
    received,
    `wire.Tag(data, "${frameType}")`,
    cases,
  )
  const binary = receives.some(({ isBinary }) => isBinary) ? 'Audio(data)' : 'Unknown{data}'
  interfaces.add(text.replace('{\n', `{\n\tif isBinary {\n\t\treturn ${binary}, nil\n\t}\n`))
}

/**
 * Declares an interface for webhook bodies. The field `type` tells the bodies apart. At most one body has no such
 * field.
 */
function declareWebhooks(webhooks: readonly ClientWebhook[], interfaces: Interfaces, goPackage: GoPackage): void {
  const cases = new Map(webhooks.map(({ body }) => [interfaces.armType(body), typeTexts(body, goPackage)]))
  interfaces.declare('WebhookEvent', 'the body of a webhook', [...cases.keys()], true)
  const rows = [...cases].map(([type, texts]) => [texts.map((text) => JSON.stringify(text)).join(', '), type] as const)
  interfaces.add(`${comment('VerifyWebhook checks the signature of a webhook, and reads its body.')}func VerifyWebhook(verifier parley.Verifier, header http.Header, body []byte) (WebhookEvent, error) {
	if err := verifier.Verify(header, body); err != nil {
		return nil, err
	}
	return decodeWebhookEvent(body)
}`)
  interfaces.add(emitSwitch('decodeWebhookEvent(data []byte)', 'WebhookEvent', 'wire.Tag(data, "type")', rows))
}

function typeTexts(body: ClientWebhook['body'], goPackage: GoPackage): string[] {
  const declaration = goPackage.declaration(body.kind === 'named' ? body.name : '')
  const field = declaration.kind === 'object' ? declaration.fields.find(({ name }) => name === 'type') : undefined
  return [field?.use.kind === 'constant' ? field.use.value : '']
}
