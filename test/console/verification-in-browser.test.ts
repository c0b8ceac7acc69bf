/** Tests the console's page for the verification of the business: each state, the draft, and who may use the page. */
import t from 'tap'
import type { Browser, Page } from '../browser/chromium.ts'
import { inBrowser, patience, shows } from '../browser/visiting.ts'
import { runCommand } from '../command.ts'
import { forms } from '../numbers/forms.ts'
import { call, startOwnAdministered } from '../platform/setup.ts'
import type { Target } from '../router/requests.ts'
import { signIn, tabTo } from './visiting.ts'

const address = '/numbers/verification'
const field = (name: string) => `main [name="${name}"]`

await inBrowser(t, 'the business verification in the console', tests)

async function tests(browser: Browser): Promise<void> {
  const { parley, admin } = await startOwnAdministered(t, { PARLEY_KYB_REVIEW: 'operator' })
  const organization = async (name: string) => {
    const owner = await admin.organization(name)
    return { owner, place: { browser, admin, url: parley.url, organizationId: owner.id } }
  }
  const review = (owner: Target & { id: string }, ...args: string[]) =>
    runCommand(parley, ['kyb', ...args, '--org', owner.id])
  const kyb = async (owner: Target) => (await call(owner, 'GET', '/v1/phone-numbers/kyb')).json<Verification>()

  t.test('a person saves a draft, submits the business, and sees each result of the review', async (t) => {
    const { owner, place } = await organization('that verifies')
    const { page, open, check } = await signIn(t, { ...place, role: 'admin' })
    await open('/numbers', 'main [role="status"]:has-text("Numbers can be bought once the business is verified")')
    await check('numbers-unverified')
    await page.click('main a:has-text("Business verification")')
    await shows(page, 'main', 'Fill in the form and submit it.')
    await check('verification-missing')
    await page.click('main button:has-text("parley")')
    await shows(page, 'main pre', 'parley business show')
    await page.fill(field('/businessProfile/legalName'), 'Harbor Dental LLC')
    await page.click('button:has-text("Save as a draft")')
    await shows(page, 'main', 'The draft is saved.')
    const { legalName, country } = (await kyb(owner)).submission?.businessProfile ?? {}
    t.same([legalName, country], ['Harbor Dental LLC', 'US'])
    await check('verification-draft')

    await page.reload()
    await page.waitForSelector(field('/businessProfile/legalName'), patience)
    t.equal(await valueOf(page, '/businessProfile/legalName'), 'Harbor Dental LLC')
    await page.click('button:has-text("Submit the business")')
    t.equal(await page.isVisible('main input:invalid'), true, 'the browser asks for the missing fields')
    t.equal((await kyb(owner)).status, 'draft')

    await fill(page)
    await page.click('button:has-text("Submit the business")')
    await shows(page, 'main', 'The business is being reviewed.')
    await check('verification-submitted')
    t.match(await kyb(owner), { status: 'submitted', submission: { ...forms, businessProfile: profile } })
    t.equal(await page.isVisible('main form'), false, 'nothing can be changed during a review')

    await review(owner, 'reject', '--reason', 'The address is not registered.')
    await shows(page, 'main [role="alert"]', 'The address is not registered.')
    await check('verification-rejected')
    await page.fill(field('/businessProfile/address/street'), '2 Main Street')
    await page.click(field('/attestationAccepted'))
    await page.click('button:has-text("Submit the business")')
    await shows(page, 'main', 'The business is being reviewed.')
    t.match(await kyb(owner), { submission: { businessProfile: { address: { street: '2 Main Street' } } } })

    await review(owner, 'approve')
    await shows(page, 'main', 'The organization may buy numbers.')
    await check('verification-approved')
    t.equal(await page.isVisible('main a[href="/console/numbers/buy"]'), true)
    await open('/numbers', '[data-state="empty"]')
    t.equal(await page.isVisible('main :text("Numbers can be bought once the business is verified")'), false)
    t.equal(await page.isVisible('main a:has-text("Business verification")'), true)

    await review(owner, 'revoke')
    await open(address, 'main form')
    await shows(page, 'main', 'The approval was taken back.')
    await check('verification-revoked')
  })

  t.test('the errors of the server stand beside their fields', async (t) => {
    const { place } = await organization('with errors')
    const { page, open, check } = await signIn(t, place)
    await open(address, 'main form')
    await page.fill(field('/businessProfile/country'), 'us')
    await page.click('button:has-text("Save as a draft")')
    await page.waitForSelector(`${field('/businessProfile/country')}[aria-invalid="true"]`, patience)
    t.match(await describedBy(page, '/businessProfile/country'), 'country')
    await check('verification-refused')
    await page.fill(field('/businessProfile/country'), 'US')
    await page.fill(field('/authorizedRepresentative/phone'), '12')
    await page.click('button:has-text("Save as a draft")')
    await page.waitForSelector(`${field('/authorizedRepresentative/phone')}[aria-invalid="true"]`, patience)
    t.match(await describedBy(page, '/authorizedRepresentative/phone'), 'Optional.', 'the note stays')
    t.match(await describedBy(page, '/authorizedRepresentative/phone'), 'phone')
    t.equal(await page.isVisible(`${field('/businessProfile/country')}[aria-invalid]`), false)
  })

  t.test('the form begins with the brand for text messages, and works with the keyboard', async (t) => {
    const { owner, place } = await organization('with a brand')
    const { page, open } = await signIn(t, place)
    const businessProfile = { legalName: 'Harbor Dental LLC', address: { city: 'Boston' } }
    await page.route(/\/v1\/phone-numbers\/kyb$/, (route) => {
      const body = JSON.stringify({ status: 'missing', submission: null, prefill: businessProfile })
      return route.fulfill({ status: 200, contentType: 'application/json', body })
    })
    await open(address, 'main form:has-text("Filled in from the brand for text messages.")')
    t.equal(await valueOf(page, '/businessProfile/address/city'), 'Boston')
    await tabTo(page, '[name="/authorizedRepresentative/name"]')
    await page.keyboard.type('Dana Reed')
    await tabTo(page, 'main form button[type="button"]')
    await page.keyboard.press('Enter')
    await shows(page, 'main form', 'Saved as a draft.')
    t.match(await kyb(owner), {
      status: 'draft',
      submission: { businessProfile, authorizedRepresentative: { name: 'Dana Reed' } },
    })
  })

  t.test('the page says what happened if another person has submitted the business meanwhile', async (t) => {
    const { owner, place } = await organization('with two people')
    const { page, open } = await signIn(t, place)
    await open(address, 'main form')
    await call(owner, 'POST', '/v1/phone-numbers/kyb/submit', forms)
    await page.click('button:has-text("Save as a draft")')
    await shows(page, 'main', 'The business is being reviewed.')
  })

  for (const role of ['member', 'viewer'] as const)
    t.test(`a ${role} may not read the verification, and the page of the numbers does not ask for it`, async (t) => {
      const { place } = await organization(`with a ${role}`)
      const { page, refused, open, check } = await signIn(t, { ...place, role })
      await open('/numbers', '[data-state="empty"]')
      t.same(refused, [])
      await open(address, '[data-state="forbidden"]')
      await shows(page, '[data-state="forbidden"]', 'needs the role admin')
      await check(`verification-${role}`)
    })
}

const profile = { ...forms.businessProfile, registrationId: '12-3456789' }

async function fill(page: Page): Promise<void> {
  const { address: place, entityType, ...texts } = profile
  for (const [name, value] of Object.entries(texts)) await page.fill(field(`/businessProfile/${name}`), value)
  for (const [name, value] of Object.entries(place)) await page.fill(field(`/businessProfile/address/${name}`), value)
  await page.selectOption(field('/businessProfile/entityType'), entityType)
  for (const [name, value] of Object.entries(forms.authorizedRepresentative))
    await page.fill(field(`/authorizedRepresentative/${name}`), value)
  await page.click(field('/attestationAccepted'))
}

const valueOf = (page: Page, name: string) =>
  page.evaluate(`document.querySelector(${JSON.stringify(field(name))}).value`)

/** Returns the texts that a screen reader reads after the field: its note and its error. */
const describedBy = async (page: Page, name: string) =>
  (await page.evaluate(`document.querySelector(${JSON.stringify(field(name))}).getAttribute('aria-describedby')
    .split(' ').map((id) => document.getElementById(id).textContent).join(' ')`)) as string

type Verification = {
  status: string
  submission: { businessProfile: { legalName?: string; country?: string } | null } | null
}
