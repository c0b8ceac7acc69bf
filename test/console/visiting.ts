/** Opens the console's pages in a browser, over a server with stored calls. */
import path from 'node:path'
import { type Browser, type ContextOptions, openChromium, type Page } from '../browser/chromium.ts'
import { runCommand } from '../command.ts'
import { type Administration, openAdministration } from '../platform/setup.ts'
import { ownServer } from '../server.ts'

type Teardown = { teardown(run: () => Promise<void>): void }

export type Shop = {
  url: string
  admin: Administration
  organizationId: string
  /** The organization's key, to compare the pages with the API. */
  key: string
  dataDir: string
  visit: Visit
}
type Visit = (address: string, options?: Partial<ContextOptions> & { person?: string }) => Promise<Visited>
export type Visited = { page: Page; faults: string[]; close: () => Promise<void> }

export const patience = { timeout: 30_000, state: 'attached' } as const

/** Starts a server with the organization `shop`, an owner and a viewer. Returns the reason if there is no browser. */
export async function openShop(t: Teardown): Promise<Shop | { missing: string }> {
  const browser = await openChromium(path.resolve(import.meta.dirname, '../fixtures/speech/privacy-prompt.wav'))
  if ('missing' in browser) return browser
  t.teardown(() => browser.close())
  const parley = await ownServer(t)
  const admin = await openAdministration(parley)
  t.teardown(() => admin.close())
  const { id: organizationId, key } = await admin.organization('shop')
  const cookies = new Map<string, string>()
  for (const role of ['owner', 'viewer']) {
    const named = [`${role}@example.com`, '--org', organizationId]
    await runCommand(parley, ['users', 'create', ...named, '--role', role])
    const { stdout } = await runCommand(parley, ['users', 'session', ...named, '--json'])
    cookies.set(role, (JSON.parse(stdout) as { secret: string }).secret)
  }
  const visit = visitor(browser, parley.url, cookies)
  return { url: parley.url, admin, organizationId, key, dataDir: parley.dataDir, visit }
}

/** Visits addresses as a person. The person `nobody` has no session. */
function visitor(browser: Browser, url: string, cookies: ReadonlyMap<string, string>): Visit {
  return async (address, { person = 'owner', ...options } = {}) => {
    const context = await browser.newContext({ permissions: [], ...options })
    const session = cookies.get(person)
    if (session !== undefined) await context.addCookies([{ name: 'parley_session', value: session, url }])
    const page = await context.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(error.message))
    // The browser's console reports violations of the policy. Some tests refuse requests, so a refused request is not a
    // fault.
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        faults.push(message.text())
    })
    await page.goto(`${url}/console${address}`)
    return { page, faults, close: () => context.close() }
  }
}

/** Answers the requests to an address with an error, as the API would. */
export function refuse(page: Page, address: RegExp, status: number, code: string): Promise<void> {
  const body = JSON.stringify({ error: `The server refused this with ${code}.`, code, requestId: 'req_test' })
  return page.route(address, (route) => route.fulfill({ status, contentType: 'application/json', body }))
}

/** Sends a request to the API with the organization's key. */
export async function askApi<Body>({ url, key }: Shop, address: string): Promise<Body> {
  const answer = await fetch(url + address, { headers: { authorization: `Bearer ${key}` } })
  return (await answer.json()) as Body
}
