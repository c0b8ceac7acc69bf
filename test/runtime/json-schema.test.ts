import t from 'tap'
import { schemaFault } from '../../runtime/values/json-schema.ts'

const withParts = (more: object) => ({ type: 'object', ...more })

t.test('a usable JSON schema is accepted', (t) => {
  const schemas: Record<string, object> = {
    'a reference to the whole schema': { properties: { a: { $ref: '#' } } },
    'a reference to a definition': { $defs: { 'a b': {} }, properties: { a: { $ref: '#/$defs/a%20b' } } },
    'a reference to an anchor': { $defs: { x: { $anchor: 'here' } }, properties: { a: { $ref: '#here' } } },
    'a reference to an id': { $defs: { x: { $id: 'https://x.example/x' } }, items: { $ref: 'https://x.example/x' } },
    'a reference to a place without a keyword': {
      components: { x: {} },
      properties: { a: { $ref: '#/components/x' } },
    },
    'a property with the name of a keyword': { properties: { $ref: { type: 'string' }, pattern: { type: 'string' } } },
    'a pattern of Unicode': { properties: { a: { pattern: '^\\p{L}+$' } } },
    'an unknown format and keyword': { properties: { a: { format: 'tea', 'x-hint': 'none' } } },
    '900 choices': { properties: { a: { anyOf: Array.from({ length: 900 }, (_, at) => ({ const: at })) } } },
  }
  for (const [what, more] of Object.entries(schemas)) t.equal(schemaFault(withParts(more)), null, what)
  const schema = withParts({ properties: { a: { $ref: '#' } } })
  schemaFault(schema)
  t.same(Object.getOwnPropertyNames(schema), ['type', 'properties'], 'the schema is not changed')
  t.end()
})

t.test('an unusable JSON schema is refused', (t) => {
  const malformed: Record<string, object> = {
    'a pattern that is not closed': { properties: { a: { pattern: '(' } } },
    'a pattern of properties that is not closed': { patternProperties: { '[': {} } },
    'an unknown type': { properties: { a: { type: 'text' } } },
    'a list without choices': { properties: { a: { enum: [] } } },
    'code in a keyword': { minProperties: '1;process.exit()' },
    'a reference that is no URI': { properties: { a: { $ref: 'https://[' } } },
    'two parts with one id': { $defs: { x: { $id: 'https://x.example/x' }, y: { $id: 'https://x.example/x' } } },
    'an asynchronous schema': { $async: true },
    'another draft': { $schema: 'http://json-schema.org/draft-07/schema#' },
  }
  for (const [what, more] of Object.entries(malformed)) t.equal(schemaFault(withParts(more)), 'malformed', what)
  const outside: Record<string, object> = {
    'another document': { properties: { a: { $ref: 'https://x.example/s.json' } } },
    'a relative document': { properties: { a: { $ref: 's.json' } } },
    'the meta-schema': { properties: { a: { $ref: 'https://json-schema.org/draft/2020-12/schema' } } },
    'a definition that is missing': { properties: { a: { $ref: '#/$defs/none' } } },
    'a dynamic reference': { properties: { a: { $dynamicRef: 'https://x.example/s.json#a' } } },
  }
  for (const [what, more] of Object.entries(outside)) t.equal(schemaFault(withParts(more)), 'refers_outside', what)
  t.end()
})

t.test('a JSON schema that is nested too deeply is refused', (t) => {
  let schema: object = {}
  for (let depth = 0; depth < 1500; depth++) schema = { not: schema }
  t.equal(schemaFault(withParts(schema)), 'malformed')
  t.end()
})

t.test('a JSON schema with many nested `$id` is refused at once', (t) => {
  let schema: object = { $id: 'last' }
  for (let level = 0; level < 50; level++) schema = { $id: `s${level}`, x: schema }
  t.equal(schemaFault({ type: 'object', x: schema }), 'malformed')
  t.equal(schemaFault({ type: 'object', properties: { id: { type: 'string', default: 'a' } } }), null)
  t.end()
})
