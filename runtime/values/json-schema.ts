/**
 * Compiles users' JSON Schemas (2020-12). Each schema gets a new Ajv instance, so it cannot refer to another schema by
 * its `$id`, and no memory is kept.
 */
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { loadAjv } from '../optional.ts'

const draft = 'https://json-schema.org/draft/2020-12/schema'

/** Checks schemas against the meta-schema, shared because compiling it takes 10 ms. */
let metaSchema: Ajv2020 | null = null

/** `strict: false`: unknown keywords are annotations. */
const options = { strict: false, logger: false, meta: false, validateSchema: false, inlineRefs: false } as const

/**
 * Returns null if the schema can check values, else its fault. The schema is compiled into code, so the calling code
 * must bound its size: 16 KiB take at most 100 ms, and four times as long with Ajv's optimiser.
 */
export function schemaFault(schema: object): 'malformed' | 'refers_outside' | null {
  if ('$schema' in schema && schema.$schema !== draft && schema.$schema !== `${draft}#`) return 'malformed'
  // `$async` is Ajv's keyword: the checks would then return a promise.
  if ('$async' in schema) return 'malformed'
  const rest = Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== '$schema'))
  const { Ajv2020, MissingRefError } = loadAjv()
  metaSchema ??= new Ajv2020({ strict: false, logger: false })
  if (metaSchema.validateSchema(rest) !== true) return 'malformed'
  try {
    new Ajv2020({ ...options, code: { optimize: false } }).compile(rest)
    return null
  } catch (error) {
    return error instanceof MissingRefError ? 'refers_outside' : 'malformed'
  }
}
