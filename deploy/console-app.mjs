// Builds the console's program with Vite into a folder, and compresses its files. If the sources have not changed since
// the build before, its files are copied instead. `node deploy/console-app.mjs FOLDER` builds the program anywhere.
import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { constants, gzipSync } from 'node:zlib'

const root = path.resolve(import.meta.dirname, '..')
const source = path.join(root, 'console/app')
/** The program's sources. The lock file has the packages' versions. */
const inputs = [
  'console/app',
  'console/tokens.css',
  'console/session',
  'generated/clients/typescript',
  'generated/console',
  'deploy/console-app.mjs',
  'package-lock.json',
]
/** Holds the inputs' digest. The server serves only the two pages and `assets`. */
const digestFile = 'sources.digest'

/** Writes the console's files to `folder`. `earlier` is the folder from the build before. */
export async function writeConsole(folder, earlier) {
  const digest = digestOf(inputs)
  if (digest === digestIn(folder)) return
  if (digest === digestIn(earlier)) return cpSync(earlier, folder, { recursive: true })
  await bundle(folder)
  writeSignedOut(folder)
  for (const file of filesIn(folder)) compress(file)
  writeFileSync(path.join(folder, digestFile), digest)
}

/**
 * Bundles the audio worklet with its imports. The files in console/session are also served unbundled, so they name the
 * worklet by its file.
 */
const sessionWorklet = {
  name: 'session-worklet',
  enforce: 'pre',
  transform(code, id) {
    if (!id.endsWith('/console/session/session-audio.js')) return null
    const address = "new URL('session-worklet.js', import.meta.url)"
    if (!code.includes(address)) throw new Error(`${id} does not have ${address}`)
    return `import workletUrl from './session-worklet.js?worker&url'\n${code.replace(address, 'workletUrl')}`
  },
}

async function bundle(folder) {
  // Vite and its React plugin are imported only for a build, because their import takes half a second.
  const [{ build }, { default: react }] = await Promise.all([import('vite'), import('@vitejs/plugin-react')])
  await build({
    configFile: false,
    root: source,
    base: '/console/',
    logLevel: 'warn',
    plugins: [react(), sessionWorklet],
    css: { modules: { generateScopedName: '[name]-[local]-[hash:base64:5]' } },
    // The page's policy refuses inline scripts and styles.
    build: {
      outDir: folder,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      target: 'es2023',
    },
  })
}

/** Writes the page for a browser without a session. The mark tells its program not to ask for the session. */
function writeSignedOut(folder) {
  const page = readFileSync(path.join(folder, 'index.html'), 'utf8')
  const marked = page.replace('<html', '<html data-session="none"')
  if (marked === page) throw new Error('the page of the console has no <html')
  writeFileSync(path.join(folder, 'signed-out.html'), marked)
}

function compress(file) {
  writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: constants.Z_BEST_COMPRESSION }))
}

function digestOf(names) {
  const hash = createHash('sha256')
  for (const name of names)
    for (const file of filesIn(path.join(root, name)))
      hash
        .update(`${path.relative(root, file)}\0`)
        .update(readFileSync(file))
        .update('\0')
  return hash.digest('hex')
}

function digestIn(folder) {
  const file = path.join(folder, digestFile)
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}

/** Lists a folder's files in a fixed order. If `place` is a file, the list has only this file. */
function filesIn(place) {
  if (statSync(place).isFile()) return [place]
  const entries = readdirSync(place, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort()
}

if (process.argv[1] === import.meta.filename) {
  if (process.argv[2] === undefined) {
    console.error('usage: node deploy/console-app.mjs FOLDER')
    process.exit(1)
  }
  await writeConsole(path.resolve(process.argv[2]), '')
}
