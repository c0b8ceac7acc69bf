/** Converts values for columns and statement parameters. */

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Other text cannot be an id in a uuid column, so no statement searches for it. */
export function isUuid(id: string): boolean {
  return uuidForm.test(id)
}

/** Postgres stores no U+0000 in text, but an agent's name can have it and an LLM can write it. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}

export function dateOrNull(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}

/**
 * An array's text form, with every item quoted (PostgreSQL documentation, 8.15.6, Array Input and Output Syntax).
 */
export function arrayLiteral(items: Iterable<string>): string {
  return `{${[...items].map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}
