/**
 * The generator writes the client for Java from the client model. The tests in test/clients compile the whole client.
 */
import t from 'tap'
import { surfaceOf } from '../../codegen/clients/surface.ts'
import { lowerOpenApi } from '../../codegen/load-openapi.ts'
import type { Schema } from '../../codegen/schema.ts'
import { emitJava } from '../../codegen/targets/java/java.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const text = { type: 'string' }
const answers = (schema: object) => ({ responses: { 200: json(schema) } })
const sends = (schema: object) => ({ requestBody: { required: true, ...json(schema) } })

function schemasOf(schemas: Record<string, Schema>, operation: object): string {
  const paths = { '/v1/things/{id}': { post: { operationId: 'makeThing', summary: 'Make a thing', ...operation } } }
  const document = lowerOpenApi({ openapi: '3.1.0', paths, components: { schemas } }, { file: 'specs/a.openapi.yaml' })
  const files = emitJava([surfaceOf(document)])
  return [...files].find(([path]) => path.endsWith('/Schemas.java'))?.[1] ?? ''
}

t.test('an object in a response is a record, with an annotation if a field name is not in Java style', (t) => {
  const properties = {
    start_ms: { type: 'integer', description: 'The start, in `ms` & <frames>.' },
    endMs: text,
    aB: text,
  }
  const Thing = { type: 'object', required: ['start_ms'], properties }
  t.match(
    schemasOf({ Thing }, answers(ref('Thing'))),
    `    /** @param startMs The start, in {@code ms} &amp; &lt;frames&gt;. */
    public record Thing(@JsonProperty("start_ms") long startMs, String endMs, String aB) {}
`,
  )
  t.end()
})

t.test('an object in a request is a class with setters, whose optional field can be null or absent', (t) => {
  const properties = {
    kind: { type: 'string', const: 'a' },
    note: { type: ['string', 'null'] },
    size: { type: 'integer' },
  }
  const Thing = { type: 'object', required: ['kind'], properties }
  t.match(
    schemasOf({ Thing }, { ...sends(ref('Thing')), ...answers(text) }),
    `    public static final class Thing {
        final String kind = "a"; Nullable<String> note; Long size;
        public Thing note(String value) { note = Nullable.of(value); return this; }
        public Thing size(long value) { size = value; return this; }
    }
`,
  )
  t.end()
})

t.test('an enum in a response keeps unknown values', (t) => {
  const Thing = {
    type: 'object',
    required: ['state'],
    properties: { state: { type: 'string', enum: ['on', 'half-on'] } },
  }
  const schemas = schemasOf({ Thing }, answers(ref('Thing')))
  t.match(schemas, '    public enum ThingState { ON, @JsonProperty("half-on") HALF_ON }\n')
  t.match(schemas, '    public record Thing(Open<ThingState> state) {}\n')
  t.end()
})

t.test('a union in an answer is a sealed interface, which the class Unknown implements too', (t) => {
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
  const schemas = schemasOf({ Cat: kind('cat'), Dog: kind('dog'), Either, Thing }, answers(ref('Thing')))
  t.match(schemas, '    public record Cat(String kind) implements Either {}\n')
  t.match(schemas, '@Union(tag = "kind", unknown = Unknown.class, value = {')
  t.match(schemas, 'public record Unknown(JsonNode value) implements Wrapper<JsonNode>, Either {}\n')
  t.end()
})
