/** Limits the metadata that a client attaches to a call or a transfer. */
import type { Issue, ValuePath } from './resource-fault.ts'

/** The limits are small, because metadata is stored with the call and sent with each tool call. */
const metadataMax = { bytes: 16_384, depth: 8 }

export function issuesOfMetadata(metadata: object, path: ValuePath = ['metadata']): Issue[] {
  const { bytes: bytesMax, depth: depthMax } = metadataMax
  if (isDeeper(metadata, depthMax)) return [{ path, problem: { kind: 'json_too_deep', depthMax } }]
  if (Buffer.byteLength(JSON.stringify(metadata)) <= bytesMax) return []
  return [{ path, problem: { kind: 'json_too_large', bytesMax } }]
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}
