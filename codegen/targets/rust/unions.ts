/** Emits unions, event data and webhook bodies as enums that keep unknown values. */
import type { ClientOperation, ClientWebhook, UnionArm, UnionDeclaration } from '../../clients/model.ts'
import { distinct } from '../../clients/scopes.ts'
import { braces, documentation, rustFile } from './format.ts'
import type { RustModule } from './module.ts'
import { variant } from './names.ts'

type Arm = { name: string; type: string; texts: readonly string[] }

export function emitUnions(module: RustModule): string | null {
  const { declarations, operations, webhooks, file } = module.surface
  const unions = declarations.flatMap((declaration) =>
    declaration.kind === 'union' ? [emitUnion(declaration, module)] : [],
  )
  if (webhooks.length > 0) unions.push(emitWebhooks(webhooks, module))
  const events = operations.flatMap((operation) => emitEvents(operation, module))
  const blocks = [
    ...(unions.length > 0 ? [`unions! {\n${unions.join('\n')}\n}`] : []),
    ...(events.length > 0 ? [`events! {\n${events.join('\n')}\n}`] : []),
    ...(webhooks.length > 0 ? [verifyWebhook] : []),
  ]
  return blocks.length === 0 ? null : rustFile('unions', file, 'use super::*;\n', blocks)
}

export const eventsName = (id: string) => `${variant(id)}Event`

function emitUnion({ name, description, tag, arms }: UnionDeclaration, module: RustModule): string {
  const by = tag === null ? '' : ` by ${JSON.stringify(tag)}`
  const rows = arms.map((arm) => armOf(arm, module))
  return emitEnum(`${module.nameOf(name)}${by}`, description, rows)
}

/** A variant is named after its tag's value. Without a tag, it is named after its JSON type. */
function armOf({ use, tagValues, json }: UnionArm, module: RustModule): Arm {
  const type = module.typeOf(use)
  const [first, ...others] = tagValues
  const ofKind = { string: 'Text', number: 'Number', boolean: 'Bool', object: 'Object', array: 'List' }[json]
  const ofTag = others.length === 0 && first !== undefined ? variant(first) : type
  return { name: tagValues.length > 0 ? ofTag : ofKind, type, texts: tagValues.length > 0 ? tagValues : [json] }
}

function emitEvents({ id, methods }: ClientOperation, module: RustModule): string[] {
  const answer = methods.map((method) => method.answer).find(({ kind }) => kind === 'events')
  if (answer?.kind !== 'events') return []
  const name = module.names.take(eventsName(id))
  const rows = answer.events.map(({ event, use }) => ({
    name: variant(event),
    type: module.typeOf(use),
    texts: [event],
  }))
  return [emitEnum(name, `The data of an event of \`${id}\`.`, rows)]
}

/** The field `type` tells the bodies apart. Webhooks with the same body share a variant. */
function emitWebhooks(webhooks: readonly ClientWebhook[], module: RustModule): string {
  const texts = new Map<string, string[]>()
  for (const { body, event } of webhooks) {
    const type = module.typeOf(body)
    texts.set(type, [...(texts.get(type) ?? []), event])
  }
  const rows = [...texts].map(([type, events]) => ({ name: type.replace(/Event$/, ''), type, texts: events }))
  return emitEnum(`${module.names.take('WebhookEvent')} by "type"`, 'The body of a webhook.', rows)
}

function emitEnum(head: string, description: string, arms: readonly Arm[]): string {
  const names = distinct(
    arms.map(({ name }) => name),
    'Value',
    ['Unknown'],
  )
  const rows = arms.map(
    ({ type, texts }, place) => `${names[place]}(${type}) = ${texts.map((text) => JSON.stringify(text)).join(' | ')}`,
  )
  return documentation(description, '    ') + braces(head, rows, '    ')
}

const verifyWebhook = `/// Checks the signature of a webhook, and reads its body.
pub fn verify_webhook(
    verifier: &Verifier, headers: &HeaderMap, body: &[u8],
) -> std::result::Result<WebhookEvent, WebhookError> {
    verifier.verify(headers, body)?;
    serde_json::from_slice(body).map_err(|_| WebhookError::Body)
}`
