import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/**
 * Keeps the build from being removed while this process runs from it: deploy/build.mjs looks for the files in
 * `servers/`. A build that this user cannot write is left alone. The returned function takes the mark away.
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
