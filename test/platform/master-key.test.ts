/** Tests sealed provider keys before and after a change of the master key. */
import t from 'tap'
import { runCommand } from '../command.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { ownServer, type Settings } from '../server.ts'
import { TestCluster } from '../store/cluster.ts'
import { answer, call, pinned, putKey, seen, stubProviders } from './setup.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())

t.test('with a new master key, stored keys can be decrypted only if the old key is configured too', async (t) => {
  const cluster = await TestCluster.start()
  t.teardown(() => cluster.stop())
  const stored = { DATABASE_URL: await cluster.database() }
  const [old, new_, stranger] = ['o', 'n', 's'].map((letter) => letter.repeat(32)) as [string, string, string]
  const providers = { PARLEY_PROVIDERS: stubProviders(stub) }
  const start = (env: Settings) => ownServer(t, { ...providers, ...stored, ...env })
  const first = await start({ PARLEY_MASTER_KEY: old })
  await putKey(first, 'other', 'kept-key')
  t.equal((await call(first, 'GET', '/v1/webhook-secret')).status, 200)
  await first.stop()

  await t.test('without the old master key, requests with a stored key fail, and an error is logged', async (t) => {
    const wrong = await start({ PARLEY_MASTER_KEY: stranger, PARLEY_LOG_LEVEL: 'error' })
    const refused = (await answer(wrong, pinned('other/chat'))).json<{ error: { code: string; hint: string } }>()
    t.match(refused.error, {
      code: 'provider_unavailable',
      message: /stored for other cannot be opened by this server/,
    })
    t.match(refused.error.hint, /^Store the key again, or tell the operator: the server has another master key/)
    t.equal((await answer(wrong, pinned('main/chat'))).status, 200)
    const secret = (await call(wrong, 'GET', '/v1/webhook-secret')).json<{ error: string; code: string }>()
    t.match(secret, {
      code: 'INTERNAL_ERROR',
      error: /stored secret .* cannot be opened by this server\. Tell the operator/,
    })
    await wrong.stop()
    t.match(wrong.output(), /"reason":"It was sealed with another master key .*"a secret does not open"/)
    t.notMatch(wrong.output(), /"stack"/)
    t.match(wrong.output(), /sealed with another master key: set PARLEY_MASTER_KEY/)
    t.notMatch(wrong.output(), /kept-key/)
  })

  await t.test('`parley doctor` reports a changed master key', async (t) => {
    const doctor = (env: Settings) => runCommand(first, ['doctor'], { ...stored, PARLEY_PORT: '0', ...env })
    const wrong = await doctor({ PARLEY_MASTER_KEY: stranger })
    t.equal(wrong.code, 1)
    t.match(
      wrong.stdout,
      /^FAIL {2}master key: 2 secrets were sealed with another master key\n.*PARLEY_PREVIOUS_MASTER_KEYS/m,
    )
    t.match((await doctor({})).stdout, /^FAIL {2}master key/m, 'without a key, doctor fails too')
    for (const env of [
      { PARLEY_MASTER_KEY: old },
      { PARLEY_MASTER_KEY: new_, PARLEY_PREVIOUS_MASTER_KEYS: `${stranger},${old}` },
    ])
      t.match(await doctor(env), { code: 0, stdout: /^ok {4}master key: it opens every sealed secret$/m })
  })

  await t.test('if both master keys are set, stored keys work, and `keys reseal` re-encrypts them', async (t) => {
    const env = { PARLEY_MASTER_KEY: new_, PARLEY_PREVIOUS_MASTER_KEYS: `${stranger},${old}` }
    const both = await start(env)
    t.equal((await answer(both, pinned('other/chat'))).status, 200)
    await both.stop()
    t.match(await runCommand(both, ['keys', 'reseal'], env), { code: 0, stdout: /^2 moved/ })
    t.match(await runCommand(both, ['keys', 'reseal'], { PARLEY_MASTER_KEY: old }), { code: 1 })
    const after = await start({ PARLEY_MASTER_KEY: new_ })
    stub.requests.length = 0
    t.equal((await answer(after, pinned('other/chat'))).status, 200)
    t.same(seen(stub.requests), ['other kept-key'])
    await after.stop()
  })
})
