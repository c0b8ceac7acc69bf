/** Lists the files of a folder that the build has written, and answers conditional requests for files. */
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import path from 'node:path'

/** Lists the files with their paths in the folder. Empty if there is no folder. */
export function listFiles(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile())
    return files.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

export const tagOf = (body: Uint8Array) => `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`

/**
 * Returns true if `known` (the value of `If-None-Match`) contains the file's ETag, so the client already has the file.
 * The comparison is weak, and `*` means any ETag (RFC 9110, 13.1.2).
 */
export function isKnown(known: string, tag: string): boolean {
  const tags = known.split(',').map((each) => each.trim().replace(/^W\//, ''))
  return tags.includes(tag) || tags.includes('*')
}
