/**
 * Emits objects as structs, with a field in each line. A field that is missing in a response has a default, because an
 * earlier version of the server may not send the field.
 */
import type { ClientField, ObjectDeclaration } from '../../clients/model.ts'
import { distinct } from '../../clients/scopes.ts'
import { braces, documentation, inlineDocumentation, rustFile, widthMax } from './format.ts'
import type { RustModule } from './module.ts'
import { variable, wireName } from './names.ts'

/** A struct with more fields has several lines. */
const smallMax = 4

export function emitStructs(module: RustModule): string {
  const objects = module.surface.declarations.filter((declaration) => declaration.kind === 'object')
  const { surface } = module
  const declared = emitDeclared(objects.map((object) => emitObject(object, module)))
  return rustFile('structs', surface.file, 'use super::*;\n', declared)
}

/**
 * A struct as a row in a macro's invocation. The invocation's first line is `start`. The macros in engine/objects.rs
 * also make the function `new` and the default from rows.
 */
export type Declared = { start: string; struct: string; constructor: string | null; initial: string | null }

/** Prints an invocation for each kind, and then for the functions `new` and for the defaults. */
export function emitDeclared(declared: readonly Declared[]): string[] {
  const starts = [...new Set(declared.map(({ start }) => start))].sort()
  const structs = starts.map((start) => {
    const rows = declared.filter((each) => each.start === start).map(({ struct }) => struct)
    return `${start}\n\n${rows.join('\n')}\n}`
  })
  const invocation = (macro: string, rows: readonly string[]) =>
    rows.length === 0 ? [] : [`${macro}! {\n${rows.join('\n')}\n}`]
  const constructors = declared.flatMap(({ constructor }) => constructor ?? [])
  const initials = declared.flatMap(({ initial }) => initial ?? [])
  return [...structs, ...invocation('constructors', constructors), ...invocation('defaults', initials)]
}

function emitObject(object: ObjectDeclaration, module: RustModule): Declared {
  const tag = tagOf(object)
  const fields = object.fields.filter((field) => field !== tag)
  const rest = object.rest === null ? [] : [`#[serde(flatten)] pub extra: Map<String, ${module.typeOf(object.rest)}>`]
  const struct = new Struct(module.nameOf(object.name), fields, module.directions.isSent(object.name), module)
  const options = tag?.use.kind === 'constant' ? [`tag = "${tag.name}"`, `rename = "${tag.use.value}"`] : []
  const isReceived = module.directions.isReceived(object.name)
  return struct.emit({ doc: documentation(object.description), isReceived, options, rest })
}

/**
 * Returns the constant field that serde writes, so that the struct needs no such field: `type`, or else the first. In
 * an object with additional fields, serde would write the constant twice.
 */
export function tagOf({ fields, rest }: ObjectDeclaration): ClientField | undefined {
  const constants = fields.filter(({ use, isRequired }) => use.kind === 'constant' && isRequired && rest === null)
  return constants.find(({ name }) => name === 'type') ?? constants[0]
}

type StructParts = { doc: string; isReceived: boolean; options: readonly string[]; rest: readonly string[] }

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

  /** If a request has required fields, the function `new` takes them. */
  emit({ doc, isReceived, options, rest }: StructParts): Declared {
    const style = this.#renames(true) < this.#renames(false) ? 'camelCase' : 'snake_case'
    const kind = this.#isSent ? (isReceived ? 'both' : 'requests') : 'answers'
    const isPlain = this.#fields.every(({ isRequired }) => !isRequired)
    const hasInputs = this.#required().length > 0
    const isDefault = kind !== 'answers' && (isPlain || (isReceived && hasInputs))
    const attributes = [
      ...(isDefault ? ['#[derive(Default)]'] : []),
      ...(options.length > 0 ? [`#[serde(${options.join(', ')})]`] : []),
    ]
    const lines = [...this.#fields.map((field, place) => this.#line(field, place, style === 'camelCase')), ...rest]
    const head = attributes.length > 0 ? `${attributes.join(' ')}\n` : ''
    const hasRows = this.#isSent && !isPlain
    return {
      start: `${kind}! { "${style}"`,
      struct: `${doc}${head}${fieldLines(`pub struct ${this.#name}`, lines)}`,
      constructor: hasRows && hasInputs ? this.emitConstructor(rest.length > 0) : null,
      initial: hasRows && !hasInputs ? braces(this.#name, this.#absent(rest.length > 0), '    ') : null,
    }
  }

  /**
   * Prints a row such as `Thing(name: impl Into<String>) { size, extra }`: the arguments of `new`, and the absent
   * fields. Strings and unions can be passed as other types.
   */
  emitConstructor(hasRest: boolean): string {
    const inputs = this.#required().map(
      ({ name, type }) => `${name}: ${isConverted(type, this.#module) ? `impl Into<${type}>` : type}`,
    )
    return braces(`${this.#name}(${inputs.join(', ')})`, this.#absent(hasRest), '    ')
  }

  #required(): { name: string; type: string }[] {
    return this.#fields.flatMap((field, place) =>
      field.isRequired && field.use.kind !== 'constant'
        ? [{ name: this.#variables[place] ?? '', type: this.#module.fieldType(field, this.#isSent) }]
        : [],
    )
  }

  /** The fields that are absent at first, and the constants with their texts. */
  #absent(hasRest: boolean): string[] {
    const fields = this.#fields.flatMap(({ use, isRequired }, place) => {
      const name = this.#variables[place] ?? ''
      if (!isRequired) return [name]
      return use.kind === 'constant' ? [`${name} = ${JSON.stringify(use.value)}`] : []
    })
    return hasRest ? [...fields, 'extra'] : fields
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
