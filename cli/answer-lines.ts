/** Writes any answer as lines for people: a list as a table, an object as its fields. */
import { table } from './choice.ts'
import { listIn } from './print.ts'
import { oneLine } from './terminal.ts'

const columnsMax = 6
const cellCharactersMax = 60

export function linesOfAnswer(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return [cellOf(body)]
  const list = listIn(body)
  if (list === null) return fieldsOf(body)
  if (list.items.length === 0) return ['none']
  const more = list.nextCursor === null ? [] : ['', `more: --cursor ${list.nextCursor}`]
  return [...tableOf(list.items), ...more]
}

function tableOf(items: readonly unknown[]): string[] {
  const rows = items.filter((item) => typeof item === 'object' && item !== null) as Record<string, unknown>[]
  if (rows.length < items.length) return items.map(cellOf)
  const names = Object.keys(rows[0] ?? {})
    .filter((name) => rows.some((row) => isPlain(row[name])))
    .slice(0, columnsMax)
  return table([names, ...rows.map((row) => names.map((name) => cellOf(row[name])))])
}

function fieldsOf(body: object): string[] {
  const set = Object.entries(body).filter(([, value]) => value !== null && value !== undefined)
  return table(set.map(([name, value]) => [name, typeof value === 'string' ? oneLine(value) : JSON.stringify(value)]))
}

const isPlain = (value: unknown) => value !== null && value !== undefined && typeof value !== 'object'

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '–'
  const text = typeof value === 'string' ? oneLine(value) : JSON.stringify(value)
  return text.length > cellCharactersMax ? `${text.slice(0, cellCharactersMax - 1)}…` : text
}
