// Builds the product into a folder `dist-…` and then points the link `dist` to it. A server loads some of its modules
// and starts its speech engines when they are first needed, so a rebuild must not touch the folder that it runs from.
// An older build is removed when no server runs from it any more: a server keeps a file with its process id in `servers/`.
import { spawnSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
const link = path.join(root, 'dist')
/** Builds that stay although no server is known to run from them: one can belong to another user, or just be starting. */
const keptBuilds = 2

build()
removeUnused()

function build() {
  // Two builds can begin in the same millisecond.
  const name = `dist-${Date.now().toString(36)}-${process.pid}`
  const folder = path.join(root, name)
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
  const args = [compiler, '-p', path.join(root, 'tsconfig.build.json'), '--outDir', folder]
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (status !== 0) {
    rmSync(folder, { recursive: true, force: true })
    process.exit(1)
  }
  chmodSync(path.join(folder, 'main.js'), 0o755)
  mkdirSync(path.join(folder, 'servers'))
  // A rename replaces the link in one step. It cannot replace a folder, which an earlier version or `tsc` has made.
  if (lstatSync(link, { throwIfNoEntry: false })?.isDirectory()) renameSync(link, `${folder}-before`)
  symlinkSync(name, `${folder}.link`)
  renameSync(`${folder}.link`, link)
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
