/** Schemas are resolved to types, and the target for TypeScript prints them. */
import t from 'tap'
import type { Schema } from '../../codegen/schema.ts'
import { TypeNames } from '../../codegen/targets/typescript/type-names.ts'
import { resolveComponents, resolveType } from '../../codegen/types.ts'
import { refTo, type View, Views } from '../../codegen/views.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const cat = {
  type: 'object',
  required: ['kind'],
  properties: { kind: { const: 'cat' }, age: { type: 'integer', default: 1 } },
}
const components: Record<string, Schema> = {
  Cat: cat,
  Dog: { type: 'object', required: ['kind', 'owner'], properties: { kind: { const: 'dog' }, owner: ref('Person') } },
  Pet: { oneOf: [ref('Cat'), ref('Dog')], discriminator: { propertyName: 'kind' } },
  Person: {
    type: 'object',
    required: ['id', 'pin'],
    properties: { id: { type: 'string', readOnly: true }, pin: { type: 'string', writeOnly: true }, pets: ref('Pets') },
  },
  Pets: { type: 'array', items: ref('Pet') },
}
const types = resolveComponents(components)
const all = types.map(({ name }) => refTo(name))
const views = new Views({ types, shared: new Set() }, { answered: all, received: all, sent: all })

function print(schema: Schema, view: View = 'answered'): string {
  return new TypeNames(views).print(resolveType(schema, components), view)
}

t.test('each kind of schema becomes its TypeScript type', (t) => {
  const cases: [Schema, string][] = [
    [true, 'unknown'],
    [{}, 'unknown'],
    [{ type: 'integer' }, 'number'],
    [{ type: 'string', format: 'binary' }, 'Uint8Array'],
    [{ type: 'string', contentMediaType: 'audio/pcm', contentEncoding: 'base64' }, 'string'],
    [{ type: 'string', enum: ['a', "b'c"] }, "'a' | 'b\\'c'"],
    [{ enum: ['a', null] }, "'a' | null"],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: 'null' }, 'null'],
    [{ const: null }, 'null'],
    [{ type: ['string', 'integer'] }, 'string | number'],
    [{ oneOf: [ref('Cat'), { type: 'null' }] }, 'Cat | null'],
    [{ type: 'array', items: { type: ['number', 'null'] } }, '(number | null)[]'],
    [{ type: 'object' }, 'Record<string, unknown>'],
    [{ type: 'object', additionalProperties: { type: 'boolean' } }, 'Record<string, boolean>'],
    [{ type: 'object', properties: { 'a-b': { type: 'string' } }, additionalProperties: false }, "{ 'a-b'?: string }"],
    [
      { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true },
      '{ a?: string } & Record<string, unknown>',
    ],
    [
      { type: ['object', 'null'], properties: { a: { type: 'string' } }, additionalProperties: true },
      '{ a?: string } & Record<string, unknown> | null',
    ],
    [
      { type: ['object', 'string'], properties: { a: { type: 'string' } }, additionalProperties: true },
      '{ a?: string } & Record<string, unknown> | string',
    ],
    [{ allOf: [ref('Cat'), { type: 'object', properties: { a: true } }] }, 'Cat & { a?: unknown }'],
    [{ type: 'object', oneOf: [ref('Cat'), ref('Dog')] }, 'Cat | Dog'],
  ]
  for (const [schema, text] of cases) t.equal(print(schema), text, JSON.stringify(schema))
  t.end()
})

t.test('a component has separate request and answer types only if the two differ, also by reference', (t) => {
  t.same(resolveType(components['Pet'] ?? true, components), {
    kind: 'union',
    tag: 'kind',
    arms: [refTo('Cat'), refTo('Dog')],
  })
  for (const name of ['Cat', 'Dog', 'Pet', 'Person', 'Pets'])
    t.same(
      [print(ref(name)), print(ref(name), 'received'), print(ref(name), 'sent')],
      name === 'Cat' ? ['Cat', 'CatReceived', 'Cat'] : [name, `${name}Received`, `${name}Input`],
    )
  t.equal(print(cat, 'received'), "{ kind: 'cat'; age: number }")
  t.equal(print(cat, 'sent'), "{ kind: 'cat'; age?: number }")
  t.equal(print(components['Person'] ?? true), '{ id: string; pets?: Pets }')
  t.equal(print(components['Person'] ?? true, 'sent'), '{ pin: string; pets?: PetsInput }')
  t.end()
})
