/**
 * Opens the console's pages in a real browser, as a person with a role. Each visit fails if the page breaks its policy
 * or throws, has an accessibility fault in light or dark colours, or is wider than a phone.
 */
import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import type { Role } from '../../domain/records/organization.ts'
import { axeFaults, type Browser, openChromium, type Page } from '../browser/chromium.ts'
import type { Administration } from '../platform/setup.ts'

type Sized = { setViewportSize(size: { width: number; height: number }): Promise<void> }
type Coloured = { emulateMedia(media: { colorScheme: 'light' | 'dark' }): Promise<void> }
type Pictured = { screenshot(options: { path: string; fullPage: boolean }): Promise<unknown> }
type Waiting = {
  waitForSelector(selector: string, options?: { timeout: number }): Promise<unknown>
  waitForURL(url: RegExp, options?: { timeout: number }): Promise<void>
  url(): string
}
export type ConsolePage = Page & Sized & Coloured & Pictured & Waiting

export const patience = { timeout: 20_000 }
const root = path.resolve(import.meta.dirname, '../..')
const run = promisify(execFile)

/** Builds the console where the server looks for it, and opens the browser. */
export async function openConsole(t: { teardown(run: () => unknown): void }): Promise<Browser | { missing: string }> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  // The browser needs a recording for its microphone.
  const recording = path.join(folder, 'voice.wav')
  copyFileSync(path.join(root, 'test/fixtures/speech/privacy-prompt.wav'), recording)
  const browser = await openChromium(recording)
  if ('missing' in browser) return browser
  t.teardown(() => browser.close())
  await run(process.execPath, ['deploy/console-app.mjs', 'dist/console'], { cwd: root })
  return browser
}

export type Visitor = {
  page: ConsolePage
  /** Opens an address in the console and waits until the selector is there. */
  open: (address: string, selector?: string) => Promise<void>
  /** Fails on each accessibility fault in both color schemes, and on a page that scrolls sideways at 360 pixels. */
  check: (name: string) => Promise<void>
  /** The page's whole text. */
  text: () => Promise<string>
}

/** Signs a person in with the role, and returns the person's browser window. */
export async function signIn(
  t: Test,
  {
    browser,
    admin,
    url,
    organizationId,
    role = 'owner',
  }: {
    browser: Browser
    admin: Administration
    url: string
    organizationId: string
    role?: Role
  },
): Promise<Visitor> {
  const email = `${role}-${organizationId}@example.com`
  await admin.store.users.create(organizationId, email, role)
  const issued = await admin.store.users.issue(organizationId, email, 'session')
  if (issued === null) throw new Error('no session')
  return openVisitor(t, { browser, url, session: issued.secret })
}

/** Opens a browser window with the session, or as a person without a session. */
export async function openVisitor(
  t: Test,
  { browser, url, session }: { browser: Browser; url: string; session?: string },
): Promise<Visitor> {
  const viewport = { width: 1280, height: 860 }
  const context = await browser.newContext({ permissions: ['clipboard-write', 'microphone'], viewport })
  t.teardown(() => context.close())
  if (session !== undefined) await context.addCookies([{ name: 'parley_session', value: session, url }])
  const opened: unknown = await context.newPage()
  const page = opened as ConsolePage
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  // The browser reports policy violations as errors. Answers with an error status are part of the tests.
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('status of')) faults.push(message.text())
  })
  return {
    page,
    open: async (address, selector = 'h1') => {
      await page.goto(`${url}/console${address}`)
      await page.waitForSelector(selector, patience)
    },
    check: async (name) => {
      await checkPage(t, page, name)
      t.same(faults, [], `${name} obeys the policy and throws nothing`)
    },
    text: async () => (await page.evaluate('document.querySelector("#root").innerText')) as string,
  }
}

const narrow = { width: 360, height: 780 }
const wide = { width: 1280, height: 860 }
/** If set, each checked page is kept as pictures in this folder. */
const pictures = process.env['PARLEY_TEST_PICTURES']

async function checkPage(t: Test, page: ConsolePage, name: string): Promise<void> {
  for (const [size, viewport] of Object.entries({ wide, narrow })) {
    await page.setViewportSize(viewport)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      t.same(await axeFaults(page), [], `${name}, ${size}, ${colorScheme}`)
      if (pictures !== undefined && (size === 'wide' || colorScheme === 'light'))
        await page.screenshot({ path: path.join(pictures, `${name}-${size}-${colorScheme}.png`), fullPage: true })
    }
    const widthPx = await page.evaluate('document.documentElement.scrollWidth')
    t.ok((widthPx as number) <= viewport.width, `${name} fits ${viewport.width} pixels, not ${String(widthPx)}`)
  }
  await page.setViewportSize(wide)
  await page.emulateMedia({ colorScheme: 'light' })
}

/** Presses Tab until the wanted element has the focus, as a person without a mouse does. */
export async function tabTo(page: ConsolePage, selector: string): Promise<void> {
  for (let presses = 0; presses < tabsMax; presses++) {
    await page.keyboard.press('Tab')
    const isThere = await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)
    if (isThere) return
  }
  throw new Error(`${String(tabsMax)} presses of Tab do not reach ${selector}`)
}

const tabsMax = 120
