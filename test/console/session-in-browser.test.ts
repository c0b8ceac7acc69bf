/** Tests the console's account menu: switching to another organization, and signing out and in. */
import t from 'tap'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { call, startOwnAdministered } from '../platform/setup.ts'
import { firstPerson, password } from '../sign-in/setup.ts'
import { openVisitor } from './visiting.ts'

await inBrowser(t, 'the account menu in the console', tests)

async function tests(browser: Browser): Promise<void> {
  const { parley, admin } = await startOwnAdministered(t)
  await firstPerson(parley.url)
  const shop = await admin.organization('shop')
  await admin.store.users.create(shop.id, 'ann@example.com', 'member')
  const made = await call(shop, 'POST', '/v1/agents', {
    name: 'Front desk',
    systemPrompt: 'Be brief.',
    intent: { language: 'en' },
  })
  t.equal(made.status, 201, made.text)

  t.test('the menu switches to another organization and shows only its data, and signs the user out', async (t) => {
    const { page, open } = await openVisitor(t, { browser, url: parley.url })
    const signIn = async (given: string) => {
      await page.fill('input[name="email"]', 'ann@example.com')
      await page.fill('input[name="password"]', given)
      await page.click('button[type="submit"]')
    }
    await open('', 'input[name="password"]')
    await signIn('a wrong password of mine')
    await page.waitForSelector('[role="alert"]', patience)
    await signIn(password)
    await page.waitForSelector('button:has-text("Ann Miller, owner")', patience)
    await page.waitForSelector('text=Make the sample agent', patience)
    await page.click('button:has-text("Ann Miller")')
    await page.click('[role="menuitem"]:has-text("shop")')
    await page.waitForSelector('button:has-text("Ann Miller, member")', patience)
    await page.waitForSelector('text=Your agent: Front desk', patience)
    await page.click('button:has-text("Ann Miller")')
    await page.click('[role="menuitem"]:text-is("Sign out")')
    await page.waitForSelector('input[name="password"]', patience)
    t.match(page.url(), '/console/login')
    await open('/members', 'input[name="password"]')
    await signIn(password)
    await page.waitForSelector('h1:has-text("Members")', patience)
  })
}
