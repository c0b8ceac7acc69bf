/** Makes people with passwords on a test's server. */
import type { Page } from './browser.ts'
import { Browser } from './browser.ts'

export const password = 'four words of my own'

type Session = {
  user: { id: string; email: string; name: string | null }
  organization: { id: string; name: string }
  role: string
  organizations: { id: string; name: string; role: string }[]
  method: string
}
export const sessionOf = ({ body }: Page) => body as Session

/** Makes the server's first user. Returns the user's browser, which is signed in. */
export async function firstPerson(url: string, email = 'ann@example.com'): Promise<Browser> {
  const browser = new Browser(url)
  const made = await browser.post('/console/auth/setup', { email, name: 'Ann Miller', password })
  if (made.status !== 200) throw new Error(made.text)
  return browser
}

export function signIn(browser: Browser, email: string, given = password): Promise<Page> {
  return browser.post('/console/auth/sign-in', { email, password: given })
}
