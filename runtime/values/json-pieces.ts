/**
 * Writes a large value as JSON in pieces, so that the event loop can serve others between two pieces. The text is the
 * text of `JSON.stringify(value, null, 2)` and a line break. Any iterable object is written as an array, so a list's
 * items can be made one at a time.
 */

/** Returns the value to write for a field, item (with the name '') or whole value. `parent` is the containing field. */
export type Change = (value: unknown, name: string, parent: string) => unknown

/** A piece has at most this many characters and the text of one more string. */
const pieceCharacters = 65_536

type Container = { name: string; close: ']' | '}'; fields: Iterator<readonly [name: string, value: unknown]> }

export function* jsonPieces(value: unknown, change: Change): Generator<string> {
  const open: Container[] = []
  let text = ''
  let isFirst = true
  const write = (name: string, given: unknown, parent: string) => {
    const changed = change(given, name, parent)
    if (typeof changed !== 'object' || changed === null) return void (text += JSON.stringify(changed) ?? 'null')
    const container = containerOf(name, changed)
    text += container.close === ']' ? '[' : '{'
    open.push(container)
    isFirst = true
  }
  write('', value, '')
  for (let inner = open.at(-1); inner; inner = open.at(-1)) {
    const next = inner.fields.next()
    if (next.done) {
      open.pop()
      text += isFirst ? inner.close : `\n${'  '.repeat(open.length)}${inner.close}`
      isFirst = false
    } else {
      const [name, field] = next.value
      text += `${isFirst ? '' : ','}\n${'  '.repeat(open.length)}`
      isFirst = false
      if (inner.close === '}') text += `${JSON.stringify(change(name, '', ''))}: `
      write(name, field, inner.name)
    }
    if (text.length < pieceCharacters) continue
    yield text
    text = ''
  }
  yield `${text}\n`
}

function containerOf(name: string, value: object): Container {
  return Symbol.iterator in value
    ? { name, close: ']', fields: itemsOf(value as Iterable<unknown>) }
    : { name, close: '}', fields: fieldsOf(value) }
}

function* itemsOf(items: Iterable<unknown>): Generator<readonly [string, unknown]> {
  for (const item of items) yield ['', item]
}

function* fieldsOf(value: object): Generator<readonly [string, unknown]> {
  for (const [name, field] of Object.entries(value)) if (field !== undefined) yield [name, field]
}
