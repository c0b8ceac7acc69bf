/** Writes the documentation into a new folder, as the build does. */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { readContract } from '../../codegen/pages/read-contract.ts'
import { writeSite } from '../../codegen/pages/site.ts'
import { compatContract } from '../../generated/compat/contract.ts'
import { platformContract } from '../../generated/platform/contract.ts'
import { realtimeContract } from '../../generated/realtime/contract.ts'
import { routerContract } from '../../generated/router/contract.ts'
import { sessionContract } from '../../generated/session/contract.ts'

const texts = {
  router: routerContract,
  compat: compatContract,
  realtime: realtimeContract,
  platform: platformContract,
  session: sessionContract,
}

export const contracts = Object.entries(texts).map(([name, text]) => readContract(name, text))

export function writtenSite(teardown: (remove: () => void) => void): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-docs-'))
  teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeSite(folder, texts, path.resolve(import.meta.dirname, '../..'))
  return folder
}
