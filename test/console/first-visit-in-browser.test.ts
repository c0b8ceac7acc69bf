/** Tests a person's first visit: three steps lead from an empty organization to the page of a call. */
import t from 'tap'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { call, startOwnAdministered } from '../platform/setup.ts'
import { signIn } from './visiting.ts'

await inBrowser(t, 'the first visit', tests)

function tests(browser: Browser): void {
  t.test('a person makes the sample agent, starts a call and sees its page', async (t) => {
    const { parley, admin } = await startOwnAdministered(t)
    // The first organization of a server has a number at the simulated carrier.
    const { id: organizationId } = (await call(parley, 'GET', '/v1/organization')).json<{ id: string }>()
    const { page, open, check } = await signIn(t, { browser, admin, url: parley.url, organizationId })
    await open('', 'button:has-text("Make the sample agent")')
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
      away = /\/v1\/calls\?/
      const old = '[role="status"]:has-text("What you see may be old")'
      await page.waitForSelector(old, patience)
      await check('overview-old')
      away = /never/
      await page.click(`${old} button`)
      await page.waitForSelector(old, { ...patience, state: 'detached' })
    },
  )
}
