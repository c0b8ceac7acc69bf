/**
 * Visits the console in a browser, as a person with a role. A check fails if the page breaks its policy or throws, has
 * an accessibility fault in light or dark colours, or is wider than a phone.
 */
import path from 'node:path'
import type { Test } from 'tap'
import type { Role } from '../../domain/records/organization.ts'
import { axeFaults, type Browser, type ContextOptions, type Page } from '../browser/chromium.ts'
import { patience, watch } from '../browser/visiting.ts'
import type { Administration } from '../platform/setup.ts'

/** A server, and the browser that visits it. */
export type Site = { browser: Browser; url: string }
export type Place = Site & { admin: Administration; organizationId: string }

export type Visitor = {
  page: Page
  faults: string[]
  /** The errors in the browser's console about refused requests. */
  refused: string[]
  /** Opens an address in the console and waits until the selector is there. */
  open: (address: string, selector?: string) => Promise<void>
  /** Fails on each accessibility fault in both colour schemes, and if a screen of 360 pixels scrolls sideways. */
  check: (name: string) => Promise<void>
  /** The page's whole text. */
  text: () => Promise<string>
  close: () => Promise<void>
}

const narrow = { width: 360, height: 780 }
const wide = { width: 1280, height: 860 }
/** If set, each checked page is kept as pictures in this folder. */
const pictures = process.env['PARLEY_TEST_PICTURES']

type SignInOptions = Partial<ContextOptions> & { role?: Role }

/** Opens a browser window for a person who is signed in with the role. */
export async function signIn(t: Test, place: Place & SignInOptions): Promise<Visitor> {
  const { browser, url, admin, organizationId, role = 'owner', ...options } = place
  const email = `${role}-${organizationId}@example.com`
  await admin.store.users.create(organizationId, email, role)
  const issued = await admin.store.users.issue(organizationId, email, 'session')
  if (issued === null) throw new Error('no session')
  return openVisitor(t, { browser, url }, { session: issued.secret, ...options })
}

/** Opens a browser window with the session, or for a person without a session. */
export async function openVisitor(
  t: Test,
  { browser, url }: Site,
  { session, ...options }: Partial<ContextOptions> & { session?: string } = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    permissions: ['clipboard-write', 'microphone'],
    viewport: wide,
    // Otherwise the browser would paint the dots that pulse all the time.
    reducedMotion: 'reduce',
    ...options,
  })
  t.teardown(() => context.close())
  if (session !== undefined) await context.addCookies([{ name: 'parley_session', value: session, url }])
  const page = await context.newPage()
  const { faults, refused } = watch(page)
  return {
    page,
    faults,
    refused,
    open: async (address, selector = 'h1') => {
      await page.goto(`${url}/console${address}`)
      await page.waitForSelector(selector, patience)
    },
    check: async (name) => {
      await checkPage(t, page, name)
      t.same(faults, [], `${name} obeys the policy and throws nothing`)
    },
    text: async () => (await page.evaluate('document.querySelector("#root").innerText')) as string,
    close: () => context.close(),
  }
}

/** Tells the page that the server has a real carrier. */
export const withCarrier = (page: Page) =>
  page.route(/\/console\/auth\/session$/, async (route) => {
    const session = (await (await route.fetch()).json()) as { server: object }
    const body = JSON.stringify({ ...session, server: { ...session.server, simulatedCarrier: false } })
    await route.fulfill({ status: 200, contentType: 'application/json', body })
  })

async function checkPage(t: Test, page: Page, name: string): Promise<void> {
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
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < tabsMax; presses++) {
    await page.keyboard.press('Tab')
    const isThere = await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)
    if (isThere) return
  }
  throw new Error(`${String(tabsMax)} presses of Tab do not reach ${selector}`)
}

const tabsMax = 120
