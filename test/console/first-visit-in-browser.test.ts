/** Tests a person's first visit: three steps lead from an empty organization to the page of a call. */
import t, { type Test } from 'tap'
import type { Browser } from '../browser/chromium.ts'
import { hold, inBrowser, patience } from '../browser/visiting.ts'
import { call, startOwnAdministered } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'
import { refuse } from './shop.ts'
import { signIn, type Visitor } from './visiting.ts'

await inBrowser(t, 'the first visit', tests)

function tests(browser: Browser): void {
  t.test('a person makes the sample agent, starts a call and sees its page', async (t) => {
    const { parley, admin } = await startOwnAdministered(t)
    // The first organization of a server has a number at the simulated carrier.
    const { id: organizationId } = (await call(parley, 'GET', '/v1/organization')).json<{ id: string }>()
    const visitor = await signIn(t, { browser, admin, url: parley.url, organizationId })
    const { page, open, check } = visitor
    await open('', 'button:has-text("Make the sample agent")')
    const canned = 'main [role="status"]:has-text("No language model is connected: the answers are canned.")'
    await page.waitForSelector(`${canned} a[href$="/console/providers"]`, patience)
    await check('overview-empty')
    await page.click('button:has-text("Make the sample agent")')
    await page.waitForSelector('h3:has-text("Your agent: Sample agent")', patience)
    await page.click('button:has-text("Start the call")')
    await page.waitForURL(/\/console\/calls\/[^/]+$/, patience)
    const callId = page.url().split('/').at(-1) ?? ''
    await page.waitForSelector('[data-turn]', patience)
    await call(parley, 'POST', `/v1/calls/${callId}/finalize`)
    await open('', 'a:has-text("Open the call")')
    await check('overview')
    await page.click('a:has-text("Open the call")')
    await page.waitForURL(new RegExp(`/console/calls/${callId}$`), patience)
    const [agent] = (await call(parley, 'GET', '/v1/agents')).json<{ id: string }[]>()
    await open(`/agents/${agent?.id ?? ''}?tab=talk`, `${canned} a[href$="/console/providers"]`)
    await check('agent-canned')
    await compareUsage(t, visitor, parley)
  })

  t.test(
    'if the server stops answering, the overview shows no first steps and says that its calls may be old',
    async (t) => {
      const { parley, admin } = await startOwnAdministered(t)
      const { id: organizationId } = (await call(parley, 'GET', '/v1/organization')).json<{ id: string }>()
      const { page, open, check } = await signIn(t, { browser, admin, url: parley.url, organizationId })
      let away = /\/v1\/agents/
      await page.route(/\/v1\//, (route) => (away.test(route.request().url()) ? route.abort() : route.continue()))
      await open('', '[data-state="offline"]')
      t.notOk(await page.isVisible('button:has-text("Make the sample agent")'))
      const said = await page.textContent('[data-state="offline"]')
      t.equal(said?.split('The server did not answer').length, 2, 'it is said once')
      away = /\/v1\/calls\?/
      const old = '[role="status"]:has-text("What you see may be old")'
      await page.waitForSelector(old, patience)
      await check('overview-old')
      away = /never/
      await page.click(`${old} button`)
      await page.waitForSelector(old, { ...patience, state: 'detached' })
    },
  )

  t.test('if only the live calls cannot be read, the overview waits for the newest calls and shows them', async (t) => {
    const { parley, admin } = await startOwnAdministered(t)
    const { id: organizationId } = (await call(parley, 'GET', '/v1/organization')).json<{ id: string }>()
    const { page, open } = await signIn(t, { browser, admin, url: parley.url, organizationId })
    await refuse(page, /\/v1\/calls\?live=true/, 400, 'VALIDATION_ERROR')
    const release = await hold(page, /\/v1\/calls\?limit=/)
    const refused = new Promise<void>((resolve) =>
      page.on('response', (response) => void (response.url().includes('?live=true') && resolve())),
    )
    await open('', '[data-state="loading"]')
    await refused
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    t.equal(await page.isVisible('[data-state="error"]'), false)
    release()
    await page.waitForSelector('[role="status"]:has-text("What you see may be old")', patience)
    await page.waitForSelector('button:has-text("Make the sample agent")', patience)
  })
}

type Used = { facts: Record<string, string>; rows: string[][] }

const readUsage = `({
  facts: Object.fromEntries([...document.querySelectorAll('main dl > div')].map(({ children }) => [
    children[0].textContent, children[1].textContent])),
  rows: [...document.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent)),
})`

/** The table adds up to the totals on the usage page, and phone calls are not counted as requests. */
async function compareUsage(t: Test, { page, open, check }: Visitor, owner: Target): Promise<void> {
  await until('the usage of the phone call', async () => {
    const usage = (await call(owner, 'GET', '/v1/usage')).json<{ total: { legs: number } }>()
    return usage.total.legs === 1
  })
  await open('/usage?groupBy=stage', 'tbody tr:has-text("carrier")')
  const { facts, rows } = (await page.evaluate(readUsage)) as Used
  const sum = (column: number) => rows.reduce((total, row) => total + Number(row[column]), 0)
  t.equal(sum(1), Number(facts['Requests']))
  t.equal(sum(2), Number(facts['Answered legs of phone calls']))
  const carrier = rows.find(([stage]) => stage === 'carrier') ?? []
  t.match(carrier, ['carrier', '', '1', '', `${facts['Time on the phone'] ?? ''} on the phone`])
  await check('usage-of-a-call')
}
