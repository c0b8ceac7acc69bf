/**
 * Makes one Ajv instance for a document, with every component once for requests and once for responses. The rules check
 * examples with this instance, and the TypeScript target writes its validators to a file.
 */

import { _ } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormatsModule from 'ajv-formats'
import { type Direction, nullableId, orNull, projectComponent, type Schema } from './schema.ts'

// ajv-formats is CommonJS, so under Node's ESM its default import is the module itself.
const addFormats = addFormatsModule.default

type Options = {
  /** If true, validators continue after the first violation. */
  allErrors?: boolean
  directions?: readonly Direction[]
  /** True to check each schema against the meta-schema. */
  validateSchema?: boolean
  /** False for validators that run a few times only: compiling then takes less time. */
  optimize?: boolean
}

export function createAjv(schemas: Record<string, Schema>, options: Options = {}): Ajv2020 {
  const { allErrors = false, directions = ['request', 'response'], validateSchema = true, optimize = true } = options
  const ajv = new Ajv2020({
    allErrors,
    validateSchema,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
    discriminator: true,
    useDefaults: true,
    inlineRefs: false,
    code: { source: true, esm: true, optimize, formats: _`formats` },
  })
  addFormats(ajv)
  for (const name of Object.keys(schemas)) {
    for (const direction of directions) {
      const id = componentId(direction, name)
      ajv.addSchema({ $id: id, ...projectComponent(schemas[name] ?? true, direction, schemas) })
      addNullable(ajv, name, direction, schemas)
    }
  }
  return ajv
}

/**
 * Adds a schema that accepts null as well as the component's values. Ajv compiles the schema only if another schema
 * refers to it.
 */
function addNullable(ajv: Ajv2020, name: string, direction: Direction, schemas: Record<string, Schema>): void {
  const schema = orNull(schemas[name] ?? true)
  if (schema === null) return
  // The component itself is checked against the meta-schema, so a second check is not needed.
  const isChecked = false
  ajv.addSchema(
    { $id: nullableId(direction, name), ...projectComponent(schema, direction, schemas) },
    undefined,
    isChecked,
  )
}

export function componentId(direction: Direction, name: string): string {
  return `${direction}:${name}`
}

/**
 * Registers a schema and returns its id for compiling. A bare reference gets its component's id: if the schema were
 * registered again under another name, Ajv's standalone output would declare the same function twice.
 */
export function registerSchema(
  ajv: Ajv2020,
  name: string,
  schema: Schema,
  direction: Direction,
  schemas: Record<string, Schema>,
): string {
  const projected = projectComponent(schema, direction, schemas)
  if (Object.keys(projected).length === 1 && projected.$ref !== undefined) return projected.$ref
  const id = `schema:${name}`
  if (ajv.getSchema(id) === undefined) ajv.addSchema({ $id: id, ...projected })
  return id
}
