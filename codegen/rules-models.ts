/**
 * The rules for models, in OpenAPI and AsyncAPI documents. Generators for typed languages need them: each type gets a
 * unique name, and each type can be written in a language without TypeScript's unions.
 */
import { type AsyncApiDocument, type Finding, type OpenApiDocument, pascal } from './ir.ts'
import { children, escapePointer, resolveSchema, type Schema, type SchemaObject } from './schema.ts'
import { type Field, innerTypes, type Type } from './types.ts'
import { viewSuffixes } from './views.ts'

type Models = OpenApiDocument | AsyncApiDocument
type ModelRule = (models: Models) => Finding[]

export const modelRules: Record<string, ModelRule> = {
  'nullable-component': nullableComponents,
  'null-only': nullOnly,
  'type-list': typeLists,
  'boolean-constant': booleanConstants,
  'default-value': defaultValues,
  'union-arm': unionArms,
  'field-alias': fieldAliases,
  'inline-name': inlineNames,
  'view-name': viewNames,
}

/**
 * Finds components that allow null. Such a component's type would be `Agent | null` wherever it is used. Each use must
 * decide by itself whether null is allowed.
 */
function nullableComponents({ schemas }: Models): Finding[] {
  return Object.entries(schemas)
    .filter(([, schema]) => allowsNull(schema))
    .map(([name]) => ({
      pointer: componentPointer(name),
      message: "allows null; allow it where the component is used: oneOf: [{ $ref }, { type: 'null' }]",
    }))
}

function allowsNull(schema: Schema): boolean {
  if (typeof schema === 'boolean') return false
  const arms = [schema.oneOf ?? [], (schema['anyOf'] as Schema[] | undefined) ?? []].flat()
  return typesOf(schema).includes('null') || schema.enum?.includes(null) === true || arms.some(allowsNull)
}

function nullOnly({ schemas }: Models): Finding[] {
  return allSchemas(schemas).flatMap(({ schema, pointer }) => {
    const isArm = /\/(oneOf|anyOf)\/\d+$/.test(pointer)
    const isNull = typesOf(schema).join() === 'null' || schema['const'] === null
    if (!isNull || isArm) return []
    return [{ pointer, message: "allows only null; write type: [string, 'null'] with maxLength: 0" }]
  })
}

function typeLists({ schemas }: Models): Finding[] {
  return allSchemas(schemas).flatMap(({ schema, pointer }) => {
    const types = typesOf(schema).filter((type) => type !== 'null')
    if (types.length <= 1) return []
    return [{ pointer, message: `has the types ${types.join(', ')}; write each as an arm of oneOf` }]
  })
}

/**
 * Finds enums and constants with a boolean value. Many generators make a class from an enum, and a class for one
 * boolean value does not compile in Java and Rust.
 */
function booleanConstants({ schemas }: Models): Finding[] {
  return allSchemas(schemas).flatMap(({ schema, pointer }) => {
    const values = schema.enum ?? [schema['const']]
    if (!values.some((value) => typeof value === 'boolean')) return []
    return [{ pointer, message: 'is a constant boolean; write type: boolean, and the value in the description' }]
  })
}

/**
 * Finds defaults that are objects or lists, and defaults beside a reference to a component that is no enum. Generators
 * print a default in their language's syntax, and several generators print such a default wrongly: beside a reference,
 * openapi-generator prints a constant of an enum in Java.
 */
function defaultValues({ schemas }: Models): Finding[] {
  return allSchemas(schemas).flatMap(({ schema, pointer }) => {
    const value = schema['default']
    if (typeof value === 'object' && value !== null)
      return [
        { pointer, message: 'has an object or a list as default; describe the default, or give it to the fields' },
      ]
    const target = resolveSchema(schemas, schema)
    const isEnum = typeof target === 'object' && target.enum !== undefined
    if (value === undefined || schema.$ref === undefined || isEnum) return []
    return [
      { pointer, message: 'has a default beside a reference to a component that is no enum; write the schema out' },
    ]
  })
}

/**
 * Finds unions with two members of one JSON type and without a discriminator. A decoder then picks the member by the
 * JSON value's type.
 */
function unionArms({ schemas }: Models): Finding[] {
  return allSchemas(schemas).flatMap(({ schema, pointer }) => {
    const arms = schema.oneOf ?? (schema['anyOf'] as Schema[] | undefined) ?? []
    if (schema.discriminator) return []
    const kinds = arms.flatMap((arm) => jsonTypes(arm, schemas))
    const repeated = kinds.filter((kind, i) => kinds.indexOf(kind) < i)
    if (repeated.length === 0) return []
    return [{ pointer, message: `has two arms of the JSON type ${repeated[0]}; add a discriminator or join the arms` }]
  })
}

