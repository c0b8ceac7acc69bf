/** The engine is chosen by the setting and the machine. Rules that depend on the machine are tested on this machine. */
import t from 'tap'
import { loadUws } from '../../runtime/listeners/uws/load.ts'
import { chooseEngine, describeEngine } from '../../runtime/server/choose.ts'

const major = Number(process.versions.node.split('.')[0])
const uws = loadUws()

t.test('engine auto chooses uWebSockets.js if its intact build loads', (t) => {
  const { engine, reason } = chooseEngine('auto')
  if (major < 22) t.same([engine, /never answers .* x_id/.test(reason ?? '')], ['node', true])
  else if ('problem' in uws) t.same([engine, reason], ['node', uws.problem])
  else t.same([engine, reason], ['uws', null])
  t.end()
})

t.test('the setting engine overrides the automatic choice', (t) => {
  t.same(chooseEngine('node').engine, 'node')
  if ('problem' in uws) {
    t.match(uws.problem, /^uWebSockets.js (for Node \d+ needs glibc|has no build for Node \d+)/)
    t.throws(() => chooseEngine('uws'), { name: 'ConfigError', message: /^PARLEY_ENGINE: uWebSockets.js .* node$/ })
  } else {
    t.equal(chooseEngine('uws').engine, 'uws')
  }
  t.end()
})

t.test('describeEngine gives the running engine and the reason', (t) => {
  t.equal(describeEngine({ engine: 'uws', reason: null }), 'uWebSockets.js')
  t.equal(describeEngine({ engine: 'uws', reason: 'it is old' }), 'uWebSockets.js, although it is old')
  t.equal(describeEngine({ engine: 'node', reason: 'it is new' }), 'node:http with ws, because it is new')
  t.end()
})
