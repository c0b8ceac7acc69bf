/** Rust's names: keywords are raw identifiers. */
import { pascalCase, snakeCase } from '../../clients/names.ts'

const reserved = new Set(
  (
    'abstract as async await become box break const continue do dyn else enum extern false final fn for gen if impl in ' +
    'let loop macro match mod move mut override priv pub ref return static struct trait true try type typeof unsafe ' +
    'unsized use virtual where while yield'
  ).split(' '),
)

/** Generated modules use these names, so no declared type may have them. */
export const foreign = (
  'Audio BTreeMap Bytes CallOptions Channel Client Compat DateTime Default Deserialize Download Error ErrorRow Event ' +
  'EventStream Form HeaderMap Map None Nullable Option Platform Realtime Request Result Router Serialize Session ' +
  'Socket Some String Surface Utc Value Vec Verifier WebhookError'
).split(' ')

/** Returns the name for a field, an argument or a method. */
export function variable(name: string): string {
  const snake = snakeCase(name.replace(/^x-/i, ''))
  return reserved.has(snake) ? `r#${snake}` : snake
}

/**
 * Returns a variant's name. A text without letters or digits becomes `Empty`. No name may begin with a digit, so other
 * texts get the prefix N.
 */
export function variant(text: string): string {
  const pascal = pascalCase(text)
  return /^[A-Za-z]/.test(pascal) ? pascal : pascal === '' ? 'Empty' : `N${pascal}`
}

/** Returns the name that serde gives to a field, with and without `rename_all = "camelCase"`. */
export function wireName(field: string, isCamel: boolean): string {
  const plain = field.replace(/^r#/, '')
  return isCamel ? plain.replace(/_+([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase()) : plain
}
