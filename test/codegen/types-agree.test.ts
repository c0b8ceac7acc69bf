/**
 * Each type of each OpenAPI contract is compared with the type by openapi-typescript, which shares no code with our
 * generator.
 */
import t from 'tap'
import { compatContract } from '../../generated/compat/contract.ts'
import { internalContract } from '../../generated/internal/contract.ts'
import { platformContract } from '../../generated/platform/contract.ts'
import { routerContract } from '../../generated/router/contract.ts'
import { compare, type Subject } from './type-oracle.ts'

type Node = Record<string, unknown>
type Document = {
  components: { schemas: Record<string, Node>; parameters: Record<string, Node>; headers: Record<string, Node> }
}

const surfaces: Subject[] = [
  { name: 'router', contract: routerContract, hasClient: true },
  { name: 'compat', contract: compatContract, hasClient: true },
  { name: 'platform', contract: platformContract, hasClient: true },
  { name: 'internal', contract: internalContract, hasClient: false },
]

/**
 * Each row changes one value in the router's document, and only openapi-typescript reads the change. The comparison
 * must report the type in the last column as different.
 */
const plants: [string, (document: Document) => void, string][] = [
  ['a field that may be null', field('Route', 'region', { type: ['string', 'null'] }), 'router Route answered'],
  ['a field of another type', field('SampleRateRange', 'max', { type: 'string' }), 'router SampleRateRange answered'],
  ['a field more', field('Route', 'zone', { type: 'string' }), 'router Route answered'],
  ['a field less', field('ModelRow', 'deprecation_date', undefined), 'router ModelRow answered'],
  ['a field that must be there', require('AutoRouting', ['mode', 'objective']), 'router AutoRouting sent'],
  [
    'a default more',
    field('ExplicitRouting', 'provider', { type: 'string', default: '' }),
    'router ExplicitRouting received',
  ],
  [
    'a value more',
    (document) => void (document.components.schemas['PathChoice'] = { enum: ['stream', 'streaming', 'batch', 'all'] }),
    'router PathChoice sent',
  ],
  [
    'a parameter of another type',
    ({ components }) =>
      void Object.assign(components.parameters['LanguageQuery'] ?? {}, { schema: { type: 'integer' } }),
    'listModels request query',
  ],
  [
    'a header that may be absent',
    ({ components }) => void Object.assign(components.headers['Service-Provider'] ?? {}, { required: false }),
    'createSpeech 200 headers',
  ],
]

t.test('openapi-typescript and our generator agree on every type; a deliberate difference is detected', async (t) => {
  const router = { name: 'router', contract: routerContract, hasClient: true }
  const planted = plants.map(([, plant]) => ({ ...router, planted: changed(routerContract, plant) }))
  const results = await compare([...surfaces, ...planted])
  for (const [i, { name }] of surfaces.entries()) {
    t.same(results[i]?.differing, [], `${name}: ${results[i]?.pairs} pairs`)
    t.ok((results[i]?.pairs ?? 0) > 150, name)
  }
  for (const [i, [name, , label]] of plants.entries())
    t.ok(results[surfaces.length + i]?.differing.includes(label), `${name}: ${label}`)
})

function changed(contract: string, plant: (document: Document) => void): string {
  const document = JSON.parse(contract) as Document
  plant(document)
  const text = JSON.stringify(document)
  if (text === contract) throw new Error('the document is as it was')
  return text
}

function field(schema: string, name: string, value: object | undefined) {
  return ({ components }: Document) => {
    const properties = components.schemas[schema]?.['properties'] as Node
    properties[name] = value
  }
}

function require(schema: string, required: string[]) {
  return ({ components }: Document) => void Object.assign(components.schemas[schema] ?? {}, { required })
}
