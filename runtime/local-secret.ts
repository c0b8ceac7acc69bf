import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { makeDataDir } from './data-dir.ts'

/** A secret of this data folder, readable by its owner alone. Made with `make` on the first call. */
export function localSecret(dataDir: string, name: string, make: () => string): string {
  const file = path.join(dataDir, name)
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  makeDataDir(dataDir)
  const secret = make()
  writeFileSync(file, `${secret}\n`, { mode: 0o600 })
  // The mode above applies to a new file only. A file that another process has just made would keep its wider mode.
  chmodSync(file, 0o600)
  return secret
}

/** Null when this data folder has no such secret. */
export function readLocalSecret(dataDir: string, name: string): string | null {
  try {
    return readFileSync(path.join(dataDir, name), 'utf8').trim() || null
  } catch {
    return null
  }
}
