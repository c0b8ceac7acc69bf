/** Tests provider keys over several processes of one server. */
import t from 'tap'
import { answer, deleteKey, pinned, putKey, stubProviders } from '../platform/setup.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { freePort, until } from './machine.ts'
import { startParley } from './parley.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())

t.test('a provider key that is stored or deleted in one process takes effect in the others', async (t) => {
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
  // A missing credential is the client's fault and not an outage, so the answer is not 503.
  t.same(await statuses(), [400])
  const all = async (status: number) => (await statuses()).join() === String(status)
  await putKey(shared, 'other', 'shared-key')
  await until('every process knows it', () => all(200))
  await deleteKey(shared, 'other')
  await until('every process has forgotten it', () => all(400))
  t.pass('told by NOTIFY')
})
