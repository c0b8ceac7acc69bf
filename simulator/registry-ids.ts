/**
 * Makes and reads brand and campaign ids. The ids are UUIDs (RFC 9562, version 8) and contain the review's outcome, so
 * every process gives the same answer, even after a restart.
 *
 *   byte   0 … 5    6      7     8      9        10 … 15
 *          ms       0x80   kind  0x80   outcome  random
 */
import { randomBytes } from 'node:crypto'

const kinds = { brand: 1, campaign: 2 } as const
const form = /^[0-9a-f]{8}-[0-9a-f]{4}-80[0-9a-f]{2}-80[0-9a-f]{2}-[0-9a-f]{12}$/

export type RegistryEntry<Outcome> = { id: string; outcome: Outcome; createdAtMs: number }

export function newEntry<Outcome extends string>(
  kind: keyof typeof kinds,
  outcomes: readonly Outcome[],
  outcome: Outcome,
  createdAtMs: number,
): RegistryEntry<Outcome> {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(createdAtMs, 0, 6)
  bytes.writeUInt32BE(((0x80 << 24) | (kinds[kind] << 16) | (0x80 << 8) | outcomes.indexOf(outcome)) >>> 0, 6)
  const id = bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return { id, outcome, createdAtMs }
}

/** Reads an id. Returns null if the id does not belong to this kind (brand or campaign). */
export function entryOf<Outcome extends string>(
  kind: keyof typeof kinds,
  outcomes: readonly Outcome[],
  id: string,
): RegistryEntry<Outcome> | null {
  if (!form.test(id)) return null
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex')
  const outcome = bytes[7] === kinds[kind] ? outcomes[bytes[9]!] : undefined
  return outcome === undefined ? null : { id, outcome, createdAtMs: bytes.readUIntBE(0, 6) }
}
