/** C#'s names: properties in Pascal case, arguments in camel case, and reserved words with `@`. */
import { camelCase, pascalCase } from '../../clients/names.ts'

const reserved = new Set(
  (
    'abstract as base bool break byte case catch char checked class const continue decimal default delegate do double ' +
    'else enum event explicit extern false finally fixed float for foreach goto if implicit in int interface internal ' +
    'is lock long namespace new null object operator out override params private protected public readonly record ref ' +
    'return sbyte sealed short sizeof stackalloc static string struct switch this throw true try typeof uint ulong ' +
    'unchecked unsafe ushort using virtual void volatile while'
  ).split(' '),
)

/** Each record has members with these names. */
const inherited = ['Clone', 'Deconstruct', 'EqualityContract', 'Equals', 'Extra', 'Finalize', 'GetHashCode', 'GetType']
export const recordMembers = [...inherited, 'MemberwiseClone', 'PrintMembers', 'ReferenceEquals', 'ToString']

/** Generated files use these names, so no declared type may have them. */
export const foreign = (
  'Arm Audio CallOptions CancellationToken Codes Contract DateTimeOffset Dictionary Download Event EventStream Extra Func HashSet ' +
  'IDictionary IReadOnlyDictionary IReadOnlyList IWrapper Json JsonElement JsonExtensionData JsonIgnore ' +
  'JsonIgnoreCondition JsonPropertyName Obsolete OpenEnum Optional ParleyClient ReadOnlySpan Socket SocketSurface ' +
  'Surface Task Union Unknown Upload Value WebhookVerifier'
).split(' ')

const plain = (name: string) => name.replace(/^x-/i, '')

/** Returns the name of a property or a constant. A text without letters or digits is Empty. */
export function property(name: string): string {
  const pascal = pascalCase(plain(name)) || 'Empty'
  return /^\d/.test(pascal) ? `_${pascal}` : pascal
}

export function argument(name: string): string {
  const camel = camelCase(plain(name))
  return reserved.has(camel) ? `@${camel}` : camel
}

export const methodName = (name: string) => `${pascalCase(name)}Async`

/** An API's style for JSON names. The engine makes the JSON name from the property's name. */
export type NamingStyle = 'snakeCase' | 'camelCase'

/** Returns a property's JSON name. Null if its name has digits or signs, so that the property needs an attribute. */
export function styled(name: string, style: NamingStyle): string | null {
  if (!/^([A-Z][a-z]+)+$/.test(name)) return null
  if (style === 'camelCase') return name.charAt(0).toLowerCase() + name.slice(1)
  return name.replace(/(?!^)[A-Z]/g, '_$&').toLowerCase()
}
