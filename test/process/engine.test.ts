/** Tests that a running Parley names its HTTP engine, and the reason for the choice. */
import t from 'tap'
import { chooseEngine, describeEngine, type EngineChoice } from '../../runtime/server/choose.ts'
import { freshDataDir } from '../installation.ts'
import { runParley } from './command.ts'
import { freePort } from './machine.ts'
import { startParley } from './parley.ts'

for (const setting of ['auto', 'node'] as const) {
  t.test(`with PARLEY_ENGINE=${setting} the output, /readyz and the metrics name the engine`, async (t) => {
    const choice: EngineChoice = chooseEngine(setting)
    const adminPort = await freePort()
    const parley = await startParley({ PARLEY_ENGINE: setting, PARLEY_ADMIN_PORT: String(adminPort) })
    t.teardown(() => parley.remove())
    t.match(parley.output(), `It serves over ${describeEngine(choice)}.\n`)
    const ready: unknown = await (await fetch(`${parley.url}/readyz`)).json()
    t.match(ready, { ready: true, engine: { name: choice.engine, reason: choice.reason } })
    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
    t.match(metrics, `parley_engine_info{engine="${choice.engine}",reason="${choice.reason ?? ''}"} 1`)
  })
}

t.test('an unknown value of PARLEY_ENGINE is refused', async (t) => {
  const { code, stderr } = await runParley(['up'], { dataDir: freshDataDir(), env: { PARLEY_ENGINE: 'apache' } })
  t.equal(code, 1)
  t.match(stderr, /^parley: PARLEY_ENGINE/)
})
