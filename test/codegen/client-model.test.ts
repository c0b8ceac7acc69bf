/** The client model names all types, so that a target for any language can print them. */
import t from 'tap'
import type { Declaration, Use } from '../../codegen/clients/model.ts'
import { camelCase, identifier, pascalCase, snakeCase } from '../../codegen/clients/names.ts'
import { surfaceOf } from '../../codegen/clients/surface.ts'
import { lowerOpenApi } from '../../codegen/load-openapi.ts'
import type { Schema } from '../../codegen/schema.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const text = { type: 'string' }
const named = (name: string): Use => ({ kind: 'named', name })

function surfaceWith(schemas: Record<string, Schema>, operation: object) {
  const paths = { '/v1/things/{id}': { post: { operationId: 'makeThing', ...operation } } }
  return surfaceOf(lowerOpenApi({ openapi: '3.1.0', paths, components: { schemas } }, { file: 'specs/a.openapi.yaml' }))
}

function declarationsOf(schemas: Record<string, Schema>, operation: object): Map<string, Declaration> {
  return new Map(surfaceWith(schemas, operation).declarations.map((declaration) => [declaration.name, declaration]))
}

const answers = (schema: object) => ({ responses: { 200: json(schema) } })
const fieldsOf = (declaration: Declaration | undefined) =>
  declaration?.kind === 'object' ? Object.fromEntries(declaration.fields.map(({ name, use }) => [name, use])) : {}

t.test('an object or enum without a name is named after the fields that lead to it', (t) => {
  const region = { type: 'object', properties: { name: text, kind: { enum: ['city', 'state'] } } }
  const declared = declarationsOf(
    { Thing: { type: 'object', properties: { region, regions: { type: 'array', items: region } } } },
    answers(ref('Thing')),
  )
  t.same([...declared.keys()], ['ThingRegionKind', 'ThingRegion', 'ThingRegionsItemKind', 'ThingRegionsItem', 'Thing'])
  t.same(fieldsOf(declared.get('Thing')), {
    region: named('ThingRegion'),
    regions: { kind: 'list', item: named('ThingRegionsItem') },
  })
  t.end()
})

t.test('a component that is a text, number, list or map gets no name, and is inlined where it is used', (t) => {
  const declared = declarationsOf(
    {
      Id: text,
      Ids: { type: 'array', items: ref('Id') },
      Size: { enum: [8000, 16000] },
      Thing: { type: 'object', properties: { ids: ref('Ids'), size: ref('Size'), kind: { const: 'thing' } } },
    },
    answers(ref('Thing')),
  )
  const id: Use = { kind: 'scalar', scalar: 'string', format: null, values: null }
  t.same(fieldsOf(declared.get('Thing')), {
    ids: { kind: 'list', item: id },
    size: { kind: 'scalar', scalar: 'integer', format: null, values: [8000, 16000] },
    kind: { kind: 'constant', value: 'thing' },
  })
  t.end()
})

t.test('a component that may be null is nullable where it is used', (t) => {
  const declared = declarationsOf(
    {
      Part: { type: ['object', 'null'], properties: { a: text } },
      Thing: { type: 'object', properties: { part: ref('Part') } },
    },
    answers(ref('Thing')),
  )
  t.same(fieldsOf(declared.get('Thing')), { part: { kind: 'nullable', of: named('Part') } })
  t.equal(declared.get('Part')?.kind, 'object')
  t.end()
})

t.test('a type in requests has the suffix Input if its form in answers differs', (t) => {
  const thing = {
    type: 'object',
    properties: { id: { type: 'string', readOnly: true }, level: { enum: ['low', 'high'] }, same: ref('Same') },
  }
  const same = { type: 'object', properties: { a: text } }
  const surface = surfaceWith(
    { Thing: thing, Same: same },
    { requestBody: json(ref('Thing')), ...answers(ref('Thing')) },
  )
  const declared = new Map(surface.declarations.map((declaration) => [declaration.name, declaration]))
  t.same([...declared.keys()].sort(), ['Same', 'Thing', 'ThingInput', 'ThingLevel'])
  t.same(Object.keys(fieldsOf(declared.get('Thing'))), ['id', 'level', 'same'])
  t.same(Object.keys(fieldsOf(declared.get('ThingInput'))), ['level', 'same'])
  t.match(surface.operations[0]?.body, { use: named('ThingInput') })
  t.end()
})

