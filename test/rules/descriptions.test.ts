/**
 * Every operation, parameter and property in the served documents has a description. A property may use its schema's
 * description.
 */
import t from 'tap'
import { compatContract } from '../../generated/compat/contract.ts'
import { platformContract } from '../../generated/platform/contract.ts'
import { realtimeContract } from '../../generated/realtime/contract.ts'
import { routerContract } from '../../generated/router/contract.ts'
import { sessionContract } from '../../generated/session/contract.ts'

type Node = { [key: string]: unknown }
type Property = { pointer: string; name: string; words: string | null }

const documents = {
  router: routerContract,
  compat: compatContract,
  platform: platformContract,
  realtime: realtimeContract,
  session: sessionContract,
}
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)
/** Below these keys there is example data instead of a schema. */
const data = new Set(['example', 'examples', 'default', 'const', 'enum'])
const refsMax = 8

for (const [name, text] of Object.entries(documents)) {
  const document = JSON.parse(text) as Node
  const properties = propertiesOf(document)

  t.test(`${name}: every property has a description`, (t) => {
    t.ok(properties.length > 20, `${properties.length} properties`)
    t.same(
      properties.filter(({ words }) => words === null).map(({ pointer }) => pointer),
      [],
    )
    t.end()
  })

  t.test(`${name}: every operation and parameter has a description`, (t) => {
    t.same(undescribed(document), [])
    t.end()
  })

  t.test(`${name}: no description repeats only the name`, (t) => {
    const plain = (words: string) => words.toLowerCase().replace(/^(the|a|an) |[^a-z0-9]/g, '')
    const empty = properties.filter(({ name, words }) => words !== null && plain(words) === plain(name))
    t.same(
      empty.map(({ pointer }) => pointer),
      [],
    )
    t.end()
  })
}

/**
 * Returns the operations and parameters of an OpenAPI document without a description. AsyncAPI documents have no paths.
 */
function undescribed(document: Node): string[] {
  const paths = (document['paths'] ?? {}) as Record<string, Node>
  return Object.entries(paths).flatMap(([path, { parameters: shared, ...operations }]) => [
    ...undescribedOf(document, path, shared),
    ...Object.entries(operations as Record<string, Node>).flatMap(([method, { description, parameters }]) => [
      ...(typeof description === 'string' ? [] : [`${method} ${path}`]),
      ...undescribedOf(document, `${method} ${path}`, parameters),
    ]),
  ])
}

function undescribedOf(document: Node, place: string, parameters: unknown): string[] {
  const all = (parameters ?? []) as Node[]
  return all.filter((parameter) => wordsOf(document, parameter) === null).map((each) => `${place} ${nameOf(each)}`)
}

function nameOf({ name, $ref }: Node): string {
  return String(name ?? $ref)
}

function propertiesOf(document: Node): Property[] {
  const found: Property[] = []
  const visit = (node: unknown, path: readonly string[]): void => {
    if (Array.isArray(node)) return node.forEach((each, at) => void visit(each, [...path, String(at)]))
    if (!isNode(node)) return
    for (const [key, value] of Object.entries(node)) {
      const isProperties = key === 'properties' && path.at(-1) !== 'properties' && isNode(value)
      if (isProperties)
        for (const [name, schema] of Object.entries(value))
          found.push({ pointer: [...path, name].join('/'), name, words: wordsOf(document, schema) })
      if (!data.has(key) || path.at(-1) === 'properties') visit(value, [...path, key])
    }
  }
  visit(document, [])
  return found
}

/** Returns the schema's description, or null. */
function wordsOf(document: Node, schema: unknown): string | null {
  let here = schema
  for (let refs = 0; refs < refsMax && isNode(here); refs += 1) {
    const { description, $ref } = here
    if (typeof description === 'string' && description.trim() !== '') return description
    const target = $ref ?? componentOrNull(here)
    if (typeof target !== 'string') return null
    here = at(document, target)
  }
  // The schema `true` accepts any value, as for extensions, and needs no description.
  return here === true ? '' : null
}

/** If a schema allows one component or null, returns the reference to the component. */
function componentOrNull({ oneOf }: Node): unknown {
  const arms = (Array.isArray(oneOf) ? oneOf : []) as Node[]
  const [arm, ...others] = arms.filter(({ type }) => type !== 'null')
  return others.length === 0 ? arm?.['$ref'] : undefined
}

function at(document: Node, ref: string): unknown {
  let here: unknown = document
  for (const key of ref.slice(2).split('/'))
    here = isNode(here) ? here[key.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
  return here
}
