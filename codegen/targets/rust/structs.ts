/**
 * Emits objects as structs, with a field in each line. A field that is missing in a response has a default, because an
 * earlier version of the server may not send the field.
 */
import type { ClientField, ObjectDeclaration } from '../../clients/model.ts'
import { braces, documentation, inlineDocumentation, rustFile, widthMax } from './format.ts'
import type { RustModule } from './module.ts'
import { distinct, variable, wireName } from './names.ts'

/** Clippy's limit. */
const argumentsMax = 7
/** A struct with more fields has several lines. */
const smallMax = 4

export function emitStructs(module: RustModule): string {
  const objects = module.surface.declarations.filter((declaration) => declaration.kind === 'object')
  const structs = objects.map((object) => emitObject(object, module))
  const { surface } = module
  return rustFile('structs', surface.file, 'use super::*;\n', structs)
}

function emitObject(object: ObjectDeclaration, module: RustModule): string {
  const isSent = module.directions.isSent(object.name)
  const tag = tagOf(object)
  const fields = object.fields.filter((field) => field !== tag)
  const rest = object.rest === null ? [] : [`#[serde(flatten)] pub extra: Map<String, ${module.typeOf(object.rest)}>`]
  const struct = new Struct(module.nameOf(object.name), fields, isSent, module)
  const options = [
    ...(module.directions.isReceived(object.name) ? ['default'] : []),
    ...(tag?.use.kind === 'constant' ? [`tag = "${tag.name}"`, `rename = "${tag.use.value}"`] : []),
  ]
  return struct.emit(documentation(object.description), ['Deserialize'], options, rest)
}

/**
 * Returns the constant field that serde writes, so that the struct needs no such field: `type`, or else the first. In
 * an object with additional fields, serde would write the constant twice.
 */
function tagOf({ fields, rest }: ObjectDeclaration): ClientField | undefined {
  const constants = fields.filter(({ use, isRequired }) => use.kind === 'constant' && isRequired && rest === null)
  return constants.find(({ name }) => name === 'type') ?? constants[0]
}

export class Struct {
  readonly #name: string
  readonly #fields: readonly ClientField[]
  readonly #isSent: boolean
  readonly #module: RustModule
  readonly #variables: readonly string[]

