/** Makes the API key and the data folder for a test's installation. */
import { mkdtempSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

export const testKey = `sk_live_${'t'.repeat(8)}${'0123456789abcdef'.repeat(2)}`

export function freshDataDir(): string {
  return mkdtempSync(path.join(os.tmpdir(), 'parley-test-'))
}
