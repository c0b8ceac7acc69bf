/** Prints a type of the client model (`Use`) as a Go type. */
import type { ClientField, Use } from '../../clients/model.ts'
import { exported } from './names.ts'
import type { GoPackage } from './package.ts'

export function goType(use: Use, goPackage: GoPackage): string {
  switch (use.kind) {
    case 'any':
    case 'null':
      return 'any'
    case 'bytes':
      return 'io.Reader'
    case 'scalar':
      return scalarType(use)
    case 'constant':
      return 'string'
    case 'list':
      return `[]${goType(use.item, goPackage)}`
    case 'map':
      return `map[string]${goType(use.value, goPackage)}`
    case 'nullable':
      return nilable(use.of, goPackage)
    case 'named':
      return goPackage.goName(use.name)
  }
}

function scalarType({ scalar, format }: Use & { kind: 'scalar' }): string {
  if (format === 'date-time') return 'time.Time'
  return { string: 'string', integer: 'int64', number: 'float64', boolean: 'bool' }[scalar]
}

/** Returns a Go type that can be nil. Lists, maps and interfaces can be nil without a pointer. */
export function nilable(use: Use, goPackage: GoPackage): string {
  const type = goType(use, goPackage)
  const hasNil = /^(\[\]|map\[|any$|io\.|\*)/.test(type) || goPackage.isUnion(use)
  return hasNil ? type : `*${type}`
}

/** Returns an object's field: its type, and its tag `json`. */
export function fieldType(field: ClientField, owner: string, goPackage: GoPackage): { type: string; tag: string } {
  const { name, use, isRequired } = field
  if (isRequired && use.kind === 'constant' && use.value !== '' && goPackage.isSent(owner))
    return { type: constantType(use.value), tag: name }
  if (isRequired) return { type: goType(use, goPackage), tag: name }
  if (use.kind === 'nullable' && goPackage.isSent(owner))
    return { type: `parley.Nullable[${goType(use.of, goPackage)}]`, tag: `${name},omitzero` }
  return { type: nilable(use, goPackage), tag: `${name},omitzero` }
}

/** The type for a constant string. It writes the string, so calling code need not set the field. */
export const constantType = (value: string) => `const${exported(value)}`
