/** Describes JSON Schemas in words: a type with links to components, its limits, and an object's fields. */
import { isBytes, refName, resolveSchema, type Schema, type SchemaObject } from '../schema.ts'
import { blocks, code, codeOf, either, firstSentence, list, table } from './markdown.ts'
import { linkTo } from './page.ts'

type Schemas = Readonly<Record<string, Schema>>

/** Returns the type in words: list of [Voice](schema-Voice.md), or null. */
export function typeText(schema: Schema): string {
  if (typeof schema === 'boolean') return 'any value'
  if (schema.$ref !== undefined) return linkToRef(schema.$ref)
  if (isBytes(schema)) return 'bytes'
  if ('const' in schema) return codeOf(schema['const'])
  if (schema.enum) return either(schema.enum.map(codeOf))
  const parts = [...namesOf(schema).map((name) => jsonText(name, schema)), ...unionText(schema)]
  const all = (schema.allOf ?? []).map(typeText)
  return [either([...new Set(parts)]), ...all].filter((text) => text !== '').join(' and ') || 'any value'
}

/** Describes a whole value: its kind, and a table with its fields. */
export function schemaText(schema: Schema, schemas: Schemas): string {
  const target = resolveSchema({ ...schemas }, schema)
  const rows = fieldRows(target, '', schemas)
  return blocks(kindText(target), table(['field', 'type', 'meaning'], rows))
}

/** Lists a value's limits: default, lengths, and whether only requests or only responses have it. */
export function limitTexts(schema: Schema, schemas: Schemas): string[] {
  if (typeof schema === 'boolean') return []
  const target = resolveSchema({ ...schemas }, schema)
  const sides = typeof target === 'boolean' || target === schema ? [schema] : [schema, target]
  const fallback = sides.find((side) => side['default'] !== undefined)?.['default']
  return [
    ...(fallback === undefined ? [] : [`default ${codeOf(fallback)}`]),
    ...boundTexts(schema),
    ...(sides.some((side) => side['readOnly'] === true) ? ['only in answers'] : []),
    ...(sides.some((side) => side['writeOnly'] === true) ? ['only in requests'] : []),
    ...(schema['deprecated'] === true ? ['deprecated'] : []),
  ]
}

/** Joins a description and the limits. The default is left out if the description already names it. */
export function meaningText(description: string, limits: readonly string[]): string {
  const words = limits.filter((limit) => !/default/i.test(description) || !limit.startsWith('default')).join('; ')
  return `${description} ${words === '' ? '' : `${words.charAt(0).toUpperCase()}${words.slice(1)}.`}`.trim()
}

/** Returns the schema's description, or '' if it has no description. */
export function descriptionOf(schema: Schema): string {
  const description = typeof schema === 'object' ? schema['description'] : undefined
  return typeof description === 'string' ? description : ''
}

/** If a field has no description, its component's first sentence describes it. */
function fieldDescription(field: Schema, schemas: Schemas): string {
  return descriptionOf(field) || firstSentence(descriptionOf(resolveSchema({ ...schemas }, field)))
}

const linkToRef = (ref: string) => linkTo('schema', refName(ref), refName(ref))

/** Returns the schema's JSON types. `object` beside a union adds nothing. */
function namesOf(schema: SchemaObject): string[] {
  const names = [schema.type ?? (schema.properties ? 'object' : [])].flat()
  return unionOf(schema).length > 0 && !schema.properties ? names.filter((name) => name !== 'object') : names
}

const unionOf = (schema: SchemaObject) => schema.oneOf ?? (schema['anyOf'] as Schema[] | undefined) ?? []
const unionText = (schema: SchemaObject) => unionOf(schema).map(typeText)

function jsonText(name: string, schema: SchemaObject): string {
  if (name === 'array') return `list of ${typeText(schema.items ?? true)}`
  if (name === 'object' && !schema.properties) {
    const values = schema['additionalProperties'] as Schema | undefined
    return typeof values === 'object' ? `map to ${typeText(values)}` : 'object'
  }
  const format = schema['format'] as string | undefined
  return format === undefined || name === 'null' ? name : `${name} (${format})`
}

/** Describes a schema without fields, or a union's members. */
function kindText(schema: Schema): string {
  if (typeof schema === 'boolean') return 'Any value.'
  const arms = unionOf(schema)
  if (arms.length > 0) {
    const tag = schema.discriminator?.propertyName
    const how = tag === undefined ? '' : ` The field ${code(tag)} tells which.`
    return `One of these.${how}\n\n${list(arms.map(typeText))}`
  }
  const parts = (schema.allOf ?? []).filter((part) => typeof part === 'object' && part.$ref !== undefined)
  if (parts.length > 0) return `Has all fields of ${parts.map(typeText).join(' and ')}.`
  if (schema.properties) return ''
  const limits = boundTexts(schema)
  return `${[`Type: ${typeText(schema)}`, ...limits].join('; ')}.`
}

/**
 * Lists an object's fields, and the fields inside these fields by their path: turnHandling.endpointing.minDelay,
 * items[].name.
 */
function fieldRows(schema: Schema, prefix: string, schemas: Schemas): string[][] {
  if (typeof schema === 'boolean' || schema.$ref !== undefined) return []
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const isRequired = schema.required?.includes(name) ?? false
    const description = fieldDescription(field, schemas)
    const path = prefix + name
    const row = [
      `${code(path)}${isRequired ? ' required' : ''}`,
      typeText(field),
      meaningText(description, limitTexts(field, schemas)),
    ]
    return [row, ...innerRows(field, path, schemas)]
  })
  const parts = [...unionOf(schema), ...(schema.allOf ?? [])].flatMap((part) => fieldRows(part, prefix, schemas))
  return [...own, ...parts]
}

function innerRows(field: Schema, path: string, schemas: Schemas): string[][] {
  if (typeof field === 'boolean') return []
  const values = field['additionalProperties'] as Schema | undefined
  return [
    ...fieldRows(field, `${path}.`, schemas),
    ...(field.items === undefined ? [] : fieldRows(field.items, `${path}[].`, schemas)),
    ...(typeof values === 'object' ? fieldRows(values, `${path}.*.`, schemas) : []),
  ]
}

function boundTexts(schema: SchemaObject): string[] {
  const items = schema.items
  const ofItems = typeof items === 'object' ? boundTexts(items).map((text) => `each ${text}`) : []
  const bound = (keyword: string) => schema[keyword] as number | undefined
  return [
    range(bound('minLength'), bound('maxLength'), 'characters'),
    range(bound('minItems'), bound('maxItems'), 'entries'),
    range(bound('minProperties'), bound('maxProperties'), 'fields'),
    range(bound('minimum'), bound('maximum'), ''),
    beside('more than', bound('exclusiveMinimum')),
    beside('less than', bound('exclusiveMaximum')),
    beside('a multiple of', bound('multipleOf')),
    range(undefined, bound('x-max-bytes'), 'bytes'),
    typeof schema['pattern'] === 'string' ? `matches ${code(schema['pattern'])}` : '',
    ...ofItems,
  ].filter((text) => text !== '')
}

const beside = (words: string, value: number | undefined) => (value === undefined ? '' : `${words} ${value}`)

function range(least: number | undefined, most: number | undefined, unit: string): string {
  const end = unit === '' ? '' : ` ${unit}`
  if (least === undefined && most === undefined) return ''
  if (least === undefined) return `at most ${most}${end}`
  if (most === undefined) return `at least ${least}${end}`
  return least === most ? `exactly ${most}${end}` : `${least} to ${most}${end}`
}
