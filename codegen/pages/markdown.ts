/** Writes pieces of Markdown. Pages are written in Markdown first, and their HTML is made from it. */

/** Escapes a text for a table's cell, which is one line. */
export const cell = (text: string) =>
  text
    .trim()
    .replaceAll('|', '\\|')
    .replace(/\s*\n\s*/g, ' ')

/** Marks a text as code. A text with a backtick needs more backticks around it. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}

/** Writes a value as JSON, marked as code. */
export const codeOf = (value: unknown) => code(JSON.stringify(value))

/** Writes a table. Returns '' if there are no rows. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n')
}

export const list = (items: readonly string[]) => items.map((item) => `- ${item}`).join('\n')

export function fence(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const ticks = '`'.repeat(longest + 1)
  return `${ticks}${language}\n${text.trimEnd()}\n${ticks}`
}

export const json = (value: unknown) => fence('json', JSON.stringify(value, null, 2))

/** Joins blocks with empty lines, without the empty blocks. */
export const blocks = (...texts: readonly string[]) => texts.filter((text) => text !== '').join('\n\n')

/** Writes a section. Returns '' if all texts are empty. */
export function section(heading: string, ...texts: readonly string[]): string {
  const content = blocks(...texts)
  return content === '' ? '' : `${heading}\n\n${content}`
}

/** Joins strings as in a sentence: a, b or c. */
export function either(texts: readonly string[]): string {
  const [last = '', ...others] = [...texts].reverse()
  return others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`
}

/** Returns the first sentence of a text as plain words, for lists. Headings and tables are left out. */
export function firstSentence(text: string): string {
  const paragraph = text.split('\n\n').find((block) => /^[^#|`\s-]|^`[^`]/.test(block)) ?? ''
  const sentence = /^.*?\.(?=\s|$)/s.exec(paragraph)?.[0] ?? paragraph
  return sentence.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/\s+/g, ' ')
}
