/**
 * The HTTP engine is chosen by the setting and the machine. A rule that depends on the machine is tested only for the
 * machine that runs the test.
 */
import { createHash } from 'node:crypto'
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t from 'tap'
import { binaryPath, load, loadUws } from '../../runtime/listeners/uws/load.ts'
import { sums } from '../../runtime/listeners/uws/sums.ts'
import { chooseEngine, describeEngine } from '../../runtime/server/choose.ts'

const major = Number(process.versions.node.split('.')[0])
const uws = loadUws()

t.test('the setting `engine: auto` selects uWebSockets.js if its unmodified binary can be loaded', (t) => {
  const { engine, reason } = chooseEngine('auto')
  if (major < 22) t.same([engine, /never answers .* x_id/.test(reason ?? '')], ['node', true])
  else if ('problem' in uws) t.same([engine, reason], ['node', uws.problem])
  else t.same([engine, reason], ['uws', null])
  t.end()
})

t.test('the setting `engine` overrides the automatic choice of the HTTP server library', (t) => {
  t.same(chooseEngine('node').engine, 'node')
  if ('problem' in uws) {
    t.match(uws.problem, /^uWebSockets.js (for Node \d+ needs glibc|has no tested build for Node \d+)/)
    t.throws(() => chooseEngine('uws'), { name: 'ConfigError', message: /^PARLEY_ENGINE: uWebSockets.js .* node$/ })
  } else {
    t.equal(chooseEngine('uws').engine, 'uws')
  }
  t.end()
})

t.test('the recorded checksums match the installed binaries for each supported version of Node', (t) => {
  const folder = dirname(binaryPath())
  const wanted = readdirSync(folder).filter((name) => /^uws_.*_(115|127|137|141)\.node$/.test(name))
  t.same(Object.keys(sums).sort(), wanted.sort())
  for (const [name, sum] of Object.entries(sums)) t.equal(sumOf(join(folder, name)), sum, name)
  t.end()
})

t.test('a binary with a wrong checksum is not loaded', (t) => {
  const path = join(t.testdir(), basename(binaryPath()))
  copyFileSync(binaryPath(), path)
  writeFileSync(path, 'x', { flag: 'a' })
  const loaded = load(path)
  t.match(loaded, { isForeign: true, problem: new RegExp(`^the file ${basename(path)} of uWebSockets.js is not`) })
  t.match('problem' in loaded ? loaded.problem : '', sumOf(path))
  t.match(load(join(dirname(path), 'none.node')), { isForeign: false, problem: /has no tested build for Node/ })
  t.end()
})

t.test('a binary for an untested version of Node is not loaded, and not reported as modified', (t) => {
  const name = `uws_${process.platform}_${process.arch}_120.node`
  t.same(sums[name], undefined)
  const loaded = load(join(dirname(binaryPath()), name))
  t.match(loaded, { isForeign: false, problem: /^uWebSockets.js has no tested build for Node/ })
  t.end()
})

function sumOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

t.test('describeEngine returns the name of the engine and the reason for the choice', (t) => {
  t.equal(describeEngine({ engine: 'uws', reason: null }), 'uWebSockets.js')
  t.equal(describeEngine({ engine: 'uws', reason: 'it is old' }), 'uWebSockets.js, although it is old')
  t.equal(describeEngine({ engine: 'node', reason: 'it is new' }), 'node:http with ws, because it is new')
  t.end()
})
