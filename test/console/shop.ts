/** A server with the organization `shop`, whose pages the tests of calls visit and compare with the API. */
import type { Test } from 'tap'
import type { Browser, Page } from '../browser/chromium.ts'
import { startOwnAdministered } from '../platform/setup.ts'
import { type Place, signIn, type Visitor } from './visiting.ts'

export type Shop = Place & {
  /** The organization's key, to compare the pages with the API. */
  key: string
  dataDir: string
  databaseUrl: string
  /** Opens a browser window for the owner, or for another person or screen. */
  visit: (t: Test, options?: Partial<Parameters<typeof signIn>[1]>) => Promise<Visitor>
}

export async function openShop(t: Test, browser: Browser): Promise<Shop> {
  const { parley, admin } = await startOwnAdministered(t)
  const { id: organizationId, key } = await admin.organization('shop')
  const place = { browser, admin, url: parley.url, organizationId }
  const visit: Shop['visit'] = (test, options) => signIn(test, { ...place, ...options })
  const { dataDir, databaseUrl } = parley
  return { ...place, key, dataDir, databaseUrl, visit }
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
