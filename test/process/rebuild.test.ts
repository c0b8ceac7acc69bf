/** Tests builds while a server runs from the earlier build. */
import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { freshDataDir } from '../installation.ts'
import { postJson, speech, transcribe } from '../router/requests.ts'
import { readFixture } from '../speech/fixtures.ts'
import { entry, startParley } from './parley.ts'

/**
 * Makes a checkout with the present build and a source that is one line, so the next build shares no module with the
 * present one.
 */
function checkout(): string {
  const root = path.resolve(import.meta.dirname, '../..')
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-checkout-'))
  for (const name of [
    'package.json',
    'tsconfig.json',
    'deploy',
    'console/session',
    'console/try',
    'console/tokens.css',
    'providers/catalog',
  ])
    cpSync(path.join(root, name), path.join(folder, name), {
      recursive: true,
      filter: (file) => !/providers\/.*\.ts$/.test(file),
    })
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  const build = path.dirname(realpathSync(entry))
  // The folder `servers` lists servers on the present build, so it is not copied.
  const filter = (file: string) => path.relative(build, file) !== 'servers'
  cpSync(build, path.join(folder, 'dist-first'), { recursive: true, filter })
  mkdirSync(path.join(folder, 'dist-first/servers'))
  symlinkSync('dist-first', path.join(folder, 'dist'))
  writeFileSync(path.join(folder, 'main.ts'), "console.log('the new build')\n")
  mkdirSync(path.join(folder, 'providers/local'))
  for (const engine of ['stt', 'stt-live', 'tts', 'vad'])
    writeFileSync(path.join(folder, `providers/local/${engine}-child.ts`), '')
  // The checkout has no contracts and no console sources, so these files replace the build steps for the documentation
  // and the console.
  writeFileSync(path.join(folder, 'deploy/docs-pages.mjs'), 'export function writeDocsPages() {}\n')
  writeFileSync(path.join(folder, 'deploy/console-app.mjs'), 'export function writeConsole() {}\n')
  return folder
}

t.test('a rebuild does not remove the modules and speech engines of a running server', async (t) => {
  const folder = checkout()
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const program = path.join(folder, 'dist/main.js')
  const parley = await startParley({}, freshDataDir(), ['up'], program)
  t.teardown(() => parley.remove())
  const rebuild = () => execFileSync(process.execPath, [path.join(folder, 'deploy/build.mjs')])
  const builds = () => readdirSync(folder).filter((name) => name.startsWith('dist-'))

  for (let round = 0; round < 4; round++) rebuild()
  t.equal(execFileSync(process.execPath, [program]).toString(), 'the new build\n')
  t.equal(builds().length, 4, 'the build of the server, the newest one and two before it')
  const [transcript, spoken] = await Promise.all([
    transcribe(parley, readFixture('privacy-prompt')),
    postJson(parley, speech, { input: 'Hello.' }),
  ])
  t.same([transcript.status, spoken.status], [200, 200])

  await parley.stop()
  rebuild()
  t.notOk(existsSync(path.join(folder, 'dist-first')), 'nothing runs from the first build any more')
  writeFileSync(path.join(folder, 'main.ts'), 'const wrong =\n')
  const before = builds()
  t.throws(() => execFileSync(process.execPath, [path.join(folder, 'deploy/build.mjs')], { stdio: 'ignore' }))
  t.same(builds(), before, 'a build that fails changes nothing')
  t.equal(execFileSync(process.execPath, [program]).toString(), 'the new build\n')
})

t.test('a build folder from an earlier version is replaced by a link', (t) => {
  const folder = checkout()
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  rmSync(path.join(folder, 'dist'))
  cpSync(path.join(folder, 'dist-first'), path.join(folder, 'dist'), { recursive: true })
  execFileSync(process.execPath, [path.join(folder, 'deploy/build.mjs')])
  t.equal(execFileSync(process.execPath, [path.join(folder, 'dist/main.js')]).toString(), 'the new build\n')
  t.end()
})

t.test('two simultaneous builds leave a program that runs', async (t) => {
  const folder = checkout()
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  // This link points to a removed folder: a build has died after it made the link and before it renamed the link.
  symlinkSync('dist-gone', path.join(folder, 'dist-gone.link'))
  const build = promisify(execFile)
  await Promise.all([1, 2].map(() => build(process.execPath, [path.join(folder, 'deploy/build.mjs')])))
  t.equal(execFileSync(process.execPath, [path.join(folder, 'dist/main.js')]).toString(), 'the new build\n')
})
