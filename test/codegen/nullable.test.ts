/**
 * If a schema allows one component or null, a value is validated in one step, so that a refusal lists every violation.
 */
import t from 'tap'
import { createAjv, registerSchema } from '../../codegen/ajv.ts'
import type { Schema } from '../../codegen/schema.ts'

const ref = { $ref: '#/components/schemas/Shape' }
const shape: Schema = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, width: { type: 'integer', default: 1 } },
  additionalProperties: false,
}

/** Returns the violations of `{ shape: value }`, each as its JSON pointer and its keyword. */
function violations(schemas: Record<string, Schema>, value: object): string[] {
  const ajv = createAjv(schemas, { allErrors: true })
  const body = { type: 'object', properties: { shape: { oneOf: [ref, { type: 'null' }] } } }
  const validate = ajv.getSchema(registerSchema(ajv, 'body', body, 'request', schemas))
  if (!validate) throw new Error('the schema is not registered')
  validate(value)
  return (validate.errors ?? []).map(({ instancePath, keyword }) => `${instancePath} ${keyword}`)
}

t.test('every violation in a component that may be null is reported with its JSON pointer', (t) => {
  t.same(violations({ Shape: shape }, { shape: { width: 'wide', colour: 'red' } }), [
    '/shape required',
    '/shape additionalProperties',
    '/shape/width type',
  ])
  t.same(violations({ Shape: shape }, { shape: 7 }), ['/shape type'])
  t.end()
})

t.test('a component that may be null accepts null, and its defaults are filled in', (t) => {
  const value = { shape: { name: 'circle' } }
  t.same(violations({ Shape: shape }, { shape: null }), [])
  t.same(violations({ Shape: shape }, value), [])
  t.same(value, { shape: { name: 'circle', width: 1 } })
  t.end()
})

t.test('an enum that may be null accepts null', (t) => {
  const schemas = { Shape: { type: 'string', enum: ['circle', 'square'] } }
  t.same(violations(schemas, { shape: null }), [])
  t.same(violations(schemas, { shape: 'line' }), ['/shape enum'])
  t.end()
})

t.test('a nullable reference accepts null even if its component is a oneOf that refuses null', (t) => {
  const schemas = { Shape: { oneOf: [{ type: 'string' }, { type: 'number' }] } }
  t.same(violations(schemas, { shape: null }), [])
  t.match(violations(schemas, { shape: true }).join(), '/shape oneOf')
  t.end()
})
