/** Provider keys through a change of the master key, and over several processes. */
import t from 'tap'
import { runParley } from '../process/command.ts'
import { freePort, until } from '../process/machine.ts'
import { freshDataDir, startParley } from '../process/parley.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { answer, deleteKey, pinned, putKey, seen, stubProviders } from './setup.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())

t.test('a new master key', async (t) => {
  const dataDir = freshDataDir()
  const [old, new_, stranger] = ['o', 'n', 's'].map((letter) => letter.repeat(32)) as [string, string, string]
  const providers = { PARLEY_PROVIDERS: stubProviders(stub) }
  const start = (env: Record<string, string>) => startParley({ ...providers, ...env }, dataDir)
  const first = await start({ PARLEY_MASTER_KEY: old })
  await putKey(first, 'other', 'kept-key')
  await first.stop()

  await t.test('without the old one logs an error, and serves the rest', async (t) => {
    const wrong = await start({ PARLEY_MASTER_KEY: stranger, PARLEY_LOG_LEVEL: 'error' })
    t.match((await answer(wrong, pinned('other/chat'))).json(), { error: { code: 'provider_unavailable' } })
    t.equal((await answer(wrong, pinned('main/chat'))).status, 200)
    await wrong.stop()
    t.match(wrong.output(), /sealed with another master key: set PARLEY_MASTER_KEY/)
    t.notMatch(wrong.output(), /kept-key/)
  })

  await t.test('beside the old one opens sealed keys, and `parley keys reseal` moves them', async (t) => {
    const env = { PARLEY_MASTER_KEY: new_, PARLEY_PREVIOUS_MASTER_KEYS: `${stranger},${old}` }
    const both = await start(env)
    t.equal((await answer(both, pinned('other/chat'))).status, 200)
    await both.stop()
    t.match(await runParley(['keys', 'reseal'], { dataDir, env }), { code: 0, stdout: /^1 moved/ })
    t.match(await runParley(['keys', 'reseal'], { dataDir, env: { PARLEY_MASTER_KEY: old } }), { code: 1 })
    const after = await start({ PARLEY_MASTER_KEY: new_ })
    stub.requests.length = 0
    t.equal((await answer(after, pinned('other/chat'))).status, 200)
    t.same(seen(stub.requests), ['other kept-key'])
    await after.remove()
  })
})

t.test('several processes: a key that is put or deleted in one is known in the others', async (t) => {
  const shared = await startParley({
    PARLEY_PROVIDERS: stubProviders(stub),
    PARLEY_PORT: String(await freePort()),
    PARLEY_PROCESSES: '2',
  })
  t.teardown(() => shared.remove())
  const statuses = async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => answer(shared, pinned('other/chat'))))
    return [...new Set(all.map(({ status }) => status))]
  }
  // A lacking credential is no outage, so it is no 503.
  t.same(await statuses(), [400])
  const all = async (status: number) => (await statuses()).join() === String(status)
  await putKey(shared, 'other', 'shared-key')
  await until('every process knows it', () => all(200))
  await deleteKey(shared, 'other')
  await until('every process has forgotten it', () => all(400))
  t.pass('told by NOTIFY')
})
