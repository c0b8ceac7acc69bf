/** Java's names: reserved words get the suffix `_`. */
import { camelCase, identifier, upperCase } from '../../clients/names.ts'

/** Java's keywords, and the names of methods in every record. */
const reserved = new Set(
  (
    'abstract assert boolean break byte case catch char class const continue default do double else enum extends ' +
    'false final finally float for goto if implements import instanceof int interface long native new null package ' +
    'private protected public record return sealed short static strictfp super switch synchronized this throw ' +
    'throws transient true try var void volatile while yield clone finalize hashCode notify notifyAll toString wait'
  ).split(' '),
)

/** Generated classes import these names, so no declared type may have them. */
export const foreign = (
  'ApiCall Audio BodyPublisher Boolean Class Contract Double Download Event EventStream Instant Json JsonAnyGetter ' +
  'JsonAnySetter JsonInclude JsonNode JsonProperty List Long Map Nullable Object Open Override ParleyClient Schemas Set ' +
  'Socket SocketSurface String Surface UnaryOperator Union Unknown Void WebhookVerifier Wrapper'
).split(' ')

export const variable = (name: string) => identifier(camelCase(name.replace(/^x-/i, '')), reserved)

/** Returns a constant's name. Text without letters or digits is EMPTY. */
export const constant = (value: string) => identifier(upperCase(value) || 'EMPTY', new Set(['VALUE']))

/**
 * An API's style for JSON names. Jackson makes the JSON name from the record component's name, so that most components
 * need no annotation.
 */
export type NamingStyle = 'snakeCase' | 'camelCase'

export function styled(component: string, style: NamingStyle): string {
  if (style === 'camelCase') return component
  return component.replace(/([A-Z])([A-Z]*)/g, (_match, first: string, rest: string, place: number) => {
    const separator = place > 0 && component[place - 1] !== '_' ? '_' : ''
    return separator + (first + rest).toLowerCase()
  })
}
