/** Tests the console's pages for phone numbers: search and buy a number, give it an agent, and release it. */
import t from 'tap'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { call, startOwnAdministered } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'
import { signIn, withCarrier } from './visiting.ts'

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
    await page.waitForSelector(
      'main [role="status"]:has-text("Simulated carrier: no real number, no real money.")',
      patience,
    )
    await check('numbers-buy')
    await page.click('tbody button:has-text("Buy")')
    await page.waitForSelector('dialog:has-text("Simulated carrier"):has-text("Credit left: $100.00.")', patience)
    await check('number-buy')
    await page.click('dialog button[type="submit"]')
    await page.waitForSelector('text=Your business must be verified first', patience)
    await check('number-unverified')
    t.equal(await page.isVisible('dialog a[href="/console/numbers/verification"]'), true)
    await verify(owner)
    await page.click('dialog button[type="submit"]')
    await page.waitForURL(/\/console\/numbers$/, patience)
    await page.waitForSelector('tbody tr:has-text("+1212")', patience)
    await page.click('tbody button:has-text("Change")')
    await page.selectOption('dialog select', id)
    await page.click('dialog button[type="submit"]')
    await page.waitForSelector('tbody tr:has-text("Desk")', patience)
    await check('numbers')
    await open('/usage?tab=credit', 'tr:has-text("phone number"):has-text("+1212")')
    await page.waitForSelector('tr:has-text("starting credit"):has-text("$100.00")', patience)
    await check('credit-of-a-number')
    await open('/numbers', 'tbody tr:has-text("Desk")')
    await page.click('tbody button:has-text("Release")')
    await page.click('button:has-text("Release the number")')
    await page.waitForSelector('[data-state="empty"]', patience)
  })

  t.test('a viewer cannot buy a number, and sees which role may', async (t) => {
    const { id: organizationId } = await admin.organization('with a viewer')
    const { page, open, check } = await signIn(t, { browser, admin, url: parley.url, organizationId, role: 'viewer' })
    await open('/numbers/buy', 'tbody tr')
    await page.waitForSelector('text=Buying a number needs the role admin.', patience)
    t.equal(await page.isVisible('tbody button:text-is("Buy"):enabled'), false)
    await check('number-forbidden')
  })

  t.test('a server with a real carrier does not say that its numbers are simulated', async (t) => {
    const { id: organizationId } = await admin.organization('with a carrier')
    const { page, open, text } = await signIn(t, { browser, admin, url: parley.url, organizationId })
    await withCarrier(page)
    await open('/numbers/buy', 'tbody tr')
    await page.click('tbody button:has-text("Buy")')
    await page.waitForSelector('dialog:has-text("Credit left: $100.00.")', patience)
    t.notMatch(await text(), /Simulated carrier/)
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
