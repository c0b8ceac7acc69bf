/** Emits the structs for an operation's parameters and for its multipart form. */
import type { ClientOperation, FormPart } from '../../clients/model.ts'
import { documentation, inlineDocumentation } from './format.ts'
import type { RustModule } from './module.ts'
import { variable, variant } from './names.ts'
import { type Declared, describe, Struct } from './structs.ts'

export const paramsName = (id: string) => `${variant(id)}Params`
export const formName = (id: string) => `${variant(id)}Form`

/** The parameters in the query and in headers. Parameters in the path are the method's arguments. */
export function declareParams({ id, parameters }: ClientOperation, module: RustModule): Declared[] {
  const others = parameters.filter((parameter) => parameter.in !== 'path')
  if (others.length === 0) return []
  const struct = new Struct(module.names.take(paramsName(id)), others, true, module)
  const doc = documentation(`The parameters of \`${id}\`.`)
  return [struct.emit({ doc, isReceived: false, options: [], rest: [] })]
}

/** The form's parts go over the wire in the fields' order. Serde does not write a multipart form. */
export function declareForm({ id, body }: ClientOperation, module: RustModule): Declared[] {
  if (body?.kind !== 'multipart') return []
  const name = module.names.take(formName(id))
  const lines = body.parts.map((part) => {
    const doc = inlineDocumentation(describe(part))
    return `    ${doc}pub ${variable(part.name)}: ${module.fieldType(part, false)},\n`
  })
  const doc = documentation(`The form of \`${id}\`, with its parts in order.`)
  const constructor = new Struct(name, body.parts, false, module).emitConstructor(false)
  return [{ start: 'forms! {', struct: `${doc}pub struct ${name} {\n${lines.join('')}}`, constructor, initial: null }]
}

/**
 * Returns an expression that makes the multipart form from the struct's fields. The field `switched` has the given
 * value.
 */
export function formOf(parts: readonly FormPart[], switched: string | null, value: string): string {
  const calls = parts.map(({ name, kind }) => {
    const field = `form.${variable(name)}`
    const call = { bytes: 'audio', text: 'text', json: 'json' }[kind]
    const given = name === switched ? `&${value}` : kind === 'bytes' ? field : `&${field}`
    return `.${call}(${JSON.stringify(name)}, ${given})`
  })
  return `Form::new()${calls.map((call) => `\n            ${call}`).join('')}`
}
