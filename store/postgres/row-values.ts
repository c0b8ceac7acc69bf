/** Converts values for columns and statement parameters. */
import type { Tx } from './connect.ts'

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Returns true if the text is a UUID. Other text names no row with a uuid column, so no statement searches for it. */
export function isUuid(id: string): boolean {
  return uuidForm.test(id)
}

/** Replaces U+0000, because Postgres text cannot hold it. An agent's name can have it and an LLM can write it. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}

export function dateOrNull(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}

/**
 * Writes an array as text for Postgres, with every item quoted (PostgreSQL documentation, 8.15.6, Array Input and
 * Output Syntax).
 */
export function arrayLiteral(items: Iterable<string>): string {
  return `{${[...items].map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}

/**
 * Returns SQL for a JSON column whose fields can be read. The operators `->` and `->>` fail if any string of the
 * document contains U+0000 or half a surrogate pair. So each of them becomes U+FFFD, as in `storable`. JSON.stringify
 * escapes a surrogate only if the other half is missing.
 */
export function readableJson(tx: Tx, column: string) {
  return tx`regexp_replace(${tx(column)}::text, '\\\\u(?:0000|d[89a-f][0-9a-f]{2})', '\\\\ufffd', 'g')::json`
}
