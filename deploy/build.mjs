// Builds the product into a folder `dist-…` and then points the link `dist` to it. A server loads some modules and
// starts its speech engines when they are first needed, so a rebuild must not touch the running server's folder. An
// older build is removed when no server runs from it: a running server keeps a file with its process id in `servers/`.
import { chmodSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { writeConsole } from './console-app.mjs'
import { writeDocsPages } from './docs-pages.mjs'

const root = path.resolve(import.meta.dirname, '..')
const link = path.join(root, 'dist')
const engines = 'providers/local'
/** The program, and the speech engines' child processes. */
const entryPoints = [
  'main.ts',
  ...readdirSync(path.join(root, engines), { recursive: true })
    .filter((file) => file.endsWith('-child.ts'))
    .map((file) => path.join(engines, file)),
]
/**
 * Older builds to keep even without a known server: a build's server may belong to another user, or may just be
 * starting.
 */
const keptBuilds = 2

await buildIntoNewFolder()
removeUnused()

/** Builds without checking types: `make lint` checks them in half a minute, and a build takes only a second. */
async function buildIntoNewFolder() {
  // Two builds can begin in the same millisecond.
  const name = `dist-${Date.now().toString(36)}-${process.pid}`
  const folder = path.join(root, name)
  await bundle(folder)
  await writeDocsPages(path.join(folder, 'docs'))
  await writeConsole(path.join(folder, 'console'), path.join(link, 'console'))
  chmodSync(path.join(folder, 'main.js'), 0o755)
  mkdirSync(path.join(folder, 'servers'))
  // A rename replaces the link in one step. It cannot replace a folder, which an earlier version or `tsc` may have
  // left.
  if (lstatSync(link, { throwIfNoEntry: false })?.isDirectory()) renameSync(link, `${folder}-before`)
  symlinkSync(name, `${folder}.link`)
  renameSync(`${folder}.link`, link)
}

/**
 * Bundles the sources into a few files instead of a thousand, so a command takes a third less time. Packages stay where
 * npm has put them.
 */
async function bundle(folder) {
  try {
    await build({
      absWorkingDir: root,
      entryPoints,
      outdir: folder,
      entryNames: '[name]',
      bundle: true,
      splitting: true,
      packages: 'external',
      // Only unbuilt sources load this module, to check their answers against the contract.
      external: ['./app/answer-checks.ts'],
      platform: 'node',
      format: 'esm',
      sourcemap: 'linked',
    })
  } catch {
    // esbuild has already printed the reason.
    rmSync(folder, { recursive: true, force: true })
    process.exit(1)
  }
}

function removeUnused() {
  const builds = readdirSync(root)
    .filter((name) => name.startsWith('dist-') && !name.endsWith('.link'))
    .map((name) => ({
      folder: path.join(root, name),
      stat: statSync(path.join(root, name), { throwIfNoEntry: false }),
    }))
    // Another build can have removed an old folder meanwhile.
    .filter(({ stat }) => stat !== undefined)
    .sort((a, b) => b.stat.mtimeMs - a.stat.mtimeMs)
  for (const { folder } of builds.slice(1 + keptBuilds))
    if (!servers(folder).some(isAlive)) rmSync(folder, { recursive: true, force: true })
}

function servers(folder) {
  try {
    return readdirSync(path.join(folder, 'servers')).map(Number)
  } catch {
    return [] // A build by an earlier version has no folder `servers`.
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
