/** Follows references in types, to find merged objects, tags, and JSON kinds. */
import type { Field, ObjectType, Type } from '../types.ts'
import type { JsonKind } from './model.ts'

/** Returns a component's type by its name. */
type TypeOf = (name: string) => Type

/** Returns the type without null. */
export function unwrapped(type: Type): { type: Type; isNullable: boolean } {
  return type.kind === 'nullable' ? { type: type.of, isNullable: true } : { type, isNullable: false }
}

/** True if a component with this type is declared by name. Other components are written out where they are used. */
export function isDeclared(type: Type): boolean {
  if (type.kind === 'enum') return type.values.length > 1 && type.values.every((value) => typeof value === 'string')
  return type.kind === 'object' || type.kind === 'all' || type.kind === 'union'
}

/**
 * Merges an object's parts: its fields, and the type of additional fields, which the document does not name. If two
 * parts have the same field, the later part decides.
 */
export function merged(type: Type, typeOf: TypeOf): { object: ObjectType; rest: Type | null } {
  const fields = new Map<string, Field>()
  let rest: Type | null = null
  const take = (part: Type): void => {
    if (part.kind === 'ref') take(unwrapped(typeOf(part.name)).type)
    else if (part.kind === 'all') part.parts.forEach(take)
    else if (part.kind === 'map') rest = part.value
    else if (part.kind === 'object') for (const field of part.fields) fields.set(field.name, field)
    else throw new Error(`an object cannot have a part of the kind ${part.kind}`)
  }
  take(type)
  return { object: { kind: 'object', fields: [...fields.values()], isClosed: false }, rest }
}

/** Returns the tag values for a union's member. An inner union has the tag values from all its members. */
export function tagValuesOf(arm: Type, tag: string, typeOf: TypeOf): string[] {
  if (arm.kind === 'ref') return tagValuesOf(unwrapped(typeOf(arm.name)).type, tag, typeOf)
  if (arm.kind === 'union') return arm.arms.flatMap((inner) => tagValuesOf(inner, tag, typeOf))
  const field = merged(arm, typeOf).object.fields.find(({ name }) => name === tag)
  const type = field && (field.type.kind === 'ref' ? typeOf(field.type.name) : field.type)
  if (type?.kind !== 'enum') throw new Error(`the tag ${tag} has no constant value`)
  return type.values.map(String)
}

export function jsonKindOf(type: Type, typeOf: TypeOf): JsonKind {
  if (type.kind === 'ref') return jsonKindOf(typeOf(type.name), typeOf)
  if (type.kind === 'nullable') return jsonKindOf(type.of, typeOf)
  if (type.kind === 'scalar') return type.scalar === 'integer' ? 'number' : type.scalar
  if (type.kind === 'enum') return typeof type.values[0] === 'number' ? 'number' : 'string'
  if (type.kind === 'list') return 'array'
  return type.kind === 'bytes' ? 'string' : 'object'
}
