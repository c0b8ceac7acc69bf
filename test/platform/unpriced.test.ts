/** Tests a model without a known price for an organization without credit, on a server that requires some credit. */
import t from 'tap'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { answer, pinned, platformKey, putKey, startAdministered, stubProviders } from './setup.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const { admin } = await startAdministered(t, {
  PARLEY_PROVIDERS: stubProviders(stub),
  PARLEY_BILLING_UNPRICED_NEEDS_CREDIT: 'true',
})

t.test('a request to a model without a known price requires credit, but is not charged', async (t) => {
  const poor = await admin.organization('poor', { scopes: ['router', 'platform', 'admin'], creditMicroUsd: 0 })
  const refused = await answer(poor, pinned('main/chat'))
  t.match([refused.status, refused.json()], [402, { error: { code: 'insufficient_credit' } }])
  t.equal(stub.requests.length, 0)
  await admin.store.organizations.addCredit(poor.id, 1)
  t.equal((await answer(poor, pinned('main/chat'))).status, 200)
  await admin.store.organizations.addCredit(poor.id, -1)
  t.equal((await putKey(poor, 'main', platformKey)).status, 200)
  t.equal((await answer(poor, pinned('main/chat'))).status, 200, 'its own key needs none')
})
