/** The generator writes the client for C# from the client model. The tests in test/clients compile the whole client. */
import t from 'tap'
import { surfaceOf } from '../../codegen/clients/surface.ts'
import { lowerOpenApi } from '../../codegen/load-openapi.ts'
import type { Schema } from '../../codegen/schema.ts'
import { emitCsharp } from '../../codegen/targets/csharp/csharp.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const text = { type: 'string' }
const answers = (schema: object) => ({ responses: { 200: json(schema) } })
const sends = (schema: object) => ({ requestBody: { required: true, ...json(schema) } })

/** Returns a file in the generated client's folder `a`. */
function fileOf(name: string, schemas: Record<string, Schema>, operation: object): string {
  const paths = { '/v1/things/{id}': { post: { operationId: 'makeThing', summary: 'Make a thing', ...operation } } }
  const document = lowerOpenApi({ openapi: '3.1.0', paths, components: { schemas } }, { file: 'specs/a.openapi.yaml' })
  return emitCsharp([surfaceOf(document)]).get(`generated/clients/csharp/a/${name}.cs`) ?? ''
}

t.test(
  'a record has its required fields first, and an attribute if a field name is not in the style of the API',
  (t) => {
    const properties = {
      note: text,
      start_ms: { type: 'integer', description: 'The start, in `ms` & <frames>.' },
      end_ms: text,
      aB: text,
      type: { type: 'string', const: 'a' },
    }
    const Thing = { type: 'object', required: ['start_ms', 'type'], properties }
    t.match(
      fileOf('Schemas', { Thing }, answers(ref('Thing'))),
      `/// <param name="StartMs">The start, in <c>ms</c> &amp; &lt;frames&gt;.</param>
public sealed record Thing(long StartMs, string? Note = null, string? EndMs = null,
    [property: JsonPropertyName("aB")] string? AB = null) { public string Type => "a"; }
`,
    )
    t.end()
  },
)

t.test('an optional field of a request can be null or left out, also if the field is a list', (t) => {
  const properties = {
    note: { type: ['string', 'null'] },
    tags: { type: ['array', 'null'], items: text },
    size: { type: 'integer' },
    name: { type: ['string', 'null'] },
  }
  const Thing = { type: 'object', required: ['name'], properties }
  t.match(
    fileOf('Schemas', { Thing }, { ...sends(ref('Thing')), ...answers(text) }),
    `public sealed record Thing([property: JsonIgnore(Condition = JsonIgnoreCondition.Never)] string? Name,
    Optional<string?> Note = default, Optional<string[]?> Tags = default, long? Size = null);
`,
  )
  t.end()
})

t.test('if names differ only in case, or a property has the name of its record, a suffix is added', (t) => {
  const Thing = { type: 'object', properties: { s2s: text, s2S: text, thing: text } }
  const schemas = fileOf('Schemas', { Thing }, answers(ref('Thing')))
  for (const name of ['S2s', 'S2SValue', 'ThingValue']) t.match(schemas, ` string? ${name} = null`)
  t.end()
})

t.test('an enum keeps unknown values', (t) => {
  const states = { type: 'string', enum: ['on', 'half-on', '1', 'value'] }
  const Thing = { type: 'object', required: ['state'], properties: { state: states } }
  const schemas = fileOf('Schemas', { Thing }, answers(ref('Thing')))
  t.match(
    schemas,
    `public sealed record ThingState(string Value) : OpenEnum(Value) { public static readonly ThingState On = new("on"),
    HalfOn = new("half-on"), _1 = new("1"), ValueValue = new("value"); }
`,
  )
  t.match(schemas, 'public sealed record Thing(ThingState State);\n')
  t.end()
})

t.test('a union in an answer is an interface, which the record Unknown implements too', (t) => {
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
  const schemas = fileOf('Schemas', { Cat: kind('cat'), Dog: kind('dog'), Either, Thing }, answers(ref('Thing')))
  t.match(schemas, 'public sealed record Cat() : IEither { public string Kind => "cat"; }\n')
  t.match(
    schemas,
    `[Union("kind", Unknown = typeof(Unknown)), Arm(typeof(Cat), "cat"), Arm(typeof(Dog), "dog")]
public interface IEither { }
`,
  )
  t.match(schemas, 'public sealed record Unknown(JsonElement Value) : IWrapper<JsonElement>, IEither;\n')
  t.end()
})

t.test('a method takes the path, the body and the parameters', (t) => {
  const parameters = [
    { in: 'path', name: 'id', required: true, schema: text },
    { in: 'query', name: 'default', schema: text },
    { in: 'header', name: 'x-service-intent', schema: text },
  ]
  const Thing = { type: 'object', properties: { name: text } }
  const client = fileOf('AClient', { Thing }, { parameters, ...sends(ref('Thing')), ...answers(ref('Thing')) })
  t.match(client, 'public Task<Thing> MakeThingAsync(\n        string id, Thing body, string? @default = null,')
  t.match(client, '.Json(body).Query("default", @default).Header("x-service-intent", serviceIntent)')
  t.end()
})
