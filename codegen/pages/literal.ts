/** Prints a JSON value as a literal of a language. */

export type Syntax = {
  text: (value: string) => string
  /** Prints a number, a truth value or null. */
  constant: (value: number | boolean | null) => string
  key: (name: string) => string
  /** The indent of one level. */
  indent: string
  /** The space inside the braces of an object in one line. */
  padding: string
}

/** A literal longer than this has a line for each part. */
const lineMax = 80

export function literal(value: unknown, indent: string, syntax: Syntax): string {
  if (typeof value === 'string') return syntax.text(value)
  if (typeof value !== 'object' || value === null) return syntax.constant(value as number | boolean | null)
  const inner = indent + syntax.indent
  if (Array.isArray(value)) {
    const items = value.map((item) => literal(item, inner, syntax))
    return between('[', items, ']', indent, syntax)
  }
  const members = Object.entries(value).map(([name, item]) => `${syntax.key(name)}: ${literal(item, inner, syntax)}`)
  return members.length === 0 ? '{}' : object(members, indent, syntax)
}

/** Prints an object with these members, which are printed already. */
export function object(members: readonly string[], indent: string, syntax: Syntax): string {
  return between('{', members, '}', indent, syntax)
}

/** Prints parts on one line if they fit, and otherwise each part on a separate line. */
function between(open: string, parts: readonly string[], close: string, indent: string, syntax: Syntax): string {
  const padding = open === '{' ? syntax.padding : ''
  const line = `${open}${padding}${parts.join(', ')}${padding}${close}`
  if (line.length <= lineMax && !line.includes('\n')) return line
  return `${open}\n${parts.map((part) => `${indent}${syntax.indent}${part},\n`).join('')}${indent}${close}`
}