t.test('the generator stops if an unnamed type would get the name of a component with another type', (t) => {
  const schemas = {
    Thing: { type: 'object', properties: { state: { enum: ['a', 'b'] }, other: ref('ThingState') } },
    ThingState: { enum: ['c', 'd'] },
  }
  t.throws(() => surfaceWith(schemas, answers(ref('Thing'))), /two different types have the name ThingState/)
  t.end()
})

t.test('the parts of an allOf become one object, and an object keeps the type of its additional properties', (t) => {
  const declared = declarationsOf(
    {
      Base: { type: 'object', required: ['a'], properties: { a: text } },
      Open: { type: 'object', properties: { c: text }, additionalProperties: { type: 'integer' } },
      Thing: { allOf: [ref('Base'), { type: 'object', properties: { b: ref('Open') } }] },
    },
    answers(ref('Thing')),
  )
  t.same(Object.keys(fieldsOf(declared.get('Thing'))), ['a', 'b'])
  t.match(declared.get('Open'), { rest: { kind: 'scalar', scalar: 'integer' } })
  t.end()
})

t.test('each member of a union has its tag value, or its JSON type if the union has no tag', (t) => {
  const arm = (kind: string) => ({ type: 'object', required: ['kind'], properties: { kind: { const: kind } } })
  const declared = declarationsOf(
    {
      Cat: arm('cat'),
      Dog: arm('dog'),
      Pet: { oneOf: [ref('Cat'), ref('Dog')], discriminator: { propertyName: 'kind' } },
      Value: { oneOf: [text, { type: 'integer' }, ref('Cat'), { type: 'array', items: text }] },
      Thing: { type: 'object', properties: { pet: ref('Pet'), value: ref('Value') } },
    },
    answers(ref('Thing')),
  )
  t.match(declared.get('Pet'), {
    tag: 'kind',
    arms: [
      { use: named('Cat'), tagValues: ['cat'] },
      { use: named('Dog'), tagValues: ['dog'] },
    ],
  })
  t.match(declared.get('Value'), {
    tag: null,
    arms: [{ json: 'string' }, { json: 'number' }, { json: 'object' }, { json: 'array' }],
  })
  t.end()
})

t.test('an operation has a method for each media type of its answer', (t) => {
  const content = {
    'application/json': { schema: ref('Thing') },
    'text/plain': { schema: text },
    'text/event-stream': { 'x-sse-events': { 'thing.made': 'Thing' } },
  }
  const schemas = { Thing: { type: 'object', properties: { a: text } } }
  const { operations } = surfaceWith(schemas, { responses: { 200: { content } } })
  t.match(operations[0]?.methods, [
    { name: 'makeThing', answer: { kind: 'json', use: named('Thing') }, mediaTypes: ['application/json'] },
    { name: 'makeThingText', answer: { kind: 'text' } },
    { name: 'makeThingStream', answer: { kind: 'events', events: [{ event: 'thing.made', use: named('Thing') }] } },
  ])
  t.end()
})

t.test('multipart parts keep the order on the wire, and without a response body the answer kind is `none`', (t) => {
  const form = {
    type: 'object',
    required: ['request', 'audio'],
    properties: { audio: { type: 'string', format: 'binary' }, request: { type: 'object', properties: { a: text } } },
  }
  const content = { 'multipart/form-data': { schema: form, 'x-part-order': ['request', 'audio'] } }
  const key = { in: 'header', name: 'Idempotency-Key', schema: text }
  const { operations } = surfaceWith(
    {},
    { parameters: [key], requestBody: { required: true, content }, responses: { 204: {} } },
  )
  t.match(operations, [
    {
      isIdempotent: true,
      parameters: [],
      body: {
        kind: 'multipart',
        isRequired: true,
        parts: [
          { name: 'request', kind: 'json', use: named('MakeThingRequest') },
          { name: 'audio', kind: 'bytes', use: { kind: 'bytes' } },
        ],
      },
      methods: [{ name: 'makeThing', answer: { kind: 'none' } }],
    },
  ])
  t.end()
})

t.test('names follow the conventions of a language, and never equal its reserved words', (t) => {
  t.equal(snakeCase('previousResponseId'), 'previous_response_id')
  t.equal(camelCase('timestamp_granularities[]'), 'timestampGranularities')
  t.equal(pascalCase('LLMRequest'), 'LlmRequest')
  t.equal(identifier('from', new Set(['from'])), 'from_')
  t.equal(identifier('8k', new Set()), '_8k')
  t.end()
})
