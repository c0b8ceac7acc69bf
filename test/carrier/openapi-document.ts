/**
 * The published OpenAPI document of the carrier, whole or in part. It is not ours to publish, so it is no file of this
 * project: a variable names a copy, or a copy lies beside the checkout.
 */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

export type Json = { [name: string]: unknown }

const beside = path.resolve(import.meta.dirname, '../../../shared/telnyx/spec-pruned.json')
const file = process.env['PARLEY_CARRIER_OPENAPI'] || (existsSync(beside) ? beside : null)

/** For the option `skip` of a test. */
export const withoutDocument =
  file === null &&
  'the OpenAPI document of the carrier is not here: download openapi/spec3.json of github.com/team-telnyx/openapi, and run make carrier-openapi PARLEY_CARRIER_OPENAPI=FILE'

export function readDocument(): Json {
  if (file === null) throw new Error(String(withoutDocument))
  return JSON.parse(readFileSync(file, 'utf8')) as Json
}

export const lookUp = (document: Json, keys: readonly string[]): unknown =>
  keys.reduce<unknown>((value, key) => (value as Json | undefined)?.[key], document)
