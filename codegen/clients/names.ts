/** Makes identifiers in a language's conventions from the contract's names. */

/**
 * Splits a name at case changes and at characters such as `_`: previous_response_id, callId and HTTPError become lists
 * of words.
 */
export function words(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
}

export const snakeCase = (name: string) =>
  words(name)
    .map((word) => word.toLowerCase())
    .join('_')

export const pascalCase = (name: string) => words(name).map(capital).join('')

export const camelCase = (name: string) =>
  words(name)
    .map((word, place) => (place === 0 ? word.toLowerCase() : capital(word)))
    .join('')

export const upperCase = (name: string) => snakeCase(name).toUpperCase()

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()

/**
 * Makes a valid identifier: a reserved word gets `_` at its end, and a name that begins with a digit gets `_` at its
 * beginning.
 */
export function identifier(name: string, reserved: ReadonlySet<string>): string {
  if (/^[0-9]/.test(name)) return `_${name}`
  return reserved.has(name) ? `${name}_` : name
}