  constructor(name: string, fields: readonly ClientField[], isSent: boolean, module: RustModule) {
    this.#name = name
    this.#fields = fields
    this.#isSent = isSent
    this.#module = module
    this.#variables = distinct(
      fields.map((field) => variable(field.name)),
      '_alias',
    )
  }

  /** Prints the struct. If a request has required fields, the function `new` takes them. */
  emit(doc: string, derived: readonly string[], options: readonly string[], rest: readonly string[]): string {
    const isCamel = this.#renames(true) < this.#renames(false)
    const isReceived = options.includes('default')
    const isPlain = this.#fields.every(({ isRequired }) => !isRequired)
    const hasNew = this.#isSent && !isPlain
    const hasOwnDefault = hasNew && this.#required().length === 0
    const isDefault = !hasOwnDefault && (isReceived || isPlain)
    const derives = ['Clone', 'Debug', ...(isDefault ? ['Default'] : []), 'PartialEq', 'Serialize', ...derived]
    const settings = [...options, ...(isCamel ? ['rename_all = "camelCase"'] : [])]
    const attributes = [
      `#[derive(${derives.join(', ')})]`,
      ...(settings.length > 0 ? [`#[serde(${settings.join(', ')})]`] : []),
      ...(this.#isSent ? [] : ['#[non_exhaustive]']),
    ]
    const lines = [...this.#fields.map((field, place) => this.#line(field, place, isCamel)), ...rest]
    const struct = `${doc}${attributes.join(' ')}\n${fieldLines(`pub struct ${this.#name}`, lines)}`
    return hasNew ? `${struct}\n\n${this.emitNew(rest.length > 0)}` : struct
  }

  /** Prints the function `new`. Strings and unions can be passed as other types. */
  emitNew(hasRest: boolean): string {
    const required = this.#required()
    const inputs = required.map(
      ({ name, type }) => `${name}: ${isConverted(type, this.#module) ? `impl Into<${type}>` : type}`,
    )
    const values = this.#fields.map((field, place) => this.#value(field, this.#variables[place] ?? ''))
    const made = [...values, ...(hasRest ? ['extra: Map::new()'] : [])]
    const allowed = inputs.length > argumentsMax ? '    #[allow(clippy::too_many_arguments)]\n' : ''
    const doc = '    /// Begins with the required fields. The other fields are absent.\n'
    const [head, header] =
      inputs.length === 0
        ? [`impl Default for ${this.#name}`, '    fn default()']
        : [`impl ${this.#name}`, `${doc}${allowed}    pub fn new(${inputs.join(', ')})`]
    const line = `${header} -> Self { Self { ${made.join(', ')} } }`
    const isShort = line.length - line.lastIndexOf('\n') <= widthMax
    const body = isShort ? line : `${header} -> Self {\n${braces('Self', made, '        ')}\n    }`
    return `${head} {\n${body}\n}`
  }

  #required(): { name: string; type: string }[] {
    return this.#fields.flatMap((field, place) =>
      field.isRequired && field.use.kind !== 'constant'
        ? [{ name: this.#variables[place] ?? '', type: this.#module.fieldType(field, this.#isSent) }]
        : [],
    )
  }

  #value(field: ClientField, name: string): string {
    if (field.isRequired && field.use.kind === 'constant')
      return `${name}: ${JSON.stringify(field.use.value)}.to_owned()`
    const type = this.#module.fieldType(field, this.#isSent)
    if (field.isRequired) return isConverted(type, this.#module) ? `${name}: ${name}.into()` : name
    return `${name}: ${type.startsWith('Nullable') ? 'Nullable::Absent' : 'None'}`
  }

  #line(field: ClientField, place: number, isCamel: boolean): string {
    const name = this.#variables[place] ?? ''
    const type = this.#module.fieldType(field, this.#isSent)
    const rename = wireName(name, isCamel) === field.name ? [] : [`rename = ${JSON.stringify(field.name)}`]
    const settings = [...rename, ...(this.#isSent && !field.isRequired ? [absence(type)] : [])]
    const serde = settings.length > 0 ? `#[serde(${settings.join(', ')})] ` : ''
    return `${inlineDocumentation(describe(field))}${serde}pub ${name}: ${type}`
  }

  #renames(isCamel: boolean): number {
    return this.#fields.filter(({ name }, place) => wireName(this.#variables[place] ?? '', isCamel) !== name).length
  }
}

/** Fields without documentation share lines, and a small struct has a single line. */
function fieldLines(head: string, fields: readonly string[]): string {
  const oneLine = `${head} { ${fields.join(', ')} }`
  if (fields.length === 0 || (fields.length <= smallMax && oneLine.length <= widthMax)) return braces(head, fields, '')
  const lines: string[] = []
  let isOpen = false
  for (const field of fields) {
    const isPlain = field.startsWith('pub ')
    const joined = `${lines.at(-1)} ${field},`
    if (isPlain && isOpen && joined.length + 4 <= widthMax) lines[lines.length - 1] = joined
    else lines.push(`${field},`)
    isOpen = isPlain
  }
  return `${head} {\n${lines.map((line) => `    ${line}\n`).join('')}}`
}

const absence = (type: string) =>
  type.startsWith('Nullable')
    ? 'default, skip_serializing_if = "Nullable::is_absent"'
    : 'skip_serializing_if = "Option::is_none"'

/** True if `new` also takes other types, such as a `&str` for a `String`. */
function isConverted(type: string, module: RustModule): boolean {
  return type === 'String' || type === 'Audio' || module.isUnionName(type)
}

export function describe({ description, fallback, isDeprecated }: ClientField): string {
  const text = description.replace(/\s+/g, ' ').trim()
  const isComplete = fallback === undefined || text.includes('default')
  const all = isComplete ? text : `${text} The default is \`${JSON.stringify(fallback)}\`.`.trim()
  return isDeprecated ? `Deprecated: ${all || 'see the contract.'}` : all
}
