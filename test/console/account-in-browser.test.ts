/** Tests the console's page for the person's own account: name, sessions in other browsers, and password. */
import t from 'tap'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { startOwnAdministered } from '../platform/setup.ts'
import { firstPerson, password } from '../sign-in/setup.ts'
import { openVisitor } from './visiting.ts'

await inBrowser(t, "a person's account in the console", tests)

async function tests(browser: Browser): Promise<void> {
  const { parley } = await startOwnAdministered(t)
  await firstPerson(parley.url)

  t.test('a person renames herself, ends another session, and changes the password', async (t) => {
    const stranger = async () => {
      const visitor = await openVisitor(t, { browser, url: parley.url })
      await visitor.open('/login', 'input[name="password"]')
      await visitor.page.fill('input[name="email"]', 'ann@example.com')
      await visitor.page.fill('input[name="password"]', password)
      await visitor.page.click('button[type="submit"]')
      await visitor.page.waitForSelector('nav[aria-label="Pages"]', patience)
      return visitor
    }
    const [first, second] = [await stranger(), await stranger()]
    const { page, open, check } = first
    await page.click('button:has-text("Ann Miller")')
    await page.click('[role="menuitem"]:has-text("Your account")')
    await page.waitForSelector('tr:has-text("this browser")', patience)
    await check('account')
    await page.fill('input[name="name"]', 'Ann Smith')
    await page.click('button:has-text("Save the name")')
    await page.waitForSelector('button:has-text("Ann Smith")', patience)
    const sessions = (await page.evaluate('document.querySelectorAll("tbody tr").length')) as number
    await page.click('button[aria-label^="End the session"]')
    await page.waitForSelector(`tbody:not(:has(tr:nth-child(${sessions})))`, patience)
    await second.open('/account', 'h1:has-text("Sign in")')
    await open('/account', 'input[name="current"]')
    const change = async (current: string, next: string) => {
      await page.fill('input[name="current"]', current)
      await page.fill('input[type="password"][name="password"]', next)
      await page.click('button:has-text("Change the password")')
    }
    await change('not my password at all', 'four other words of mine')
    await page.waitForSelector('[role="alert"]:has-text("SIGN_IN_FAILED")', patience)
    await change(password, 'four other words of mine')
    await page.waitForSelector('[role="status"]:has-text("is changed")', patience)
    await check('password-changed')
    await page.click('button:has-text("Sign out everywhere")')
    await page.waitForSelector('h1:has-text("Sign in")', patience)
  })
}
