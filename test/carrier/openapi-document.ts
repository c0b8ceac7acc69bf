/**
 * Finds the carrier's published OpenAPI document, whole or in part. We may not publish it, so the project has no copy:
 * an environment variable names a copy, or a copy lies beside the checkout.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

export type Json = { [name: string]: unknown }

const file = process.env['PARLEY_CARRIER_OPENAPI'] || besideCheckout()

/** The reason for a test's option `skip` if the document is missing, otherwise false. */
export const withoutDocument =
  file === null &&
  'the OpenAPI document of the carrier is not here: download openapi/spec3.json of github.com/team-telnyx/openapi, and run make test-all LANE=carrier PARLEY_CARRIER_OPENAPI=FILE'

export function readDocument(): Json {
  if (file === null) throw new Error(String(withoutDocument))
  return JSON.parse(readFileSync(file, 'utf8')) as Json
}

/** Looks for the document, or a part, in the folders beside the checkout. */
function besideCheckout(): string | null {
  const around = path.resolve(import.meta.dirname, '../../..')
  const places = readdirSync(around).flatMap((folder) =>
    ['spec3.json', 'spec-pruned.json'].map((name) => path.join(around, folder, 'telnyx', name)),
  )
  return places.find((place) => existsSync(place)) ?? null
}

export const lookUp = (document: Json, keys: readonly string[]): unknown =>
  keys.reduce<unknown>((value, key) => (value as Json | undefined)?.[key], document)
