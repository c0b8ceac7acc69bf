// Builds the product into a folder `dist-…` and then points the link `dist` to it. A server loads some of its modules
// and starts its speech engines when they are first needed, so a rebuild must not touch the folder that it runs from.
// An older build is removed when no server runs from it any more: a server keeps a file with its process id in `servers/`.
import { chmodSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'

const root = path.resolve(import.meta.dirname, '..')
const link = path.join(root, 'dist')
/** The program, and the processes of the speech engines that it starts. */
const entryPoints = [
  'main.ts',
  ...['stt', 'stt-live', 'tts', 'vad'].map((engine) => `providers/local/${engine}-child.ts`),
]
/** Builds that stay although no server is known to run from them: one can belong to another user, or just be starting. */
const keptBuilds = 2

await buildIntoNewFolder()
removeUnused()

/** Types are checked by `make types`: it takes half a minute, and a build a second. */
async function buildIntoNewFolder() {
  // Two builds can begin in the same millisecond.
  const name = `dist-${Date.now().toString(36)}-${process.pid}`
  const folder = path.join(root, name)
  await bundle(folder)
  chmodSync(path.join(folder, 'main.js'), 0o755)
  mkdirSync(path.join(folder, 'servers'))
  // A rename replaces the link in one step. It cannot replace a folder, which an earlier version or `tsc` has made.
  if (lstatSync(link, { throwIfNoEntry: false })?.isDirectory()) renameSync(link, `${folder}-before`)
  symlinkSync(name, `${folder}.link`)
  renameSync(`${folder}.link`, link)
}

/** A few files in place of a thousand: a command takes a third less time. Packages stay where npm has put them. */
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
      // Only the sources use it: they check what they send against the contract.
      external: ['./app/answer-checks.ts'],
      platform: 'node',
      format: 'esm',
      sourcemap: 'linked',
    })
  } catch {
    // It has printed why.
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
    // Another build can have removed one meanwhile.
    .filter(({ stat }) => stat !== undefined)
    .sort((a, b) => b.stat.mtimeMs - a.stat.mtimeMs)
  for (const { folder } of builds.slice(1 + keptBuilds))
    if (!servers(folder).some(isAlive)) rmSync(folder, { recursive: true, force: true })
}

function servers(folder) {
  try {
    return readdirSync(path.join(folder, 'servers')).map(Number)
  } catch {
    return [] // A build of an earlier version.
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
