/** Compares 20 recorded calls on the console's pages with the API: words, times, sums and costs. */
import t from 'tap'
import type { Call, CallList, CallTurn } from '../../generated/clients/typescript/models/platform.ts'
import type { Browser, Page } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { askApi, openShop } from './shop.ts'
import { storeCall } from './stored-calls.ts'

const callsCount = 20

await inBrowser(t, "the console's pages show the same values as the API", compare)

async function compare(browser: Browser): Promise<void> {
  const shop = await openShop(t, browser)
  const ids: string[] = []
  for (let number = callsCount; number >= 1; number--) ids.push(await storeCall(shop, number))

  t.test(`words, times and sums of ${callsCount} calls on their pages equal the API's`, async (t) => {
    const { page, faults, open } = await shop.visit(t)
    for (const id of ids) {
      const call = await askApi<Call>(shop, `/v1/calls/${id}`)
      await open(`/calls/${id}`, '[data-turn]')
      const seen = (await page.evaluate(readTranscript)) as SeenTurn[]
      t.same(
        seen,
        call.transcript.entries.map((turn) => expectedTurn(call, turn)),
        `words and times of ${id}`,
      )
      await compareSilences(t, page, call)
      await compareCosts(t, page, call)
    }
    t.same(faults, [])
  })

  t.test('the list shows the numbers, lengths and slowest turns that the API answers', async (t) => {
    const { page, open } = await shop.visit(t, { viewport: { width: 1280, height: 1400 } })
    // The list measures its height first, and then draws the rows that fit.
    await open('/calls', `[data-row="${callsCount - 1}"]`)
    const { calls } = await askApi<CallList>(shop, '/v1/calls?limit=20')
    const rows = (await page.evaluate(readRows)) as string[][]
    t.equal(rows.length, callsCount)
    for (const [at, call] of calls.entries()) {
      const text = rows[at]?.join(' ') ?? ''
      t.match(text, call.from ?? '', `the number of call ${at}`)
      t.match(text, ` ${clock(call.duration_seconds ?? 0)} `)
      t.match(text, `${(call.latency_ms?.max ?? 0).toLocaleString('en-US')} ms`)
      t.match(text, call.outcome ?? '')
    }
  })

  t.test('the page of a call says in words why the call ended', async (t) => {
    const { open } = await shop.visit(t)
    await open(`/calls/${ids[0] ?? ''}`, 'dl > div:has(dt:text-is("End")) dd:text-is("the person hung up")')
  })

  t.test('the filters of the calls show their whole words on the screen of a laptop', async (t) => {
    const { page, open } = await shop.visit(t, { viewport: { width: 1366, height: 850 } })
    await open('/calls?since=2026-01-01T00%3A00%3A00.000Z&sort=slowest_turn_ms', 'main [role="search"]')
    for (const selector of ['main [role="search"] input', 'main select:has(option[value="slowest_turn_ms"])'])
      t.ok(await page.evaluate(`(${fits})(${JSON.stringify(selector)})`), selector)
  })
}

/** Whether a field is wide enough for its placeholder or its chosen option. */
const fits = `(selector) => {
  const field = document.querySelector(selector)
  const { font, paddingLeft, paddingRight } = getComputedStyle(field)
  const context = document.createElement('canvas').getContext('2d')
  context.font = font
  const text = field.placeholder ?? field.selectedOptions[0].textContent
  const arrow = field.placeholder === undefined ? 20 : 0
  return context.measureText(text).width + arrow <= field.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)
}`

type SeenTurn = { time: string; played: string; lost: string; silence: string }

/** Reads the transcript as a person sees it. */
const readTranscript = `[...document.querySelectorAll('[data-turn]')].map((turn) => ({
  time: turn.querySelector('button').textContent,
  played: turn.querySelector('[data-words="played"]').textContent,
  lost: turn.querySelector('[data-words="lost"]')?.textContent ?? '',
  silence: turn.querySelector('button[aria-label*="of silence"]')?.textContent ?? '',
}))`

const readRows = `[...document.querySelectorAll('[role="rowgroup"] + [role="rowgroup"] [role="row"]')].map((row) =>
  [...row.querySelectorAll('[role="cell"]')].map((cell) => cell.textContent))`

const clock = (seconds: number) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`
const milliseconds = (ms: number) => `${Math.round(ms).toLocaleString('en-US')} ms`

function expectedTurn(call: Call, turn: CallTurn): SeenTurn {
  const played = turn['heard_text'] ?? turn.text
  const seconds = (Date.parse(turn.started_at) - Date.parse(call.recording_started_at ?? '')) / 1000
  const silence = turn.conversational_latency_ms
  return {
    time: clock(Math.max(0, seconds)),
    played,
    lost: turn.text.slice(played.length),
    silence: silence === null ? '' : milliseconds(silence),
  }
}

type Check = Pick<typeof t, 'equal' | 'ok' | 'same'>

/** The steps of each silence before an answer add up to the silence, on the page and in the API. */
async function compareSilences(t: Check, page: Page, call: Call): Promise<void> {
  const turns = (call.span_tree.spans ?? []).flatMap(({ children }) => children).filter(({ kind }) => kind === 'turn')
  for (const span of turns) {
    const index = Number(span.attributes['index'])
    await page.click(`[data-turn="${index}"] button[aria-label*="of silence"]`)
    const sum = `[data-sum="${Number(span.attributes['silence_ms'])}"]`
    await page.waitForSelector(`[role="tabpanel"]:has(h2:text-is("Turn ${index}")) ${sum}`, patience)
    const shown = (await page.evaluate(
      `[...document.querySelectorAll('[data-waited]')].map((cell) => cell.textContent)`,
    )) as string[]
    t.same(
      shown,
      span.children.map(({ critical_ms: ms }) => milliseconds(ms)),
      `steps of turn ${index}`,
    )
    const waitedMs = span.children.reduce((total, { critical_ms: ms }) => total + ms, 0)
    t.equal(Math.round(waitedMs), Math.round(Number(span.attributes['silence_ms'])), 'the steps sum to the silence')
  }
  t.ok(turns.length > 0)
}

async function compareCosts(t: Check, page: Page, call: Call): Promise<void> {
  await page.click('#cost')
  await page.waitForSelector('[data-cost]', patience)
  const { cost_breakdown: lines = [], cost_micro_usd: total = '' } = call.report ?? {}
  t.equal(await page.evaluate(`document.querySelector('[data-cost]').dataset.cost`), total)
  const shown = (await page.evaluate(
    `[...document.querySelectorAll('tbody td:last-child')].map((cell) => cell.textContent)`,
  )) as string[]
  t.same(
    shown,
    lines.map(({ costMicroUsd }) => `$${(Number(costMicroUsd) / 1_000_000).toFixed(4)}`),
  )
}
