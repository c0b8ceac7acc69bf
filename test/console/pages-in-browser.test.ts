/**
 * Tests the console's pages in each state: accessibility, small screens, both colour schemes, the content security
 * policy, the keyboard.
 */
import t from 'tap'
import { axeFaults, type Browser } from '../browser/chromium.ts'
import { hold, inBrowser, patience } from '../browser/visiting.ts'
import { openShop, refuse } from './shop.ts'
import { storeCall, storeLiveCall } from './stored-calls.ts'
import { openVisitor } from './visiting.ts'

await inBrowser(t, 'the console works in a browser', visits)

type Visitable = { name: string; address: string; api: RegExp; ready: string }

async function visits(browser: Browser): Promise<void> {
  const shop = await openShop(t, browser)
  const id = await storeCall(shop, 4)
  const live = await storeLiveCall(shop, 3)
  const pages: Visitable[] = [
    { name: 'the overview', address: '', api: /\/v1\/calls\?/, ready: 'h3' },
    { name: 'calls', address: '/calls', api: /\/v1\/calls\?/, ready: '[role="row"] a' },
    { name: 'a search', address: '/calls?q=tyre', api: /\/v1\/calls\?/, ready: '[role="row"] a' },
    { name: 'a call', address: `/calls/${id}`, api: /\/v1\/calls\/[\w-]+$/, ready: '[data-turn]' },
    { name: 'a live call', address: `/calls/${live}`, api: /\/v1\/calls\/[\w-]+$/, ready: '[data-turn]' },
    ...['turn=6', 'tab=report', 'tab=events', 'tab=models', 'tab=deliveries', 'tab=cost', 'tab=settings'].map(
      (search) => ({
        name: `a call with ${search}`,
        address: `/calls/${id}?${search}`,
        api: /\/v1\/calls\/[\w-]+$/,
        ready: '[data-turn]',
      }),
    ),
    {
      name: 'the business verification',
      address: '/numbers/verification',
      api: /\/v1\/phone-numbers\/kyb$/,
      ready: 'main form',
    },
    { name: 'conversations', address: '/conversations', api: /\/v1\/conversations\?/, ready: '[data-state="empty"]' },
    { name: 'a wrong address', address: '/nothing/here', api: /\/nothing/, ready: 'h1' },
  ]
  const withStates = ['the overview', 'calls', 'a call', 'the business verification']
  const stated = pages.filter(({ name }) => withStates.includes(name))
  t.test('each page has no accessibility fault, fits 360 pixels and obeys its content security policy', async (t) => {
    for (const { name, address, ready } of pages) {
      const { open, check, close } = await shop.visit(t)
      await open(address, ready)
      await check(name)
      await close()
    }
  })

  const states = [
    { state: 'error', status: 500, code: 'INTERNAL_ERROR' },
    { state: 'forbidden', status: 403, code: 'FORBIDDEN' },
    { state: 'not_found', status: 404, code: 'NOT_FOUND' },
    { state: 'too_many', status: 429, code: 'RATE_LIMITED' },
  ]
  for (const { state, status, code } of states)
    t.test(`each page says what happened if the server answers ${status}`, async (t) => {
      for (const { name, address, api } of stated) {
        const { page, faults, open, close } = await shop.visit(t)
        await refuse(page, api, status, code)
        await open(address, `[data-state="${state}"]`)
        const text = await page.textContent(`[data-state="${state}"]`)
        t.match(text, code, name)
        t.match(text, 'req_test', `${name} names the request`)
        t.same(await axeFaults(page), [], name)
        t.same(faults, [], name)
        await close()
      }
    })

  t.test('a page has its heading and no accessibility fault while data, session or script is loading', async (t) => {
    for (const { name, address, api, ready } of stated)
      for (const slow of [api, /\/console\/auth\/session/, /\/console\/assets\/\w+-page[^/]*\.js/]) {
        const { page, open, close } = await shop.visit(t)
        const release = await hold(page, slow)
        await open(address, '[data-state="loading"]')
        t.same(await axeFaults(page), [], `${name} while ${slow.source} is on its way`)
        release()
        await page.waitForSelector(ready, patience)
        await close()
      }
  })

  t.test('an empty list says that there are no calls yet, and a filter without a match can be cleared', async (t) => {
    const { page, faults, open } = await shop.visit(t)
    await open('/calls?q=xylophone', '[data-state="empty"]')
    t.match(await page.textContent('[data-state="empty"]'), 'No call matches')
    t.same(await axeFaults(page), [])
    await page.click('[data-state="empty"] button')
    await page.waitForSelector('[role="row"] a', patience)
    t.equal(page.url(), `${shop.url}/console/calls`)
    const body = JSON.stringify({ calls: [], next_cursor: null })
    await page.route(/\/v1\/calls\?/, (route) => route.fulfill({ status: 200, contentType: 'application/json', body }))
    await page.reload()
    await page.waitForSelector('[data-state="empty"]', patience)
    t.match(await page.textContent('[data-state="empty"]'), 'No calls yet')
    t.same(faults, [])
  })

  t.test('without a session the sign-in page comes first', async (t) => {
    const { page, refused, open, check } = await openVisitor(t, shop)
    await open('/calls', 'h1:has-text("Sign in")')
    t.match(page.url(), '/console/login?next=')
    await check('sign-in')
    t.same(refused, [], 'no request was refused')
  })

  t.test('the keyboard reaches every control of a page', async (t) => {
    for (const { name, address, ready } of [...pages.slice(0, 5), ...stated.slice(-1)]) {
      const { page, open, close } = await shop.visit(t)
      await open(address, ready)
      const all = (await page.evaluate(markControls)) as number
      const reached = new Set<string>()
      for (let press = 0; press < all + 10; press++) {
        await page.keyboard.press('Tab')
        const mark = await page.evaluate('document.activeElement?.dataset.mark ?? ""')
        if (mark !== '') reached.add(mark as string)
      }
      const missed = await page.evaluate(namesOfMissed, [...reached])
      t.same(missed, [], name)
      t.ok(all > 8, `${name} has ${all} controls`)
      await close()
    }
  })
}

/**
 * Numbers the visible controls. A group with one tab stop, such as tabs or a menu, counts once, because arrow keys
 * reach its other controls.
 */
const markControls = `(() => {
  const controls = [...document.querySelectorAll('a[href], button, input, select, textarea, audio[controls], [tabindex]')]
    .filter((element) => element.tabIndex >= 0 && !element.disabled && element.checkVisibility() && element.id !== 'content')
  controls.forEach((element, at) => { element.dataset.mark = String(at) })
  return controls.length
})()`

function namesOfMissed(reached: string[]): string[] {
  const page = globalThis as unknown as { document: { querySelectorAll(selector: string): Iterable<Marked> } }
  const marked = [...page.document.querySelectorAll('[data-mark]')]
  return marked.filter(({ dataset }) => !reached.includes(dataset.mark)).map(({ outerHTML }) => outerHTML.slice(0, 120))
}

type Marked = { dataset: { mark: string }; outerHTML: string }
