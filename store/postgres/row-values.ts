/** Values in the form that a column or a parameter of a statement takes. */

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Other text cannot be an id in a column of uuids, so no statement asks for it. */
export function isUuid(id: string): boolean {
  return uuidForm.test(id)
}

/** A text of Postgres has no U+0000. It can be in the name of an agent, and an LLM can write it. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}

export function dateOrNull(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}

/**
 * The text form of an array with every item quoted (PostgreSQL documentation, 8.15.6, Array Input and Output
 * Syntax).
 */
export function arrayLiteral(items: Iterable<string>): string {
  return `{${[...items].map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}