function jsonTypes(schema: Schema, schemas: Record<string, Schema>): string[] {
  const target = resolveSchema(schemas, schema)
  if (typeof target === 'boolean') return ['any']
  const arms = target.oneOf ?? (target['anyOf'] as Schema[] | undefined)
  if (target.type === undefined && arms) return [...new Set(arms.flatMap((arm) => jsonTypes(arm, schemas)))]
  const types = typesOf(target).map((type) => (type === 'integer' ? 'number' : type))
  return types.length === 0 ? ['any'] : types
}

/**
 * Finds fields of one object with the same name in a language that converts names, unless one field has `x-alias-of`:
 * in an open object, the served document leaves this field out (served-document.ts). Also finds an `x-alias-of`
 * without its field.
 */
function fieldAliases({ types }: Models): Finding[] {
  return types.flatMap(({ name, type }) =>
    objectsIn(type).flatMap((fields) =>
      fields.flatMap((field): Finding[] => {
        const twin = fields.find((other) => other !== field && plainName(other) === plainName(field))
        const isAlias = field.aliasOf !== null && fields.some((other) => other.name === field.aliasOf && !other.aliasOf)
        const pointer = `${componentPointer(name)}/…/${field.name}`
        if (field.aliasOf !== null && !isAlias)
          return [{ pointer, message: `has x-alias-of ${field.aliasOf}, which is no other field of the object` }]
        if (!twin || isAlias || twin.aliasOf === field.name) return []
        return [{ pointer, message: `has the same name as ${twin.name} in other languages; mark one with x-alias-of` }]
      }),
    ),
  )
}

function plainName({ name }: Field): string {
  return pascal(name).toLowerCase()
}

function objectsIn(type: Type): Field[][] {
  const inner = innerTypes(type).flatMap(objectsIn)
  return type.kind === 'object' ? [type.fields, ...inner] : inner
}

/**
 * Finds inline objects, maps and enums whose name is a component's name too. An inline type is named by its location:
 * the names of the component and the fields on the way. Our clients have no class for a map, but openapi-python-client
 * has a class for it. If the name exists already, the generator leaves out the whole component.
 */
function inlineNames(document: Models): Finding[] {
  const { schemas, types } = document
  const components = types.map(({ name, type }) => ({
    pointer: componentPointer(name),
    names: namesInside(type, name, true),
  }))
  const parameters = (document.kind === 'openapi' ? document.operations : []).flatMap((operation) =>
    operation.parameters.map(({ name, type, pointer }) => ({
      pointer,
      names: names(type, pascal(operation.id + '-' + name)),
    })),
  )
  const rest = 'a component has this name, so refer to it, or give the inline type a component'
  return [...components, ...parameters].flatMap(({ pointer, names }) =>
    names
      .filter((name) => name in schemas)
      .map((name) => ({ pointer, message: `has an inline type whose place gives it the name ${name}; ${rest}` })),
  )
}

function names(type: Type, place: string): string[] {
  const isNamed = type.kind === 'object' || type.kind === 'map' || type.kind === 'enum' || type.kind === 'all'
  return [...(isNamed ? [place] : []), ...namesInside(type, place)]
}

function namesInside(type: Type, place: string, isRoot = false): string[] {
  if (type.kind === 'object') return type.fields.flatMap((field) => names(field.type, place + pascal(field.name)))
  // The parts of an intersection (allOf) are one type, named after its location. A nullable type at the root has its
  // location's name too. So the types directly inside get no separate name.
  const visit = type.kind === 'all' || (type.kind === 'nullable' && isRoot) ? namesInside : names
  return innerTypes(type).flatMap((inner) => visit(inner, place))
}

/**
 * Finds components whose name is also generated for another component: the other component's name with the suffix
 * `Received` or `Input`.
 */
function viewNames({ schemas }: Models): Finding[] {
  return Object.keys(schemas).flatMap((name) =>
    Object.values(viewSuffixes)
      .filter((suffix) => suffix !== '' && name.endsWith(suffix) && name.slice(0, -suffix.length) in schemas)
      .map((suffix) => ({
        pointer: componentPointer(name),
        message: `is the name of another type of ${name.slice(0, -suffix.length)}; do not end it with ${suffix}`,
      })),
  )
}

function typesOf({ type }: SchemaObject): string[] {
  return [type ?? []].flat()
}

type Place = { schema: SchemaObject; pointer: string }

/**
 * Lists the components and all schemas inside them. Conditions (`if`, `not`) describe no value, so they are left out.
 */
function allSchemas(schemas: Record<string, Schema>): Place[] {
  const visit = (schema: Schema, pointer: string): Place[] => {
    if (typeof schema === 'boolean') return []
    const inner = children(schema).filter(({ path }) => path[0] !== 'not' && path[0] !== 'if')
    return [
      { schema, pointer },
      ...inner.flatMap(({ schema: child, path }) => visit(child, `${pointer}/${path.map(escapePointer).join('/')}`)),
    ]
  }
  return Object.entries(schemas).flatMap(([name, schema]) => visit(schema, componentPointer(name)))
}

function componentPointer(name: string): string {
  return `#/components/schemas/${escapePointer(name)}`
}
