/**
 * Generates generated/, docs/errors.md and docs/errors/ from specs/. `tsx codegen/main.ts` writes the files. With
 * `--check` it only lists the files that would change, and fails if there are any. It needs no network, and the same
 * specs always give the same bytes.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type Files,
  type Generated,
  generateChannels,
  generateShared,
  generateSurface,
  type Layout,
} from './generate.ts'
import { generateConfig, generateSchema } from './generate-schema.ts'
import { documentName, readShared, type Source } from './load.ts'
import { formatProblem } from './rules.ts'
import { emitClients } from './targets/clients.ts'
import { emitSnippets } from './targets/snippets.ts'
import { emitClientPackage, type PackageFacts } from './targets/typescript/client-package.ts'

const root = join(import.meta.dirname, '..')
const runtimePath = '../../runtime'
const sharedFile = 'shared.yaml'
/** The APIs without generated clients: only this server's pages and carriers call them. */
const withoutClient = new Set(['internal', 'carrier'])
/** The APIs whose operations the console's pages use. */
const ofConsole = new Set(['platform', 'compat', 'router'])
/** The APIs with separate error codes. The other APIs have no error codes, or use the router's error codes. */
const withErrorPages = new Set(['router', 'platform', 'realtime', 'session'])
const errorsFolder = 'docs/errors'
const clientFolder = 'generated/clients/typescript'

const shared = readShared(readFileSync(join(root, 'specs', sharedFile), 'utf8'))
const { files, problems } = await generateAll()
const changed = [...files.keys()].filter((file) => readOrNull(file) !== files.get(file))
// If any document has problems, no generated file is deleted.
const stale = problems.length > 0 ? [] : listGenerated().filter((file) => !files.has(file))
const complaints = problems.map(formatProblem)
if (process.argv.includes('--check')) complaints.push(...drift())
else write()
for (const complaint of complaints) console.error(complaint)
process.exitCode = complaints.length > 0 ? 1 : 0

async function generateAll(): Promise<Generated> {
  const specs = readdirSync(join(root, 'specs')).sort()
  const surfaces = specs.filter((file) => file.endsWith('.openapi.yaml')).map(generateSpec)
  const config = generateConfig(readSpec('config.schema.yaml'), 'generated/config', runtimePath)
  const catalog = generateSchema(readSpec('catalog.schema.yaml'), 'catalog', 'generated/catalog', runtimePath)
  const policy = generateSchema(readSpec('key-policy.schema.yaml'), 'key-policy', 'generated/key-policy', runtimePath)
  const sockets = specs.filter((file) => file.endsWith('.asyncapi.yaml')).map(generateSockets)
  const components = generateShared(readSpec(sharedFile), 'generated/shared')
  const all = [...(await Promise.all([...surfaces, ...sockets])), config, catalog, policy, components]
  const documented = all.flatMap(({ clients }) => clients ?? [])
  const clients = emitClients(documented.map(({ surface }) => surface))
  const files: Files = new Map([...all.flatMap((one) => [...one.files]), ...clients, ...emitSnippets(documented)])
  for (const [file, text] of emitClientPackage(packageFacts())) files.set(`${clientFolder}/${file}`, text)
  return { files, problems: all.flatMap((one) => one.problems) }
}

function packageFacts(): PackageFacts {
  const { version, license, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string
    license: string
    devDependencies: { typescript: string }
  }
  return { version, license, typescriptVersion: devDependencies.typescript }
}

function generateSpec(spec: string): Promise<Generated> {
  return generateSurface(readSpec(spec), layoutOf(documentName(spec)))
}

function generateSockets(spec: string): Promise<Generated> {
  return generateChannels(readSpec(spec), layoutOf(documentName(spec)))
}

function layoutOf(name: string): Layout {
  return {
    folder: `generated/${name}`,
    runtimePath,
    sharedModule: '../shared/types.ts',
    clientFolder: withoutClient.has(name) ? null : clientFolder,
    ...(name === 'internal' && { consoleFolder: 'generated/console' }),
    ...(ofConsole.has(name) && { rolesFolder: 'generated/console' }),
    docsFolder: name === 'router' ? 'docs' : null,
    errorsFolder: withErrorPages.has(name) ? errorsFolder : null,
  }
}

function drift(): string[] {
  return [
    ...changed.map((file) => `${file} is not what specs/ say; run codegen and commit the result`),
    ...stale.map((file) => `${file} comes from no spec; run codegen, which deletes it`),
  ]
}

function write(): void {
  for (const file of stale) rmSync(join(root, file))
  for (const file of changed) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), files.get(file) ?? '')
  }
  for (const file of [...changed, ...stale]) console.log(file)
}

function readSpec(spec: string): Source {
  const path = join(root, 'specs', spec)
  return { text: readFileSync(path, 'utf8'), file: `specs/${spec}`, path, shared }
}

function listGenerated(): string[] {
  const entries = ['generated', ...[...withErrorPages].map((name) => `${errorsFolder}/${name}`)].flatMap((folder) =>
    existsSync(join(root, folder)) ? readdirSync(join(root, folder), { recursive: true, withFileTypes: true }) : [],
  )
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return paths.map((path) => path.slice(root.length + 1)).sort()
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(join(root, file), 'utf8')
  } catch {
    return null
  }
}
