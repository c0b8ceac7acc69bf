import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/**
 * Prevents the build's removal while this process runs from it: deploy/build.mjs checks for files in `servers/`. Does
 * nothing if this user cannot write to the build. The returned function removes the mark.
 */
export function markBuildInUse(buildFolder: string): () => void {
  const file = path.join(buildFolder, 'servers', String(process.pid))
  try {
    writeFileSync(file, '')
  } catch {
    return () => {}
  }
  return () => rmSync(file, { force: true })
}
