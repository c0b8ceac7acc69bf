// Writes the documentation's pages from the bundled contracts and the guides. The writer is TypeScript, so esbuild
// bundles it first. `node deploy/docs-pages.mjs FOLDER` writes them anywhere, for a server of static files.
import { mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'

const root = path.resolve(import.meta.dirname, '..')
/** The APIs with pages, in the start page's order. Clients do not use the other APIs. */
const surfaces = ['router', 'compat', 'realtime', 'platform', 'session']

/** Removes the folder's earlier pages. */
export async function writeDocsPages(folder) {
  const { writeSite, contracts } = await import(`data:text/javascript;base64,${await bundle()}`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeSite(folder, contracts, root)
}

/** Returns the writer and the contracts as one module in base64, so no file is left if the build is interrupted. */
async function bundle() {
  const imports = surfaces.map((name) => `import { ${name}Contract } from './generated/${name}/contract.ts'\n`).join('')
  const names = surfaces.map((name) => `${name}: ${name}Contract`).join(', ')
  const contents = `${imports}export { writeSite } from './codegen/pages/site.ts'\nexport const contracts = { ${names} }\n`
  const { outputFiles } = await build({
    absWorkingDir: root,
    stdin: { contents, resolveDir: root, loader: 'ts' },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  })
  return Buffer.from(outputFiles[0].contents).toString('base64')
}

if (process.argv[1] === import.meta.filename) {
  if (process.argv[2] === undefined) {
    console.error('usage: node deploy/docs-pages.mjs FOLDER')
    process.exit(1)
  }
  await writeDocsPages(path.resolve(process.argv[2]))
}
