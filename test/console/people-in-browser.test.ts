/** Tests the console's pages for API keys and members: rotate a key, invite a viewer, and the last owner. */
import t from 'tap'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { call, startAdministered } from '../platform/setup.ts'
import { signIn } from './visiting.ts'

await inBrowser(t, 'keys and members in the console', tests)

async function tests(browser: Browser): Promise<void> {
  const { parley, admin } = await startAdministered(t)
  const organization = async (name: string) => {
    const owner = await admin.organization(name)
    return { owner, place: { browser, admin, url: parley.url, organizationId: owner.id } }
  }

  t.test('a person makes an API key, rotates it and revokes it', async (t) => {
    const { place } = await organization('with keys')
    const { page, open, check, text } = await signIn(t, place)
    const secretOf = async () => /sk_[\w-]{30,}/.exec(await text())?.[0] ?? ''
    const statusOf = async (key: string) => (await call({ url: parley.url, key }, 'GET', '/v1/agents')).status
    await open('/keys', 'tbody tr')
    await page.click('button:has-text("New key")')
    await page.fill('dialog input[name="name"]', 'shop')
    await check('key-new')
    await page.click('dialog button[type="submit"]')
    await page.waitForSelector('dialog code', patience)
    const first = await secretOf()
    t.equal(await statusOf(first), 200)
    await page.keyboard.press('Escape')
    await page.waitForSelector('tr:has-text("shop")', patience)
    await check('keys')
    await page.click('button[aria-label="Rotate shop"]')
    await page.click('dialog button[type="submit"]')
    await page.waitForSelector('dialog code', patience)
    await page.keyboard.press('Escape')
    await page.waitForSelector('tr:has-text("shop"):has-text("old secret works until")', patience)
    await page.click('button[aria-label="Rotate shop"]')
    await page.selectOption('dialog select', '0')
    await page.click('dialog button[type="submit"]')
    await page.waitForSelector('dialog code', patience)
    const second = await secretOf()
    t.not(second, first)
    t.same([await statusOf(first), await statusOf(second)], [401, 200])
    await check('key-rotated')
    await page.keyboard.press('Escape')
    await page.click('button[aria-label="Revoke shop"]')
    await page.click('button:has-text("Revoke the key")')
    await page.waitForSelector('table:not(:has-text("shop"))', patience)
    t.equal(await statusOf(second), 401)
    await page.click('main nav a:has-text("Revoked")')
    await page.waitForSelector('tr:has-text("shop")', patience)
  })

  t.test('a person invites a viewer, and the last owner cannot become a viewer', async (t) => {
    const { place } = await organization('with members')
    const { page, open, check } = await signIn(t, place)
    await open('/members', 'tbody tr')
    await page.click('button:has-text("Invite a person")')
    await page.fill('dialog input[name="email"]', 'sam@example.com')
    await page.click('dialog button[type="submit"]')
    await page.waitForSelector('dialog code:has-text("/console/")', patience)
    await check('member-invited')
    await page.keyboard.press('Escape')
    await page.waitForSelector('tr:has-text("sam@example.com"):has-text("viewer")', patience)
    await check('members')
    await page.click('button[aria-label^="Role of"]')
    await page.selectOption('dialog select', 'viewer')
    await page.click('dialog button[type="submit"]')
    await page.waitForSelector('dialog [role="alert"]:has-text("LAST_OWNER")', patience)
    await page.keyboard.press('Escape')
    await page.click('button[aria-label^="Delete the invitation"]')
    await page.waitForSelector('text=No invitation is open.', patience)
  })

  t.test('a member sees no API keys, and sees the names of members without their email addresses', async (t) => {
    const { place } = await organization('with a member')
    const { open, check, text } = await signIn(t, { ...place, role: 'member' })
    await open('/keys', '[data-state="forbidden"]')
    await check('keys-forbidden')
    await open('/members', 'tbody tr')
    t.match(await text(), /hidden/)
  })
}
