/** The list of calls follows its calls, and the rows stay while a person looks through the list. */
import t from 'tap'
import type { CallList } from '../../generated/clients/typescript/models/platform.ts'
import { axeFaults, type Browser, type Route } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { openShop } from './shop.ts'
import { endLiveCall, storeCall, storeLiveCall } from './stored-calls.ts'

await inBrowser(t, 'a person looks at the list of calls', tests)

async function tests(browser: Browser): Promise<void> {
  const shop = await openShop(t, browser)
  for (let number = 6; number >= 1; number--) await storeCall(shop, number)
  const atRows = '[role="row"] a'

  t.test('a call comes into the list by itself, changes, and leaves a list of live calls', async (t) => {
    const all = await shop.visit(t)
    const live = await shop.visit(t)
    await all.open('/calls', atRows)
    await live.open('/calls?live=true', '[data-state="empty"]')
    const id = await storeLiveCall(shop, 2)
    const row = `[role="row"]:has(a[href$="${id}"])`
    await all.page.waitForSelector(`${row}[aria-rowindex="2"] >> text=in progress`, patience)
    await live.page.waitForSelector(`${row} >> text=in progress`, patience)
    await endLiveCall(shop, id)
    await all.page.waitForSelector(`${row}:not(:has-text("in progress"))`, patience)
    await live.page.waitForSelector('[data-state="empty"]', patience)
    for (const { faults } of [all, live]) t.same(faults, [])
  })

  t.test('a call that ends while the tab is hidden is not shown as live afterwards', async (t) => {
    const lives = [await storeLiveCall(shop, 2), await storeLiveCall(shop, 3)]
    const { page, open, faults } = await shop.visit(t)
    const other = await shop.visit(t)
    for (const each of [{ open }, other]) await each.open('/calls?live=true', `a[href$="${lives[0]}"]`)
    for (const [at, id] of lives.entries()) {
      const isAway = `main:not(:has(a[href$="${id}"]))`
      // While a row has the focus, the rows must not move.
      if (at === 1) await page.keyboard.press('j')
      await page.evaluate(tabIs('hidden'))
      // From now on the event stream ends at once and reports no change, so only a new read of the list shows the
      // change.
      await page.route(/\/v1\/calls\/stream/, (route) => route.fulfill(opened))
      await endLiveCall(shop, id)
      await other.page.waitForSelector(isAway, patience)
      t.ok(await page.isVisible(`a[href$="${id}"]`), 'a hidden tab has no stream')
      await page.evaluate(tabIs('visible'))
      await page.waitForSelector(isAway, patience)
    }
    t.same(faults, [])
  })

  t.test('while a row has the focus, new calls are shown only if the person clicks a button', async (t) => {
    const { page, open, faults } = await shop.visit(t)
    await open('/calls', atRows)
    for (const key of ['j', 'j']) await page.keyboard.press(key)
    await page.waitForSelector('[data-row="1"]:focus', patience)
    const before = await page.evaluate('document.activeElement.href')
    const id = await storeLiveCall(shop, 2)
    await page.waitForSelector('button >> text=Show 1 new call', patience)
    t.same(await axeFaults(page), [])
    t.equal(await page.evaluate('document.activeElement.href'), before)
    t.equal(await page.evaluate('document.activeElement.dataset.row'), '1')
    await page.click('button >> text=Show 1 new call')
    await page.waitForSelector(`[aria-rowindex="2"] a[href$="${id}"]`, patience)
    t.same(faults, [])
  })

  t.test(
    'if more calls could not be loaded, they are requested again only if the person clicks a button',
    async (t) => {
      const { page, open, check } = await shop.visit(t)
      let requests = 0
      let next = refusal
      await page.route(/\/v1\/calls\?/, async (route) => {
        if (!route.request().url().includes('cursor=')) return route.fulfill(withMore(await listOf(route)))
        requests++
        return route.fulfill(next)
      })
      await open('/calls', '[role="status"]:has-text("More calls could not be loaded.")')
      await check('calls-not-loaded')
      // The list is read once more when its stream opens.
      t.ok(requests <= 2, `${requests} requests`)
      const before = requests
      for (let change = 0; change < 3; change++) {
        const live = await storeLiveCall(shop, 2)
        const row = `[role="row"]:has(a[href$="${live}"])`
        await page.waitForSelector(row, patience)
        await endLiveCall(shop, live)
        await page.waitForSelector(`${row}:not(:has-text("in progress"))`, patience)
      }
      t.equal(requests, before, 'changes of calls do not ask for the next page')
      t.ok(await page.isVisible('[role="status"]:has-text("More calls could not be loaded.")'))
      next = answerOf({ calls: [], next_cursor: null })
      await page.click('button:has-text("Load more")')
      await page.waitForSelector('button:has-text("Load more")', { ...patience, state: 'detached' })
      t.notMatch(await page.textContent('main'), 'and more')
    },
  )

  t.test(
    'in a list not sorted by time, no row leaves while a row has the focus, and the list is read again afterwards',
    async (t) => {
      const { page, open } = await shop.visit(t)
      let isMoved = false
      await page.route(/\/v1\/calls\?/, async (route) => {
        if (route.request().url().includes('cursor=')) return route.fulfill(refusal)
        const list = await listOf(route)
        const [first, , ...others] = list.calls
        const moved = first ? [{ ...first, agent_name: 'Renamed' }, ...others] : []
        return route.fulfill(withMore(isMoved ? { ...list, calls: moved } : list))
      })
      // The list is read again each time when the stream opens, and this stream ends at once.
      await page.route(/\/v1\/calls\/stream/, (route) => route.fulfill(opened))
      await open('/calls?sort=slowest_turn_ms', atRows)
      const second = String(await page.evaluate(`document.querySelector('[data-row="1"]').getAttribute('href')`))
      await page.keyboard.press('j')
      await page.waitForSelector('[data-row="0"]:focus', patience)
      isMoved = true
      await page.waitForSelector('[role="row"] >> text=Renamed', patience)
      t.ok(await page.isVisible(`a[href="${second}"]`), 'the call may have moved to another page')
      await page.evaluate('document.activeElement.blur()')
      await page.waitForSelector(`a[href="${second}"]`, { ...patience, state: 'detached' })
    },
  )
}

const answerOf = (body: object, status = 200) => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
})
const refusal = answerOf({ error: 'Wrong.', code: 'VALIDATION_ERROR', requestId: 'req_test' }, 400)

/** Imitates a list with a second page. */
const withMore = (list: CallList) => answerOf({ ...list, next_cursor: 'next' })
const listOf = async (route: Route) => (await (await route.fetch()).json()) as CallList

const opened = { status: 200, contentType: 'text/event-stream', body: 'event: open\ndata: {"test":false}\n\n' }

/** Returns a script that hides or shows the page's tab. */
const tabIs = (state: 'hidden' | 'visible') => `
  Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' })
  document.dispatchEvent(new Event('visibilitychange'))`
