/** Tests the documentation in a browser: the search, accessibility, small screens, dark mode, and without scripts. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import t from 'tap'
import { axeFaults, type Browser, type ContextOptions, openChromium } from '../browser/chromium.ts'
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
const patience = { timeout: 30_000, state: 'attached' } as const

const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-test-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
// The browser needs a recording for its microphone, which no page here uses.
const recording = path.join(folder, 'voice.wav')
copyFileSync(path.resolve(import.meta.dirname, '../fixtures/speech/privacy-prompt.wav'), recording)

const browser = await openChromium(recording)
t.setTimeout(240_000)
if ('missing' in browser) t.test('/docs works in a browser', { skip: browser.missing }, () => {})
else await visits(browser)

async function visits(browser: Browser): Promise<void> {
  t.teardown(() => browser.close())
  const parley = await startParley()
  t.teardown(() => parley.remove())
  const visit = async (file: string, options: Partial<ContextOptions> = {}) => {
    const context = await browser.newContext({ permissions: [], ...options })
    const page = await context.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    // The console reports violations of the content security policy. The 404 of the page itself is not a fault.
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('404')) faults.push(message.text())
    })
    await page.goto(`${parley.url}/docs/${file}`)
    return { page, faults, close: () => context.close() }
  }

  for (const colorScheme of ['light', 'dark'] as const) {
    t.test(`the pages of /docs have no accessibility fault and fit 360 pixels, ${colorScheme}`, async (t) => {
      for (const file of pages) {
        const { page, faults, close } = await visit(file, { colorScheme, viewport: { width: 360, height: 800 } })
        await page.waitForSelector('#search-field', patience)
        t.same(await axeFaults(page), [], file)
        t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${file} fits`)
        t.same(faults, [], `${file} obeys its policy`)
        await close()
      }
    })
  }

  t.test('the search of /docs finds an operation by its address, and the link leads to its page', async (t) => {
    const { page, faults, close } = await visit('guides/users.html')
    await page.click('#search-field')
    await page.fill('#search-field', 'POST /v1/agents create')
    await page.waitForSelector('#search li a', patience)
    t.equal(await page.textContent('#search li a'), 'Create an agent')
    await page.fill('#search-field', 'no such words at all')
    t.match(await page.textContent('#search li'), 'No page')
    await page.fill('#search-field', 'NOT_FOUND')
    await page.waitForSelector('#search li a[href$="error-NOT_FOUND.html"]', patience)
    t.same(await axeFaults(page), [])
    await page.click('#search li a[href$="platform/error-NOT_FOUND.html"]')
    await page.waitForSelector('#not_found', patience)
    t.equal(await page.textContent('h1'), 'NOT_FOUND')
    t.same(faults, [])
    await close()
  })

  t.test('without scripts /docs offers no search and shows all else', async (t) => {
    const { page, close } = await visit('platform/operation-createAgent.html', { javaScriptEnabled: false })
    t.equal(await page.textContent('h1'), 'Create an agent')
    t.notMatch(await page.content(), 'search-field')
    await page.click('nav a')
    t.equal(await page.textContent('h1'), 'Parley documentation')
    await close()
  })
}
