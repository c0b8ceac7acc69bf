/**
 * Compiles JSON Schemas (2020-12) of users. Each gets a new instance of Ajv, so that a schema finds nothing of another
 * one by its `$id`, and nothing of it stays.
 */
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { loadAjv } from '../optional.ts'

const draft = 'https://json-schema.org/draft/2020-12/schema'

/** Checks schemas against the meta-schema, which takes 10 ms to compile and is the same for all. */
let metaSchema: Ajv2020 | null = null

/** `strict: false`: keywords that the vocabulary does not have are annotations. */
const options = { strict: false, logger: false, meta: false, validateSchema: false, inlineRefs: false } as const

/**
 * Null: values can be checked with it. The schema is compiled into code, so the calling code bounds its size: 16 KiB take
 * at most 100 ms, and four times as long with the optimiser of Ajv.
 */
export function schemaFault(schema: object): 'malformed' | 'refers_outside' | null {
  if ('$schema' in schema && schema.$schema !== draft && schema.$schema !== `${draft}#`) return 'malformed'
  // A keyword of Ajv's: its checks then answer with a promise.
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
