/**
 * The generator writes the client for Rust from the client model. The tests in test/clients compile the whole client.
 */
import t from 'tap'
import { surfaceOf } from '../../codegen/clients/surface.ts'
import { lowerOpenApi } from '../../codegen/load-openapi.ts'
import type { Schema } from '../../codegen/schema.ts'
import { emitRust } from '../../codegen/targets/rust/client.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const text = { type: 'string' }
const answers = (schema: object) => ({ responses: { 200: json(schema) } })
const sends = (schema: object) => ({ requestBody: { required: true, ...json(schema) } })

/** Returns a file in the generated client's module `a`. */
function fileOf(name: string, schemas: Record<string, Schema>, operation: object): string {
  const paths = { '/v1/things/{id}': { post: { operationId: 'makeThing', summary: 'Make a thing', ...operation } } }
  const document = lowerOpenApi({ openapi: '3.1.0', paths, components: { schemas } }, { file: 'specs/a.openapi.yaml' })
  return emitRust([surfaceOf(document)]).get(`generated/clients/rust/src/a/${name}.rs`) ?? ''
}

t.test('the struct for a response has a default for each field, and renames fields and tag as in the contract', (t) => {
  const properties = {
    start_ms: { type: 'integer', description: 'The start, in `ms` & <frames>.' },
    endMs: text,
    type: { type: 'string', const: 'a' },
  }
  const Thing = { type: 'object', required: ['start_ms', 'type'], properties }
  t.match(
    fileOf('structs', { Thing }, answers(ref('Thing'))),
    `answers! { "snake_case"

#[serde(tag = "type", rename = "a")]
pub struct Thing {
    /** The start, in \`ms\` & \\<frames\\>. */ pub start_ms: i64,
    #[serde(rename = "endMs")] pub end_ms: Option<String>,
}
`,
  )
  t.end()
})

t.test('an object in a request begins with its required fields, and an optional field can be null or absent', (t) => {
  const properties = { name: text, note: { type: ['string', 'null'] }, maxSize: { type: 'integer' } }
  const Thing = { type: 'object', required: ['name'], properties }
  t.match(
    fileOf('structs', { Thing }, { ...sends(ref('Thing')), ...answers(text) }),
    `requests! { "camelCase"

pub struct Thing {
    pub name: String,
    #[serde(default, skip_serializing_if = "Nullable::is_absent")] pub note: Nullable<String>,
    #[serde(skip_serializing_if = "Option::is_none")] pub max_size: Option<i64>,
}
}

constructors! {
    Thing(name: impl Into<String>) { note, max_size }
}
`,
  )
  t.end()
})

t.test('enums with the same values are one type, and a value named "unknown" differs from unknown values', (t) => {
  const values = { type: 'string', enum: ['half-on', 'unknown', '1'] }
  const Thing = { type: 'object', properties: { left: values, right: values } }
  const enums = fileOf('enums', { Thing }, answers(ref('Thing')))
  t.match(enums, '    ThingLeft { HalfOn = "half-on", UnknownValue = "unknown", N1 = "1" }\n')
  t.match(enums, 'pub type ThingRight = ThingLeft;\n')
  t.end()
})

t.test('the member of a union is chosen by its tag', (t) => {
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
  const schemas = { Cat: kind('cat'), Dog: kind('dog'), Either, Thing }
  t.match(fileOf('unions', schemas, answers(ref('Thing'))), 'Either by "kind" { Cat(Cat) = "cat", Dog(Dog) = "dog" }\n')
  t.match(fileOf('structs', schemas, answers(ref('Thing'))), 'pub struct Dog {}\n')
  t.end()
})

t.test('a method takes the path, the body and the parameters', (t) => {
  const parameters = [
    { in: 'path', name: 'id', required: true, schema: text },
    { in: 'query', name: 'type', schema: text },
    { in: 'header', name: 'x-service-intent', schema: text },
  ]
  const Thing = { type: 'object', properties: { name: text } }
  const operations = fileOf('operations', { Thing }, { parameters, ...sends(ref('Thing')), ...answers(ref('Thing')) })
  t.match(
    operations,
    'pub async fn make_thing(&self, id: &str, body: &Thing, params: &MakeThingParams) -> Result<Thing> {',
  )
  t.match(operations, '.path("id", id).params(params, &["x-service-intent"]).json(Some(body))')
  t.match(
    operations,
    '#[serde(rename = "x-service-intent", skip_serializing_if = "Option::is_none")] pub service_intent:',
  )
  t.end()
})
