/** Tests the console's page for usage and credit: the costs of a month by model equal the API's. */
import t from 'tap'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { call, startAdministered } from '../platform/setup.ts'
import { storeCall } from './stored-calls.ts'
import { signIn } from './visiting.ts'

await inBrowser(t, 'usage in the console', tests)

type Usage = { rows: { model: string; costMicroUsd: string }[]; total: { costMicroUsd: string } }

/** Returns a month as the page names it in its URL. */
function monthsAgo(months: number): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1)).toISOString().slice(0, 7)
}

async function tests(browser: Browser): Promise<void> {
  const { parley, admin } = await startAdministered(t)
  const organization = async (name: string) => {
    const owner = await admin.organization(name)
    return { owner, place: { browser, admin, url: parley.url, organizationId: owner.id } }
  }

  t.test('a person finds what last month cost by model', async (t) => {
    const { owner, place } = await organization('that spends')
    const now = new Date()
    const start = (ahead: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1)
    const stored = { admin, organizationId: owner.id, dataDir: parley.dataDir }
    await storeCall(stored, 3, { createdAtMs: start(-1) + 5 * 86_400_000 })
    await storeCall(stored, 4, { createdAtMs: now.getTime() - 60_000 })
    const { page, open, check, text } = await signIn(t, place)
    await open('/usage', 'tbody tr')
    await check('usage')
    const month = new Date(start(-1)).toISOString().slice(0, 7)
    await page.selectOption('select >> nth=0', month)
    await page.waitForURL(/[?&]from=/, patience)
    await page.reload()
    await page.waitForSelector('tbody tr', patience)
    const [from, to] = [start(-1), start(0)].map((ms) => new Date(ms).toISOString())
    const usage = (await call(owner, 'GET', `/v1/usage?groupBy=model&from=${from}&to=${to}`)).json<Usage>()
    const shown = (await page.evaluate(
      `[...document.querySelectorAll('tbody tr')].map((row) => [row.cells[0].innerText, row.cells[row.cells.length - 1].innerText.trim()])`,
    )) as [string, string][]
    const dollars = (microUsd: string) => `$${(Number(microUsd) / 1e6).toFixed(Number(microUsd) < 100_000 ? 4 : 2)}`
    const wanted = usage.rows
      .toSorted((a, b) => Number(b.costMicroUsd) - Number(a.costMicroUsd))
      .map(({ model, costMicroUsd }) => [model, dollars(costMicroUsd)])
    t.equal(wanted.length, 3)
    t.same(shown, wanted)
    t.ok((await text()).includes(dollars(usage.total.costMicroUsd)), 'the sum')
    await page.selectOption('select >> nth=1', 'day')
    await page.waitForSelector('th:has-text("Day")', patience)
    await check('usage-by-day')
  })

  t.test('an organization without usage gets an empty usage page, and the credit page shows its balance', async (t) => {
    const { place } = await organization('that is new')
    const { page, open, check } = await signIn(t, place)
    await open('/usage', '[data-state="empty"]')
    await check('usage-empty')
    await page.waitForSelector('[data-state="empty"] a:has-text("Talk to an agent")', patience)
    await page.selectOption('select >> nth=0', monthsAgo(2))
    await page.waitForSelector('[data-state="empty"]:has-text("Choose another time")', patience)
    t.equal(await page.isVisible('a:has-text("Talk to an agent")'), false, 'a month that is over')
    await page.click('main nav a:has-text("Credit")')
    await page.waitForSelector('[aria-label="Movements"]', patience)
    await page.waitForSelector('text=$100.00', patience)
    await check('credit')
  })

  t.test(
    'the starting credit is the credit with which an organization was created, without later credit',
    async (t) => {
      const shown = async (creditMicroUsd: number) => {
        const owner = await admin.organization(`with ${creditMicroUsd}`, { creditMicroUsd })
        await admin.store.organizations.addCredit(owner.id, 5_000_000)
        const { page, open } = await signIn(t, { browser, admin, url: parley.url, organizationId: owner.id })
        await open('/usage?tab=credit', 'tr:has-text("operator"):has-text("$5.00")')
        return page
      }
      const page = await shown(7_000_000)
      await page.waitForSelector('tr:has-text("starting credit"):has-text("$7.00")', patience)
      await shown(0)
    },
  )

  t.test('a range that is too long is refused, and a member does not see the credit', async (t) => {
    const { place } = await organization('with limits')
    const { open, check } = await signIn(t, { ...place, role: 'member' })
    await open('/usage?from=2026-01-01T00:00:00Z&to=2026-09-01T00:00:00Z', '[data-state="error"]')
    await check('usage-refused')
    await open('/usage?tab=credit', '[data-state="forbidden"]')
    await check('credit-forbidden')
  })
}
