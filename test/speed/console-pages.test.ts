/** Measures the console in a browser: the first paint, and frames while a list with 10,000 calls scrolls. */
import t from 'tap'
import type { CallList, CallOverview } from '../../generated/clients/typescript/models/platform.ts'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser } from '../browser/visiting.ts'
import { askApi, openShop } from '../console/shop.ts'
import { storeCall } from '../console/stored-calls.ts'

const paintMsMax = 1000
const rowsCount = 10_000
/** A screen draws a frame each 16.7 ms. If a frame is missed, the next one comes after 33 ms. */
const frameMsMax = 20
const visitsCount = 5

await inBrowser(t, "the console's pages appear and scroll within their time limits", measure)

async function measure(browser: Browser): Promise<void> {
  const shop = await openShop(t, browser)
  const id = await storeCall(shop, 4)

  t.test(`the first paint of each page is within ${paintMsMax} ms`, async (t) => {
    for (const [address, ready] of [
      ['/login', 'h1'],
      ['/calls', '[role="row"] a'],
      [`/calls/${id}`, '[data-turn]'],
    ] as const) {
      const paints: number[] = []
      for (let visit = 0; visit < visitsCount; visit++) {
        const { page, open, close } = await shop.visit(t)
        await open(address, ready)
        paints.push(
          (await page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0].startTime`)) as number,
        )
        await close()
      }
      const median = at(paints, 0.5)
      t.ok(median <= paintMsMax, `${address}: ${Math.round(median)} ms`)
    }
  })

  t.test(`a list with ${rowsCount} calls scrolls without a slow frame`, async (t) => {
    const { calls } = await askApi<CallList>(shop, '/v1/calls?limit=1')
    const many: CallList = { ...{ next_cursor: null }, calls: copies(calls[0] as CallOverview) }
    const { page, open } = await shop.visit(t)
    const body = JSON.stringify(many)
    await page.route(/\/v1\/calls\?/, (route) => route.fulfill({ status: 200, contentType: 'application/json', body }))
    await open('/calls', `[aria-rowcount="${rowsCount + 1}"]`)
    const frames = (await page.evaluate(scroll)) as number[]
    const p95 = at(frames, 0.95)
    t.ok(frames.length > 200, `${frames.length} frames`)
    t.ok(p95 <= frameMsMax, `p50 ${at(frames, 0.5).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`)
    const rows = (await page.evaluate(`document.querySelectorAll('[data-row]').length`)) as number
    t.ok(rows < 60, `${rows} rows are drawn`)
  })
}

function copies(call: CallOverview): CallOverview[] {
  return Array.from({ length: rowsCount }, (_, row) => ({
    ...call,
    id: `${call.id.slice(0, -5)}${String(row).padStart(5, '0')}`,
  }))
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** Scrolls the list by 137 pixels a frame, and returns the times between frames. */
const scroll = `new Promise((resolve) => {
  const list = document.querySelector('[role="table"]')
  const frames = []
  let before = performance.now()
  requestAnimationFrame(function next(now) {
    frames.push(now - before)
    before = now
    list.scrollTop += 137
    if (frames.length < 300) requestAnimationFrame(next)
    else resolve(frames.slice(5))
  })
})`
