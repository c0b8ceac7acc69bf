/** Opens the browser for tests, waits for a page, and collects its faults. */
import path from 'node:path'
import type { Test } from 'tap'
import { type Browser, openChromium, type Page } from './chromium.ts'

/** The longest time that a test waits until a page shows an element. */
export const patience = { timeout: 30_000 }

/** All tests of a file take at most this long together. A busy machine needs ten times as long as a calm one. */
const fileMs = 600_000

const recording = path.resolve(import.meta.dirname, '../fixtures/speech/privacy-prompt.wav')

/**
 * Runs the tests with a browser whose microphone plays `wavFile`. Without a browser, it reports one skipped test with
 * this title.
 */
export async function inBrowser(
  t: Test,
  title: string,
  tests: (browser: Browser) => unknown,
  wavFile = recording,
): Promise<void> {
  t.setTimeout(fileMs)
  const browser = await openChromium(wavFile)
  if ('missing' in browser) {
    t.test(title, { skip: browser.missing }, () => {})
    return
  }
  t.teardown(() => browser.close())
  await tests(browser)
}

/**
 * Collects a page's faults from now on: thrown errors, and errors in the browser's console, such as a violation of the
 * page's policy. Refused requests are collected apart, because many tests refuse a request.
 */
export function watch(page: Page): { faults: string[]; refused: string[] } {
  const [faults, refused]: [string[], string[]] = [[], []]
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (message.type() !== 'error') return
    const isRefused = message.text().startsWith('Failed to load resource')
    ;(isRefused ? refused : faults).push(message.text())
  })
  return { faults, refused }
}

/** Waits until the element shows the text. If this fails, the error has the shown text. */
export async function shows(page: Page, selector: string, text: string): Promise<void> {
  try {
    await page.waitForSelector(`${selector}:has-text(${JSON.stringify(text)})`, patience)
  } catch {
    throw new Error(`${selector} shows "${await page.textContent(selector)}" instead of "${text}"`)
  }
}

/** Delays requests to matching URLs until the returned function is called. At most `count` requests wait. */
export async function hold(page: Page, address: RegExp, count = Infinity): Promise<() => void> {
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  let requests = 0
  await page.route(address, async (route) => {
    requests += 1
    if (requests <= count) await held
    await route.continue()
  })
  return () => release()
}
