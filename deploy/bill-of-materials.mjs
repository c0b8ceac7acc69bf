// Writes the bill of materials (CycloneDX) by npm, and adds the engine's binary with its SHA-256. `make sbom` lists the
// product packages in the lock file. assemble.mjs lists the copied packages.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
const engineFolder = 'node_modules/uWebSockets.js'
export const engineBinary = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`

if (process.argv[1] === import.meta.filename) {
  const file = path.resolve(process.argv[2] ?? path.join(root, 'sbom.cdx.json'))
  const { components } = writeBill(root, file, ['--package-lock-only', '--omit=dev'])
  console.log(`${file}: ${components.length} components`)
}

/** Writes the bill for `folder` and returns it. Throws if npm fails. */
export function writeBill(folder, file, more = []) {
  const args = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application', ...more]
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: 64 << 20 })
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr.trim()}`)
  const bill = JSON.parse(stdout)
  // npm names the product after its folder, and each deployer chooses another folder.
  bill.metadata.component.name = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')).name
  bill.components.push(...engineComponents(folder))
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`)
  return bill
}

/** Returns the engine's binary for this system as a component. Empty if there is no such binary. */
function engineComponents(folder) {
  const file = path.join(folder, engineFolder, engineBinary)
  if (!existsSync(file)) return []
  const content = createHash('sha256').update(readFileSync(file)).digest('hex')
  return [
    { type: 'file', name: engineBinary, 'bom-ref': `file:${engineBinary}`, hashes: [{ alg: 'SHA-256', content }] },
  ]
}
