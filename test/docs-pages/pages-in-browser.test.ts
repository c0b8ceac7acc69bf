/** Tests the documentation in a browser: the search, accessibility, small screens, dark mode, and without scripts. */
import t, { type Test } from 'tap'
import { axeFaults, type Browser, type ContextOptions } from '../browser/chromium.ts'
import { inBrowser, patience, shows, watch } from '../browser/visiting.ts'
import { startParley } from '../process/parley.ts'

const pages = [
  'index.html',
  'platform/index.html',
  'platform/operation-createAgent.html',
  'realtime/channel-transcribeStream.html',
  'platform/schema-NewAgent.html',
  'platform/error-NOT_FOUND.html',
  'platform/webhook-callPreCall.html',
  'guides/users.html',
  'guides/run-it.html',
  'nothing.html',
]
await inBrowser(t, '/docs works in a browser', visits)

async function visits(browser: Browser): Promise<void> {
  const parley = await startParley()
  t.teardown(() => parley.remove())
  const visit = async (t: Test, file: string, options: Partial<ContextOptions> = {}) => {
    const context = await browser.newContext({ permissions: [], ...options })
    t.teardown(() => context.close())
    const page = await context.newPage()
    const { faults } = watch(page)
    await page.goto(`${parley.url}/docs/${file}`)
    return { page, faults, close: () => context.close() }
  }

  for (const colorScheme of ['light', 'dark'] as const) {
    t.test(`the pages of /docs have no accessibility fault and fit 360 pixels, ${colorScheme}`, async (t) => {
      for (const file of pages) {
        const { page, faults, close } = await visit(t, file, { colorScheme, viewport: { width: 360, height: 800 } })
        await page.waitForSelector('#search-field', patience)
        t.same(await axeFaults(page), [], file)
        t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${file} fits`)
        t.same(faults, [], `${file} obeys its policy`)
        await close()
      }
    })
  }

  t.test('the search of /docs finds an operation by its method and path, and the link leads to its page', async (t) => {
    const { page, faults } = await visit(t, 'guides/users.html')
    await page.click('#search-field')
    await page.fill('#search-field', 'POST /v1/agents create')
    await page.waitForSelector('#search li a', patience)
    t.equal(await page.textContent('#search li a'), 'Create an agent')
    await page.fill('#search-field', 'no such words at all')
    await shows(page, '#search li', 'No page')
    await page.fill('#search-field', 'NOT_FOUND')
    await page.waitForSelector('#search li a[href$="error-NOT_FOUND.html"]', patience)
    t.same(await axeFaults(page), [])
    await page.click('#search li a[href$="platform/error-NOT_FOUND.html"]')
    await page.waitForSelector('#not_found', patience)
    t.equal(await page.textContent('h1'), 'NOT_FOUND')
    t.same(faults, [])
  })

  t.test('without scripts /docs shows everything except its search', async (t) => {
    const { page } = await visit(t, 'platform/operation-createAgent.html', { javaScriptEnabled: false })
    t.equal(await page.textContent('h1'), 'Create an agent')
    t.notMatch(await page.content(), 'search-field')
    await page.click('nav a')
    await shows(page, 'h1', 'Parley documentation')
  })
}
