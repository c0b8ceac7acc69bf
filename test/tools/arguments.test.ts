/** The check of a tool's arguments against the tool's JSON Schema. */
import t from 'tap'
import { valueFaults as faultsOfOwner } from '../../runtime/values/json-value.ts'
import { processorMs } from '../processor-time.ts'

const valueFaults = (schema: object, value: unknown) => faultsOfOwner(schema, value, 'org_1')

t.test("a tool's arguments are validated against its schema", (t) => {
  const schema = {
    type: 'object',
    properties: {
      id: { type: 'string', minLength: 2 },
      'a/b': { type: 'integer' },
      lines: { type: 'array', items: { $ref: '#/$defs/line' } },
    },
    required: ['id'],
    additionalProperties: false,
    $defs: { line: { type: 'object', properties: { count: { type: 'integer', minimum: 1 } }, required: ['count'] } },
  }
  t.same(valueFaults(schema, { id: 'ab', lines: [{ count: 1 }] }), [])
  t.same(valueFaults(schema, {}), ['/id is missing'])
  t.same(valueFaults(schema, { id: 'a' }), ['/id breaks the rule minLength'])
  t.same(valueFaults(schema, { id: 'ab', 'a/b': 'x' }), ['/a~1b must be integer'])
  t.same(valueFaults(schema, { id: 'ab', lines: [{ count: 1 }, { count: 0 }, {}] }), [
    '/lines/1/count breaks the rule minimum',
    '/lines/2/count is missing',
  ])
  t.same(valueFaults(schema, { id: 'ab', other: 1 }), ['/other is not allowed'])
  t.same(valueFaults(schema, 'text'), ['/ must be object'])
  t.same(valueFaults({ type: 'object', properties: {} }, {}), [])
  t.end()
})

t.test("if a tool's argument is wrong, the error names the rule of the schema, but not the value", (t) => {
  const of = (property: object, value: unknown) => valueFaults({ properties: { a: property } }, { a: value })
  for (const [property, value, fault] of [
    [{ type: ['string', 'null'] }, 5, '/a must be string or null'],
    [{ enum: ['red', 'green'] }, 'sk_secret', '/a breaks the rule enum'],
    [{ maximum: 3 }, 4711, '/a breaks the rule maximum'],
    [{ pattern: '^[0-9]+$' }, 'sk_secret', '/a breaks the rule pattern'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 5, '/a breaks the rule anyOf'],
    [{ oneOf: [{ type: 'number' }, { minimum: 1 }] }, 5, '/a breaks the rule oneOf'],
    [{ allOf: [{ type: 'string' }] }, 5, '/a must be string'],
    [{ type: 'array', maxItems: 1 }, ['sk_secret', 'b'], '/a breaks the rule maxItems'],
    [false, 5, '/a is not allowed'],
  ] as const)
    t.same(of(property as object, value), [fault])
  t.end()
})

t.test('the validation of a hostile tool schema is stopped in time', (t) => {
  const backtracking = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } }
  const endless = { $ref: '#' }
  const wide = { anyOf: Array.from({ length: 6 }, () => ({ properties: { a: { $ref: '#' } }, required: ['z'] })) }
  const deep = Array.from({ length: 12 }).reduce<object>((inner) => ({ a: inner }), {})
  for (const [schema, value] of [
    [backtracking, { a: `${'a'.repeat(50)}!` }],
    [endless, {}],
    [wide, deep],
  ] as const) {
    const spentMs = processorMs(() => t.not(valueFaults(schema, value).length, 0))
    t.ok(spentMs < 300, `${spentMs.toFixed(0)} ms`)
  }
  const value = { a: `${'a'.repeat(50)}!` }
  for (let stops = 1; stops < 3; stops++) valueFaults(backtracking, value)
  const spentMs = processorMs(() => {
    for (let at = 0; at < 100; at++) t.same(valueFaults(backtracking, value), ['/ cannot be checked in time'])
  })
  t.ok(spentMs < 200, `a schema that was stopped three times takes no more: ${spentMs.toFixed(0)} ms for 100`)
  t.same(faultsOfOwner({ ...backtracking }, { a: 'aaa' }, 'org_other'), [], 'and checks of others run')
  t.end()
})
