/** The credit and its movements over the public API, and the command to show them. */
import t from 'tap'
import { runCommand } from '../command.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)

type Credits = { creditMicroUsd: string; movements: { id: string; microUsd: string }[]; nextCursor: string | null }

t.test('getCredits shows the balance and pages of credit movements, and nothing of other organizations', async (t) => {
  const acme = await admin.organization('acme', { creditMicroUsd: 0 })
  t.same((await call(acme, 'GET', '/v1/credits')).json(), {
    creditMicroUsd: '0',
    reservedMicroUsd: '0',
    movements: [],
    nextCursor: null,
    budgets: [],
  })
  const amounts = [1, 20, 300, -4, 5_000_000]
  for (const microUsd of amounts) await admin.store.organizations.addCredit(acme.id, microUsd)
  const first = await call(acme, 'GET', '/v1/credits?limit=2')
  t.equal(first.status, 200, first.text)
  const pages = [first.json<Credits>()]
  t.equal(pages[0]?.creditMicroUsd, '5000317')
  for (let next = pages[0]?.nextCursor; next; next = pages.at(-1)?.nextCursor)
    pages.push((await call(acme, 'GET', `/v1/credits?limit=2&cursor=${next}`)).json<Credits>())
  t.same(
    pages.map(({ movements }) => movements.length),
    [2, 2, 1],
  )
  const found = pages.flatMap(({ movements }) => movements)
  t.same(
    found.map(({ microUsd }) => Number(microUsd)),
    amounts.toReversed(),
    'newest first',
  )
  t.equal(new Set(found.map(({ id }) => id)).size, 5)
  t.match(found[0], { kind: 'operator', phoneNumberId: null, day: null, createdAt: /Z$/, updatedAt: /Z$/ })
  const test = await admin.key(acme.id, { test: true })
  t.same((await call(test, 'GET', '/v1/credits?limit=2')).json(), first.json(), 'both worlds share it')
  const stranger = await admin.organization('stranger', { creditMicroUsd: 7 })
  const theirs = (await call(stranger, 'GET', `/v1/credits?cursor=${pages[0]?.nextCursor}`)).json<Credits>()
  t.same([theirs.creditMicroUsd, theirs.movements], ['7', []], 'the cursor of another shows nothing of it')
  for (const query of ['limit=0', 'limit=101', 'cursor=x'])
    t.match(faultOf(await call(acme, 'GET', `/v1/credits?${query}`)), { status: 400, code: 'VALIDATION_ERROR' }, query)
})

t.test('`parley credits` shows the credit and its movements', async (t) => {
  const acme = await admin.organization('by command', { creditMicroUsd: 25_000_000 })
  await admin.store.organizations.addCredit(acme.id, -12_400)
  const env = { PARLEY_API_KEY: acme.key, PARLEY_URL: parley.url }
  const credits = (...args: string[]) => runCommand(parley, ['credits', ...args], env)
  const shown = await credits()
  t.equal(shown.code, 0, shown.stderr)
  t.match(shown.stdout, /^credit \$24\.987600\n/)
  t.match(shown.stdout, / operator +-\$0\.012400 /)
  const page = await credits('--limit', '1')
  const cursor = /^more: --cursor (\S+)$/m.exec(page.stdout)?.[1] ?? ''
  t.match((await credits('--limit', '1', '--cursor', cursor, '--json')).stdout, /"25000000"/)
  t.match(await credits('--limit', '0'), { code: 2, stderr: /--limit takes a whole number from 1 to 100, not 0/ })
})
