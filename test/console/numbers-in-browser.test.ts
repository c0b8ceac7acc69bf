/** Tests the console's pages for phone numbers: search and buy a number, give it an agent, and release it. */
import t from 'tap'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { call, startOwnAdministered } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'
import { signIn } from './visiting.ts'

await inBrowser(t, 'phone numbers in the console', tests)

async function tests(browser: Browser): Promise<void> {
  const { parley, admin } = await startOwnAdministered(t)

  t.test('a person buys a number, gives it an agent and releases it', async (t) => {
    const owner = await admin.organization('that buys')
    const agent = { name: 'Desk', systemPrompt: 'You answer the phone.', intent: { language: 'en' } }
    const { id } = (await call(owner, 'POST', '/v1/agents', agent)).json<{ id: string }>()
    const place = { browser, admin, url: parley.url, organizationId: owner.id }
    const { page, open, check } = await signIn(t, place)
    await open('/numbers', '[data-state="empty"]')
    await check('numbers-empty')
    await page.click('main a:has-text("Buy a number")')
    await page.waitForSelector('input[name="areaCode"]', patience)
    await page.fill('input[name="areaCode"]', '212')
    await page.click('main button[type="submit"]')
    await page.waitForURL(/\?areaCode=212$/, patience)
    await page.waitForSelector('tbody tr:has-text("212")', patience)
    await check('numbers-buy')
    await page.click('tbody button:has-text("Buy")')
    await check('number-buy')
    await page.click('dialog button[type="submit"]')
    await page.waitForSelector('text=Your business must be verified first', patience)
    await check('number-unverified')
    await verify(owner)
    await page.click('dialog button[type="submit"]')
    await page.waitForURL(/\/console\/numbers$/, patience)
    await page.waitForSelector('tbody tr:has-text("+1212")', patience)
    await page.click('tbody button:has-text("Change")')
    await page.selectOption('dialog select', id)
    await page.click('dialog button[type="submit"]')
    await page.waitForSelector('tbody tr:has-text("Desk")', patience)
    await check('numbers')
    await page.click('tbody button:has-text("Release")')
    await page.click('button:has-text("Release the number")')
    await page.waitForSelector('[data-state="empty"]', patience)
  })

  t.test('a viewer cannot buy a number, and sees which role may', async (t) => {
    const { id: organizationId } = await admin.organization('with a viewer')
    const { page, open, check } = await signIn(t, { browser, admin, url: parley.url, organizationId, role: 'viewer' })
    await open('/numbers/buy', 'tbody tr')
    await page.click('tbody button:has-text("Buy")')
    await page.click('dialog button[type="submit"]')
    await page.waitForSelector('text=needs the role admin', patience)
    await check('number-forbidden')
  })
}

/** The simulator's review takes two seconds. */
async function verify(owner: Target): Promise<void> {
  const declaration = { businessName: 'Harbor Dental LLC', useCase: 'Appointments' }
  const body = { attestationAccepted: true, attestationVersion: '2026-07', declaration }
  await call(owner, 'POST', '/v1/phone-numbers/kyb/submit', body)
  await until('the approval', async () =>
    /"status":"approved"/.test((await call(owner, 'GET', '/v1/phone-numbers/kyb')).text),
  )
}
