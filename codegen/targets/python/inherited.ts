/**
 * Lets a class inherit another class's fields if it has all these fields: an issued API key is an API key with a
 * secret. Each field is then documented once.
 */

/**
 * A class has one empty line before and after it, instead of the usual two. Other blocks follow each other without an
 * empty line.
 */
export type Block = { text: string; isClass: boolean; fields?: ClassFields }

/** A class's parts. Each line in `lines` is a field with its comment. */
export type ClassFields = { name: string; base: string; doc: string; lines: readonly string[] }

/** A class with fewer fields is not used as a base, because the inheritance would not help readers. */
const fieldsMin = 3

export function classText({ name, base, doc, lines }: ClassFields): string {
  return `class ${name}(${base}):\n${doc + lines.join('') || '    pass\n'}`
}

/** Prints each class with its largest possible base, which comes before the class. */
export function inherited(blocks: readonly Block[]): Block[] {
  const classes = blocks.flatMap(({ fields }) => fields ?? [])
  const ordered = new Map<Block, Block>()
  const visit = (block: Block): void => {
    if (ordered.has(block)) return
    const base = block.fields && baseOf(block.fields, classes)
    const baseBlock = blocks.find(({ fields }) => fields !== undefined && fields === base)
    if (baseBlock) visit(baseBlock)
    ordered.set(block, base && block.fields ? withBase(block.fields, base) : block)
  }
  blocks.forEach(visit)
  return [...ordered.values()]
}

/** If two classes have the same fields, the later class inherits. */
function baseOf(fields: ClassFields, classes: readonly ClassFields[]): ClassFields | undefined {
  if (fields.base !== 'TypedDict') return undefined
  const place = classes.indexOf(fields)
  const fitting = classes.filter(
    (other, otherPlace) =>
      other !== fields &&
      other.base === 'TypedDict' &&
      other.lines.length >= fieldsMin &&
      other.lines.every((line) => fields.lines.includes(line)) &&
      (other.lines.length < fields.lines.length || otherPlace < place),
  )
  return fitting.toSorted((one, other) => other.lines.length - one.lines.length)[0]
}

function withBase(fields: ClassFields, base: ClassFields): Block {
  const lines = fields.lines.filter((line) => !base.lines.includes(line))
  return { text: classText({ ...fields, base: base.name, lines }), isClass: true }
}
