/** Tests the console's pages that a mailed link opens: an invitation, a forgotten password and a new password. */
import t, { type Test } from 'tap'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { call, startOwnAdministered } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import { startMailSink, tokenIn } from '../sign-in/mail-sink.ts'
import { firstPerson, password } from '../sign-in/setup.ts'
import { openVisitor, signIn, type Visitor } from './visiting.ts'

await inBrowser(t, 'links in the console', tests)

async function tests(browser: Browser): Promise<void> {
  const sink = await startMailSink(t)
  const { parley, admin } = await startOwnAdministered(t, sink.env)
  await firstPerson(parley.url)
  const acme = await admin.organization('acme', { scopes: ['platform', 'admin'] })
  const invite = async (email: string) => {
    const made = await call(acme, 'POST', '/v1/invitations', { email, role: 'viewer' })
    return made.json<{ url: string }>().url.slice(`${parley.url}/console`.length)
  }
  const stranger = (t: Test) => openVisitor(t, { browser, url: parley.url })

  t.test('a new person accepts an invitation, whose link works once', async (t) => {
    const link = await invite('sam@example.com')
    const { page, open, check, text } = await stranger(t)
    await open(link, 'input[name="name"]')
    const invitation = await text()
    for (const words of ['Join acme', 'sam@example.com', 'viewer']) t.match(invitation, words)
    await check('invitation')
    await page.fill('input[name="name"]', 'Sam Jones')
    await page.fill('input[name="password"]', 'sam@example.com')
    await page.click('button[type="submit"]')
    await page.waitForSelector('[role="alert"]', patience)
    await page.fill('input[name="password"]', password)
    await page.click('button[type="submit"]')
    await page.waitForSelector('text=Sam Jones, viewer', patience)
    const late = await stranger(t)
    for (const dead of [link, '/invite']) {
      await late.open(dead, 'h1:has-text("no longer good")')
      await late.check('invitation-dead')
    }
  })

  t.test('a person who exists accepts with the password, or is signed in already', async (t) => {
    const { page, open, check } = await stranger(t)
    await open(await invite('ann@example.com'), 'input[name="password"]')
    t.notOk(await page.isVisible('input[name="name"]'))
    await check('invitation-known')
    await enter(page, 'a wrong password of mine')
    await page.waitForSelector('[role="alert"]', patience)
    await enter(page, password)
    await page.waitForSelector('text=Ann Miller, viewer', patience)
    const place = { browser, admin, url: parley.url, organizationId: (await admin.organization('shop')).id }
    const member = await signIn(t, { ...place, role: 'member' })
    await member.open(await invite(`member-${place.organizationId}@example.com`), 'button[type="submit"]')
    t.notOk(await member.page.isVisible('input[name="password"]'))
    await member.page.click('button[type="submit"]')
    await member.page.waitForSelector('button:has-text("acme"):has-text("viewer")', patience)
  })

  t.test('a person asks for a link and sets a new password', async (t) => {
    const { page, open, check } = await stranger(t)
    await open('/login', 'input[name="password"]')
    await page.click('text=Ask for a link')
    await page.waitForSelector('h1:has-text("Set a new password")', patience)
    await check('forgotten')
    await page.fill('input[name="email"]', 'ann@example.com')
    const before = sink.mails.length
    await page.click('button[type="submit"]')
    await page.waitForSelector('[role="status"]:has-text("ann@example.com")', patience)
    await until('a mail came', () => Promise.resolve(sink.mails.length > before))
    const link = `/reset#${tokenIn(sink.mails[before]?.text ?? '')}`
    await open(link, 'input[name="password"]')
    await check('reset')
    await enter(page, 'four other words of mine')
    await page.waitForSelector('h1:has-text("has changed")', patience)
    await check('reset-done')
    await page.click('text=Sign in')
    await page.fill('input[name="email"]', 'ann@example.com')
    await enter(page, 'four other words of mine')
    await page.waitForSelector('text=Ann Miller', patience)
    const late = await stranger(t)
    await late.open(link, 'input[name="password"]')
    await enter(late.page, 'four words of a thief')
    await late.page.waitForSelector('[role="alert"]:has-text("has been used")', patience)
  })
}

async function enter(page: Visitor['page'], given: string): Promise<void> {
  await page.fill('input[name="password"]', given)
  await page.click('button[type="submit"]')
}
