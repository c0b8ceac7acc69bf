/** The generator writes the client for Go from the client model. The tests in test/clients compile the whole client. */
import t from 'tap'
import { surfaceOf } from '../../codegen/clients/surface.ts'
import { lowerOpenApi } from '../../codegen/load-openapi.ts'
import type { Schema } from '../../codegen/schema.ts'
import { emitGo } from '../../codegen/targets/go/client.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const text = { type: 'string' }

function filesOf(schemas: Record<string, Schema>, operation: object): ReadonlyMap<string, string> {
  const paths = { '/v1/things/{id}': { post: { operationId: 'makeThing', summary: 'Make a thing', ...operation } } }
  const document = lowerOpenApi({ openapi: '3.1.0', paths, components: { schemas } }, { file: 'specs/a.openapi.yaml' })
  return emitGo([surfaceOf(document)])
}

const fileOf = (files: ReadonlyMap<string, string>, name: string) =>
  [...files].find(([path]) => path.endsWith(`/${name}`))?.[1] ?? ''
const answers = (schema: object) => ({ responses: { 200: json(schema) } })

t.test('columns in a struct are aligned, and a field of the request that can be null has three states', (t) => {
  const Thing = {
    type: 'object',
    required: ['id'],
    properties: {
      id: text,
      note: { type: ['string', 'null'], description: 'A note.' },
      urls: { type: 'array', items: text },
    },
  }
  const operation = { requestBody: { required: true, ...json(ref('Thing')) }, ...answers(ref('Thing')) }
  t.match(
    fileOf(filesOf({ Thing }, operation), 'structs.go'),
    `type Thing struct {
	ID   string                  \`json:"id"\`
	Note parley.Nullable[string] \`json:"note,omitzero"\` // A note.
	URLs []string                \`json:"urls,omitzero"\`
}`,
  )
  t.end()
})

t.test('a union in an answer is an interface, whose decoder keeps unknown values', (t) => {
  const kind = (name: string) => ({
    type: 'object',
    required: ['kind'],
    properties: { kind: { type: 'string', const: name } },
  })
  const Either = {
    oneOf: [ref('Cat'), ref('Dog')],
    discriminator: { propertyName: 'kind', mapping: { cat: ref('Cat').$ref, dog: ref('Dog').$ref } },
  }
  const Thing = { type: 'object', properties: { pets: { type: 'array', items: ref('Either') } } }
  const files = filesOf({ Cat: kind('cat'), Dog: kind('dog'), Either, Thing }, answers(ref('Thing')))
  const unions = fileOf(files, 'unions.go')
  t.match(unions, 'type Either interface{ isEither() }')
  t.match(unions, 'var decodeEither = wire.ByTag("kind", wire.Types[Either]{\n')
  t.match(unions, '\t"cat": Cat{}, "dog": Dog{}, wire.Other: Unknown{},\n')
  t.match(fileOf(files, 'structs.go'), 'wire.DecodeList(fields.Pets, decodeEither)')
  t.end()
})

t.test('enums with the same values share their constants', (t) => {
  const values = { type: 'string', enum: ['on', 'half-on'] }
  const Thing = { type: 'object', properties: { left: values, right: values } }
  const enums = fileOf(filesOf({ Thing }, answers(ref('Thing'))), 'enums.go')
  t.match(enums, '\tThingLeft  string\n\tThingRight = ThingLeft\n')
  t.match(enums, '\tThingLeftOn     ThingLeft = "on"\n\tThingLeftHalfOn ThingLeft = "half-on"\n')
  t.end()
})

t.test('the same document always gives the same files', (t) => {
  const [first, second] = [filesOf({}, answers(text)), filesOf({}, answers(text))]
  t.same([...first], [...second])
  t.end()
})
