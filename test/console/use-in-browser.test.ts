/**
 * Uses the console as a person does: filters, keyboard shortcuts, links to a moment, live calls, private text, sign-in.
 */
import t from 'tap'
import type { Turn } from '../../domain/records/call.ts'
import type { Call, CallList } from '../../generated/clients/typescript/models/platform.ts'
import { axeFaults, type Browser, type Page } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { newCall, newTurn } from '../calls/call.ts'
import { transferOf, transferred } from '../transfers/transfer.ts'
import { askApi, openShop, refuse } from './shop.ts'
import { endLiveCall, storeCall, storeLiveCall } from './stored-calls.ts'

await inBrowser(t, 'a person uses the console', tests)

async function tests(browser: Browser): Promise<void> {
  const shop = await openShop(t, browser)
  const ids: string[] = []
  for (let number = 6; number >= 1; number--) ids.unshift(await storeCall(shop, number))
  const [, , , id = ''] = ids
  const atRows = '[role="row"] a'
  /** Returns a function that adds a line to a live call and returns the selector of the line's row. */
  const speaker =
    (callId: string) =>
    async (text: string, more: Partial<Turn> = {}) => {
      const { entries } = (await askApi<Call>(shop, `/v1/calls/${callId}`)).transcript
      const now = { startedAtMs: Date.now(), endedAtMs: Date.now() + 900 }
      const turn = newTurn({ index: entries.length, text, ...now, ...more })
      await shop.admin.store.calls.append({ organizationId: shop.organizationId, test: false }, callId, [
        { kind: 'turn', turn },
      ])
      return `[data-turn="${entries.length}"]`
    }

  t.test("filters are in the page's URL, and stay after a reload and after going back", async (t) => {
    const { page, open } = await shop.visit(t)
    await open('/calls', atRows)
    await page.selectOption('select >> nth=2', 'unresolved')
    await page.waitForSelector('[aria-rowcount="2"]', patience)
    t.match(page.url(), 'outcome=unresolved')
    await page.reload()
    await page.waitForSelector('[aria-rowcount="2"]', patience)
    await page.click(atRows)
    await page.waitForSelector('[data-turn]', patience)
    await page.goBack()
    await page.waitForSelector('[aria-rowcount="2"]', patience)
    t.match(page.url(), 'outcome=unresolved')
  })

  t.test('a person finds the slowest turn of the calls', async (t) => {
    const { page, open } = await shop.visit(t)
    await open('/calls', atRows)
    await page.selectOption('select >> nth=5', 'slowest_turn_ms')
    const { calls } = await askApi<CallList>(shop, '/v1/calls?sort=slowest_turn_ms&limit=1')
    const [slowest] = calls
    const link = `[aria-rowindex="2"] a[href$="/calls/${slowest?.id}?turn=${slowest?.slowest_turn?.index}"]`
    await page.waitForSelector(link, patience)
    t.match(page.url(), 'sort=slowest_turn_ms')
    await page.click(link)
    await page.waitForSelector(`[data-turn="${slowest?.slowest_turn?.index}"][aria-current="true"]`, patience)
  })

  t.test('a search shows the words that it found', async (t) => {
    const { page, open } = await shop.visit(t)
    await open('/calls', atRows)
    await page.keyboard.press('/')
    await page.keyboard.type('twenty five')
    await page.keyboard.press('Enter')
    await page.waitForSelector('[data-search="true"] [role="row"]', patience)
    t.match(page.url(), 'q=twenty')
    t.match(await page.textContent('[data-search="true"]'), 'seven hundred by twenty five')
  })

  t.test('the keys j, k and Enter open a call, and ? shows the keyboard shortcuts', async (t) => {
    const { page, open } = await shop.visit(t)
    await open('/calls', atRows)
    await page.keyboard.press('?')
    await page.waitForSelector('dialog[open]', patience)
    t.match(await page.textContent('dialog'), 'Next call')
    await page.keyboard.press('Escape')
    await page.waitForSelector('body:not(:has(dialog[open]))', patience)
    for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key)
    await page.waitForSelector('[data-row="1"]:focus', patience)
    await page.keyboard.press('Enter')
    await page.waitForSelector('[data-turn]', patience)
    t.match(page.url(), `/console/calls/${ids[1]}`)
  })

  t.test('a freshly loaded link to a call opens the turn, step, tab and playback position in its URL', async (t) => {
    const call = await askApi<Call>(shop, `/v1/calls/${id}`)
    const turn = (call.span_tree.spans?.[0]?.children ?? []).find(({ attributes }) => attributes['index'] === 4)
    const step = turn?.children.find(({ kind }) => kind === 'tool')
    const { page, open } = await shop.visit(t)
    await open(`/calls/${id}?turn=4&span=${step?.id}`, '[aria-pressed="true"][type="button"] >> text=tool')
    t.match(await page.textContent('[role="tabpanel"]'), 'find_stock')
    await page.goto(`${shop.url}/console/calls/${id}?t=12.5&tab=cost`)
    await page.waitForSelector('[role="slider"][aria-valuenow="13"], [role="slider"][aria-valuenow="12"]', patience)
    t.match(await page.textContent('[role="tabpanel"]'), 'Total')
  })

  t.test('the keyboard shortcuts of the call page move through turns and problems', async (t) => {
    const { page, open } = await shop.visit(t)
    await open(`/calls/${id}`, '[data-turn]')
    for (const [key, turn] of [
      ['j', 0],
      ['j', 1],
      ['j', 2],
      ['k', 1],
      ['.', 6],
    ] as const) {
      await page.keyboard.press(key)
      await page.waitForSelector(`[data-turn="${turn}"][aria-current="true"]`, patience)
    }
    t.match(page.url(), 'turn=6')
    await page.keyboard.press('ArrowLeft')
    await page.waitForSelector('[data-turn="6"][aria-current="false"]', patience)
  })

  t.test('Shift+R hides phone numbers and words on the page and does not change its URL', async (t) => {
    const { page, open } = await shop.visit(t)
    await open(`/calls/${id}`, '[data-turn]')
    const before = page.url()
    await page.keyboard.press('Shift+R')
    await page.waitForSelector('button[aria-pressed="true"]:has-text("Hide private text")', patience)
    t.notMatch(await page.textContent('main'), /\+1212|tyre|bicycle/)
    t.equal(page.url(), before)
    await page.keyboard.press('Shift+R')
    await page.waitForSelector('[data-words="played"] >> text=tyre', patience)
  })

  t.test('the page of a live call follows the call and ends it', async (t) => {
    const live = await storeLiveCall(shop, 2)
    const tenant = { organizationId: shop.organizationId, test: false }
    const { page, faults, open } = await shop.visit(t)
    await open(`/calls/${live}`, '[data-turn]')
    const { entries } = (await askApi<Call>(shop, `/v1/calls/${live}`)).transcript
    const now = { startedAtMs: Date.now(), endedAtMs: Date.now() + 900 }
    const turn = newTurn({ index: entries.length, text: 'Are you still there?', ...now })
    await shop.admin.store.calls.append(tenant, live, [{ kind: 'turn', turn }])
    await page.waitForSelector(`[data-turn="${entries.length}"] >> text=Are you still there?`, patience)
    await page.click('button >> text=End')
    await page.click('dialog button >> text=End the call')
    await page.waitForSelector('main:not(:has(button:has-text("Transfer")))', patience)
    t.match(await askApi<Call>(shop, `/v1/calls/${live}`), { end_reason: 'api_ended' })
    t.same(faults, [])
  })

  t.test('the transcript of a live call follows the newest line until the person scrolls up', async (t) => {
    const live = await storeLiveCall(shop, 4)
    const say = speaker(live)
    const { page, faults, open } = await shop.visit(t)
    await open(`/calls/${live}`, '[data-turn]')
    const first = await say('Is the newest line in view?')
    t.ok(await comesIntoView(page, first))
    const failed = transferOf(newCall(shop.organizationId, { id: live }))
    const tenant = { organizationId: shop.organizationId, test: false }
    await shop.admin.store.calls.append(tenant, live, [transferred(failed)])
    await page.waitForSelector('section[aria-label="Transfer"]', patience)
    t.ok(await comesIntoView(page, first), 'the bar of a transfer takes its place')
    t.ok(await isInView(page, 'header'), 'the buttons of the call stay in view')
    await page.evaluate(`document.querySelector('[aria-label="Transcript"] ol').scrollTo(0, 0)`)
    await page.waitForSelector('button >> text=Back to now', patience)
    const second = await say('Does the page stay where the person reads?')
    await page.waitForSelector(second, patience)
    t.notOk(await isInView(page, second))
    t.same(await axeFaults(page), [])
    await page.click('button >> text=Back to now')
    t.ok(await comesIntoView(page, second))
    await page.waitForSelector('main:not(:has(button:has-text("Back to now")))', patience)
    const third = await say('And again?')
    t.ok(await comesIntoView(page, third))
    await page.setViewportSize({ width: 820, height: 1000 })
    t.ok(await comesIntoView(page, third), 'the words take more lines')
    t.same(faults, [])
  })

  t.test('a link to a turn of a live call shows the turn, and does not follow the newest line', async (t) => {
    const live = await storeLiveCall(shop, 4)
    const say = speaker(live)
    const { page, open } = await shop.visit(t)
    await open(`/calls/${live}?turn=4`, '[data-turn="4"]')
    t.ok(await comesIntoView(page, '[data-turn="4"]'))
    await page.waitForSelector(await say('Is the chosen turn still in view?'), patience)
    t.ok(await isInView(page, '[data-turn="4"]'))
    await page.waitForSelector('button >> text=Back to now', patience)
  })

  t.test('the lines of a call are in the order of their times', async (t) => {
    const live = await storeLiveCall(shop, 2)
    const say = speaker(live)
    const { page, open } = await shop.visit(t)
    await open(`/calls/${live}`, '[data-turn]')
    const late = await say('Nora has joined.', { source: 'system' })
    const early = await say('The caller spoke before.', { startedAtMs: Date.now() - 5000 })
    await page.waitForSelector(`${early} ~ ${late}`, patience)
    t.pass()
  })

  t.test('the player names the colours of a person and of a transfer', async (t) => {
    const live = await storeLiveCall(shop, 2)
    const { page, open } = await shop.visit(t)
    await open(`/calls/${live}`, '[data-turn]')
    const legend = '[aria-label="Player"] [data-legend]'
    t.equal(await page.textContent(legend), ' Caller  Agent')
    const metadata = { identity: 'join_1', displayName: 'Nora', human: true }
    const line = await speaker(live)('I am here.', { source: 'agent', metadata })
    await page.waitForSelector(`${line} >> text=Nora`, patience)
    await page.waitForSelector(`${legend} >> text=Colleague`, patience)
    const transfer = transferOf(newCall(shop.organizationId, { id: live }))
    const tenant = { organizationId: shop.organizationId, test: false }
    await shop.admin.store.calls.append(tenant, live, [transferred(transfer)])
    await page.waitForSelector(`${legend} >> text=Transfer`, patience)
  })

  t.test('a person who ends a call and has become a viewer is answered that the role is too low', async (t) => {
    const live = await storeLiveCall(shop, 1)
    const { page, open } = await shop.visit(t, { role: 'member' })
    await open(`/calls/${live}`, '[data-turn]')
    await page.click('button >> text=End')
    const { users } = shop.admin.store
    await users.create(shop.organizationId, `member-${shop.organizationId}@example.com`, 'viewer')
    await page.click('dialog button >> text=End the call')
    await page.waitForSelector('dialog [data-state="forbidden"]', patience)
    t.match(await page.textContent('dialog'), 'role member')
  })

  t.test('the page of a call that was deleted meanwhile shows no old data', async (t) => {
    const live = await storeLiveCall(shop, 2)
    const { page, open } = await shop.visit(t)
    await open(`/calls/${live}`, '[data-turn]')
    await refuse(page, new RegExp(`/v1/calls/${live}$`), 404, 'NOT_FOUND')
    await page.waitForSelector('[data-state="not_found"]', patience)
    t.notOk(await page.isVisible('[data-turn]'))
    await endLiveCall(shop, live)
  })

  t.test('a call of another organization is shown as not found, like an unknown call', async (t) => {
    const other = await shop.admin.organization('other')
    const foreign = await storeCall({ ...shop, organizationId: other.id }, 1)
    const { open } = await shop.visit(t)
    for (const address of [`/calls/${foreign}`, '/calls/019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a70', '/calls/x'])
      await open(address, '[data-state="not_found"]')
    t.pass()
  })

  t.test('a browser loads at most 250 KB of compressed scripts for its first page', async (t) => {
    for (const [address, ready] of [
      ['/calls', atRows],
      [`/calls/${id}`, '[data-turn]'],
    ] as const) {
      const { page, open } = await shop.visit(t)
      await open(address, ready)
      const bytes = (await page.evaluate(loadedBytes)) as number
      t.ok(bytes > 100_000 && bytes <= 250 * 1024, `${address}: ${bytes} bytes`)
    }
  })
}

/** Sums the scripts as they came over the network. */
const loadedBytes = `performance.getEntriesByType('resource')
  .filter(({ name }) => name.endsWith('.js'))
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`

/**
 * Resolves with true if the whole element is inside the window and the list that scrolls, within the time in
 * `patience`.
 */
const comesIntoView = (page: Page, selector: string) =>
  page.evaluate(`new Promise((resolve) => {
    const giveUpAt = performance.now() + ${patience.timeout}
    const look = () => {
      if (${inView(selector)}) return resolve(true)
      if (performance.now() > giveUpAt) return resolve(false)
      requestAnimationFrame(look)
    }
    look()
  })`)
const isInView = (page: Page, selector: string) => page.evaluate(inView(selector))

const inView = (selector: string) => `(() => {
  const element = document.querySelector(${JSON.stringify(selector)})
  if (element === null) return false
  const { top, bottom } = element.getBoundingClientRect()
  const list = element.closest('ol')?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight }
  return top >= Math.max(0, list.top) - 1 && bottom <= Math.min(innerHeight, list.bottom) + 1
})()`
