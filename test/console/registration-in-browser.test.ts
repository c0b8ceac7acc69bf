/** Tests the console's pages for text messages in the USA and for providers: a brand is registered, a key is stored. */
import t from 'tap'
import { newEntry } from '../../simulator/registry-ids.ts'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { brandProfile } from '../carrier/sms-profiles.ts'
import { call, startOwnAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import { signIn, type Visitor, withCarrier } from './visiting.ts'

const business = {
  ...{ legalName: 'Harbor Dental LLC', displayName: 'Harbor Dental', ein: '12-3456789' },
  ...{ website: 'https://harbordental.example', street: '1 Main Street', city: 'Boston', state: 'MA' },
  ...{ postalCode: '02108', supportEmail: 'help@harbordental.example', supportPhone: '+12025550143' },
  ...{ firstName: 'Dana', lastName: 'Reed', email: 'dana@harbordental.example', phone: '+12025550144' },
}

await inBrowser(t, 'registrations in the console', tests)

async function fill(page: Visitor['page'], values: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(values)) await page.fill(`main [name="${name}"]`, value)
}

async function tests(browser: Browser): Promise<void> {
  const { parley, admin } = await startOwnAdministered(t)
  const sql = openDatabase(parley)
  t.teardown(() => sql.end())
  const organization = async (name: string) => {
    const owner = await admin.organization(name)
    return { owner, place: { browser, admin, url: parley.url, organizationId: owner.id } }
  }

  t.test('a person registers a brand and a campaign, and sees the state of each step', async (t) => {
    const { owner, place } = await organization('that texts')
    const { page, open, check } = await signIn(t, place)
    await open('/sms', '[data-state="forbidden"]')
    await check('sms-disabled')
    await sql`update organizations set sms_enabled = true where id = ${owner.id}`
    await open('/sms', 'main [name="legalName"]')
    await check('sms-new')
    await fill(page, business)
    await page.click('button:has-text("Save the business")')
    await page.waitForSelector('li:has-text("Describe the business"):has-text("saved")', patience)
    await page.click('button:has-text("Register the brand")')
    await page.click('dialog button:has-text("Submit the business")')
    await page.waitForSelector('li:has-text("Register the brand"):has-text("in review")', patience)
    await check('sms-brand-pending')
    // The simulated carrier stores the result of its review in the id.
    const { id: verified } = newEntry('brand', ['verified'], 'verified', Date.now() - 60_000)
    await sql`update sms_registrations set brand_carrier_id = ${verified} where organization_id = ${owner.id}`
    await page.click('button:has-text("Read all states again")')
    await page.waitForSelector('li:has-text("Register the brand"):has-text("verified")', patience)
    await fill(page, {
      description: 'Reminders of appointments.',
      messageFlow: 'Patients agree in a form.',
      sampleMessages: 'Your appointment is tomorrow.\nYour appointment has moved.',
      ...{ helpMessage: 'Call for help.', optOutMessage: 'No more messages.' },
    })
    await page.click('button:has-text("Save the messages")')
    await page.waitForSelector('li:has-text("Describe the messages"):has-text("saved")', patience)
    await page.click('button:has-text("Register the campaign")')
    await page.click('dialog button:has-text("Submit the messages")')
    await page.waitForSelector('li:has-text("Register the campaign"):has-text("in review")', patience)
    await check('sms-campaign-pending')
    const { ownBrand, ownCampaign } = (await call(owner, 'GET', '/v1/sms/10dlc')).json<Registration>()
    t.match(ownBrand, { status: 'verified', profile: { legalName: 'Harbor Dental LLC', country: 'US' } })
    t.equal(ownCampaign.profile.sampleMessages.length, 2)
  })

  t.test('phone numbers and the website are taken as people write them', async (t) => {
    const { owner, place } = await organization('with a phone')
    await sql`update organizations set sms_enabled = true where id = ${owner.id}`
    const { page, open } = await signIn(t, place)
    await open('/sms', 'main [name="legalName"]')
    for (const name of ['phone', 'supportPhone'])
      t.equal(await page.isVisible(`main [name="${name}"][placeholder="+12125550123"]`), true)
    await fill(page, { ...business, supportPhone: '(202) 555-0143', website: 'harbordental.example', phone: '0143' })
    const valueOf = (name: string) => page.evaluate(`document.querySelector('main [name="${name}"]').value`)
    t.same([await valueOf('supportPhone'), await valueOf('website')], [business.supportPhone, business.website])
    await page.keyboard.press('Enter')
    t.equal(await page.isVisible('main input[name="phone"]:invalid'), true, 'a number of no known country is refused')
    await page.fill('main [name="phone"]', '1 202 555 0144')
    await page.keyboard.press('Enter')
    await page.waitForSelector('li:has-text("Describe the business"):has-text("saved")', patience)
    const { ownBrand } = (await call(owner, 'GET', '/v1/sms/10dlc')).json<Registration>()
    t.match(ownBrand, {
      profile: {
        ...{ website: business.website, supportPhone: business.supportPhone },
        authorizedContact: { phone: business.phone },
      },
    })
  })

  t.test('the page says that the registry is simulated, and shows the end of its review', async (t) => {
    const { owner, place } = await organization('in review')
    await sql`update organizations set sms_enabled = true where id = ${owner.id}`
    await call(owner, 'PUT', '/v1/sms/10dlc/brand', brandProfile)
    const { page, open, check } = await signIn(t, place)
    await open('/sms', 'button:has-text("Register the brand")')
    await page.click('button:has-text("Register the brand")')
    await page.waitForSelector('dialog:has-text("Simulated carrier: no real number, no real money.")', patience)
    await check('sms-brand-submit')
    await page.click('dialog button:has-text("Submit the business")')
    await page.waitForSelector('[role="status"]:has-text("takes seconds for a review")', patience)
    const isVerified = async () =>
      /"status":"verified"/.test((await call(owner, 'POST', '/v1/sms/10dlc/brand/submit')).text)
    await until('the approval', isVerified)
    await page.click('button:has-text("Read all states again")')
    await page.waitForSelector('li:has-text("Register the brand"):has-text("verified")', patience)
  })

  t.test('only a person asks the registry for the result of a review', async (t) => {
    const { owner, place } = await organization('with a carrier')
    await sql`update organizations set sms_enabled = true where id = ${owner.id}`
    await call(owner, 'PUT', '/v1/sms/10dlc/brand', brandProfile)
    await call(owner, 'POST', '/v1/sms/10dlc/brand/submit')
    const { page, open, check } = await signIn(t, place)
    await withCarrier(page)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await open('/sms', '[role="status"]:has-text("up to days"):has-text("asks when you press the button")')
    await check('sms-real-review')
    const submissions = () => asked.filter((url) => url.endsWith('/brand/submit')).length
    t.equal(submissions(), 0)
    await page.click('button:has-text("Read all states again")')
    await until('the request', () => submissions() === 1)
  })

  t.test('the button to read the states submits no changes that another person has saved', async (t) => {
    const { owner, place } = await organization('with two people')
    await sql`update organizations set sms_enabled = true where id = ${owner.id}`
    await call(owner, 'PUT', '/v1/sms/10dlc/brand', brandProfile)
    await call(owner, 'POST', '/v1/sms/10dlc/brand/submit')
    const { page, open, check } = await signIn(t, place)
    await open('/sms', 'button:has-text("Read all states again")')
    await call(owner, 'PUT', '/v1/sms/10dlc/brand', { ...brandProfile, street: '2 Main Street' })
    await page.click('button:has-text("Read all states again")')
    await page.waitForSelector('button:has-text("Submit the changes")', patience)
    t.equal(await page.isVisible('button:has-text("Read all states again")'), false)
    const brand = async () => (await call(owner, 'GET', '/v1/sms/10dlc')).json<Registration>().ownBrand
    t.match(await brand(), { hasUnsubmittedChanges: true })
    await check('sms-brand-changed')
    await page.click('button:has-text("Submit the changes")')
    await page.click('dialog button:has-text("Submit the changes")')
    await page.waitForSelector('button:has-text("Read all states again")', patience)
    t.match(await brand(), { hasUnsubmittedChanges: false })
  })

  t.test('a wrong profile is refused with the field', async (t) => {
    const { owner, place } = await organization('with a wrong profile')
    await sql`update organizations set sms_enabled = true where id = ${owner.id}`
    const { page, open, check } = await signIn(t, place)
    await open('/sms', 'main [name="legalName"]')
    await fill(page, { ...business, ein: '12' })
    await page.click('button:has-text("Save the business")')
    await page.waitForSelector('[role="alert"]:has-text("ein")', patience)
    await check('sms-refused')
  })

  t.test('a person stores a key of a provider, sees the health of the models, and deletes the key', async (t) => {
    const { owner, place } = await organization('with a key')
    const { page, open, check, text } = await signIn(t, place)
    await open('/providers', 'tbody tr')
    await check('providers')
    await page.click('button[aria-label="Store a key of deepgram"]')
    await page.fill('dialog input[name="apiKey"]', 'dg-0123456789')
    await check('provider-key')
    await page.click('dialog button[type="submit"]')
    await page.waitForSelector('tr:has-text("deepgram"):has-text("your key")', patience)
    const listed = (await call(owner, 'GET', '/v1/providers')).json<{ provider: string; source: string | null }[]>()
    t.equal(listed.find(({ provider }) => provider === 'deepgram')?.source, 'BYOK')
    t.notMatch(await text(), /dg-0123456789/)
    await check('provider-with-key')
    t.equal(await page.isVisible('button[aria-label="Check the key of openai"]:disabled'), true, 'there is no key')
    let [status, answer]: [number, object] = [200, {}]
    await page.route(/\/v1\/providers\/[^/]+\/check$/, (route) =>
      route.fulfill({ status, contentType: 'application/json', body: JSON.stringify(answer) }),
    )
    for (const [outcome, proves, providerStatus, words] of [
      ['succeeded', 'key', 200, ['The provider accepts the key.', 'HTTP status 200 after 40 ms']],
      ['succeeded', 'address', 200, ['this does not prove the key', 'HTTP status 200']],
      ['auth', null, 401, ['The provider refuses the key.', 'HTTP status 401']],
      ['timeout', null, null, ['The provider does not answer.', 'after 40 ms']],
    ] as const) {
      answer = { ok: outcome === 'succeeded', outcome, proves, message: words[0], providerStatus, durationMs: 40 }
      await page.click('button[aria-label="Check the key of deepgram"]')
      for (const shown of words) await page.waitForSelector(`dialog:has-text("${shown}")`, patience)
      await page.click('dialog button:has-text("parley")')
      await page.waitForSelector('dialog pre:has-text("parley providers check deepgram")', patience)
      await check(`provider-check-${outcome}-${proves}`)
      await page.keyboard.press('Escape')
      await page.waitForSelector('dialog', { ...patience, state: 'detached' })
    }
    status = 429
    answer = { error: 'The organization has checked providers too often.', code: 'RATE_LIMITED', requestId: 'req_test' }
    await page.click('button[aria-label="Check the key of deepgram"]')
    await page.waitForSelector('dialog [role="alert"]:has-text("RATE_LIMITED")', patience)
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog', { ...patience, state: 'detached' })
    await page.click('main nav a:has-text("Health")')
    await page.waitForSelector('table[aria-label="Health"] tr:has-text("deepgram")', patience)
    await check('providers-health')
    await page.selectOption('select >> nth=0', 'llm')
    await page.waitForSelector('[aria-label="Health"]:not(:has-text("deepgram")), [data-state="empty"]', patience)
    t.match(page.url(), /stage=llm/)
    await page.click('main nav a:has-text("Keys")')
    await page.click('button[aria-label="Delete the key of deepgram"]')
    await page.click('dialog button:has-text("Delete the key")')
    await page.waitForSelector('table:not(:has-text("your key"))', patience)
  })

  t.test('the routing page ranks the models as the API does', async (t) => {
    const { owner, place } = await organization('with a ranking')
    const { page, open, check } = await signIn(t, { ...place, role: 'viewer' })
    for (const language of ['en', 'de']) {
      const query = `language=${language}&objective=cost&path=stream`
      const { models } = (await call(owner, 'GET', `/router/v1/models?${query}`)).json<{ models: Model[] }>()
      for (const kind of ['stt', 'llm', 'tts']) {
        const best = models.find((model) => model.kind === kind && model.languages.includes(language))
        await open(`/routing?kind=${kind}&${query}`, 'table[aria-label="Ranking"] tbody tr, [data-state="empty"]')
        if (!best) continue
        const first = await page.textContent('tbody tr >> nth=0')
        t.match(first, best.id, `${kind}, ${query}`)
        for (const { metric, source } of best.benchmarks)
          for (const text of [metric, source]) t.match(first, text.replaceAll(/[_.]/g, ' '))
      }
    }
    await open('/routing', 'table[aria-label="Ranking"] tbody tr')
    await check('routing')
    await page.selectOption('select >> nth=0', 'tts')
    await page.selectOption('select >> nth=2', 'latency')
    await page.waitForURL(/kind=tts.*objective=latency/, patience)
  })

  t.test('a member cannot store or check a key of a provider', async (t) => {
    const { place } = await organization('with a member')
    const { page, open } = await signIn(t, { ...place, role: 'member' })
    await open('/providers', 'tbody tr')
    await page.waitForSelector('text=Storing, checking and deleting keys needs the role admin.', patience)
    t.equal(await page.isVisible('tbody button:enabled'), false)
  })
}

type Model = { id: string; kind: string; languages: string[]; benchmarks: { metric: string; source: string }[] }
type Registration = { ownBrand: object; ownCampaign: { profile: { sampleMessages: string[] } } }
