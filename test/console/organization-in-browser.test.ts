/** Tests the console's pages for the audit log and for the settings of the organization. */
import t from 'tap'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { call, startOwnAdministered } from '../platform/setup.ts'
import { storeCall } from './stored-calls.ts'
import { signIn, tabTo } from './visiting.ts'

await inBrowser(t, 'the organization in the console', tests)

async function tests(browser: Browser): Promise<void> {
  const { parley, admin } = await startOwnAdministered(t)
  const organization = async (name: string) => {
    const owner = await admin.organization(name, { scopes: ['platform', 'admin'] })
    return { owner, place: { browser, admin, url: parley.url, organizationId: owner.id } }
  }

  t.test('a person finds in the audit log who changed what', async (t) => {
    const { owner, place } = await organization('with changes')
    const { page, open, check, text } = await signIn(t, place)
    await open('/audit?action=sms_brand.*', '[data-state="empty"]')
    await check('audit-empty')
    await call(owner, 'POST', '/v1/agents', {
      name: 'Front desk',
      systemPrompt: 'Be brief.',
      intent: { language: 'en' },
    })
    await call(owner, 'PATCH', '/v1/organization', { recording: false })
    await open('/audit', 'tbody tr')
    await check('audit')
    const all = await text()
    for (const words of ['agent created', 'Front desk', 'organization updated', 'recording', 'of a test'])
      t.match(all, words)
    await page.selectOption('select >> nth=0', 'agent.*')
    await page.waitForSelector('table:not(:has-text("organization updated"))', patience)
    t.match(page.url(), /action=agent\.\*/)
    await page.reload()
    await page.waitForSelector('tr:has-text("agent created")', patience)
    await page.selectOption('select >> nth=1', 'user')
    await page.waitForSelector('text=No event matches', patience)
    await page.click('text=Show all events')
    await page.waitForSelector('tr:has-text("organization updated")', patience)
  })

  t.test('the audit log has many pages, and the keyboard reaches the next page', async (t) => {
    const { owner, place } = await organization('with many changes')
    for (let number = 0; number < 51; number++)
      await call(owner, 'PATCH', '/v1/organization', { recording: number % 2 === 0 })
    const { page, open } = await signIn(t, place)
    await open('/audit', 'tbody tr')
    t.equal(await page.evaluate('document.querySelectorAll("tbody tr").length'), 50)
    await tabTo(page, 'table + * button, div:has(> table) + div > button')
    await page.keyboard.press('Enter')
    await page.waitForSelector('tbody tr:nth-child(51)', patience)
  })

  t.test('a person renames the organization and turns its recordings on', async (t) => {
    const { owner, place } = await organization('with settings')
    const { page, open, check } = await signIn(t, place)
    await open('/settings', 'input[name="name"]')
    await check('settings')
    await page.fill('input[name="name"]', 'Corner shop')
    await page.click('input[name="recording"]')
    await page.click('button:has-text("Save")')
    await page.waitForSelector('[role="status"]:has-text("Saved")', patience)
    await page.waitForSelector('button:has-text("Corner shop")', patience)
    t.match((await call(owner, 'GET', '/v1/organization')).json(), { name: 'Corner shop', recording: true })
  })

  t.test('a person chooses the time zone, in which all people of the organization then read times', async (t) => {
    const { owner, place } = await organization('in another zone')
    const stored = { admin, organizationId: owner.id, dataDir: parley.dataDir }
    await storeCall(stored, 1, { createdAtMs: Date.parse('2026-02-28T20:00:00Z') })
    const { page, open, check, text } = await signIn(t, { ...place, timezoneId: 'America/New_York' })
    const started = '[role="row"] time[datetime="2026-02-28T20:00:00.000Z"]'
    await open('/calls', started)
    t.match(await page.textContent(started), /28 Feb.* 20:00:00/, 'in UTC, wherever the browser is')
    t.match(await text(), 'Times are in UTC.')
    await open('/settings', 'select[name="timeZone"]')
    t.equal(await page.evaluate('document.querySelector("select[name=timeZone]").value'), 'UTC')
    await page.selectOption('select[name="timeZone"]', 'Asia/Tokyo')
    await page.click('button:has-text("Save")')
    await page.waitForSelector('[role="status"]:has-text("Saved")', patience)
    t.match((await call(owner, 'GET', '/v1/organization')).json(), { timeZone: 'Asia/Tokyo' })
    t.match((await call(owner, 'GET', '/v1/audit-events?action=organization.updated')).json(), {
      events: [{ changed: ['timeZone'] }],
    })
    await page.click('nav a:has-text("Calls")')
    await page.waitForSelector('main:has-text("Times are in Asia/Tokyo.")', patience)
    await page.waitForSelector(started, patience)
    t.match(await page.textContent(started), /1 Mar.* 05:00:00/, 'without a reload')
    t.match(await page.textContent('section[aria-label="Menu"]'), 'Times are in Asia/Tokyo.', 'on each page')
    await open('/usage', 'main:has-text("Days and months are in Asia/Tokyo.")')
    const now = new Date()
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 2))
    await page.selectOption('select >> nth=0', month.toISOString().slice(0, 7))
    const from = new Date(month.getTime() - 9 * 3_600_000).toISOString()
    await page.waitForURL(new RegExp(`from=${encodeURIComponent(from)}`), patience)
    await check('settings-zone-usage')
  })

  t.test('a person stops results of tools, and lets texts of messages be stored', async (t) => {
    const { owner, place } = await organization('with choices')
    const { page, open } = await signIn(t, place)
    await open('/settings', 'input[name="toolResults"]')
    const checked =
      '["toolResults", "messageText"].map((name) => document.querySelector(`input[name=${name}]`).checked)'
    t.same(await page.evaluate(checked), [true, false])
    await page.click('input[name="toolResults"]')
    await page.click('input[name="messageText"]')
    await page.click('button:has-text("Save")')
    await page.waitForSelector('[role="status"]:has-text("Saved")', patience)
    t.match((await call(owner, 'GET', '/v1/organization')).json(), { toolResults: 'drop', messageText: 'keep' })
  })

  t.test('a member sees the settings and changes none, and does not see the audit log', async (t) => {
    const { place } = await organization('with a member')
    const { page, open, check } = await signIn(t, { ...place, role: 'member' })
    await open('/settings', 'input[name="name"]')
    await page.waitForSelector('text=Changing the settings needs the role admin.', patience)
    t.equal(await page.isVisible('input[name="name"][readonly]'), true)
    t.equal(await page.isVisible('main button[type="submit"]'), false)
    await check('settings-forbidden')
    await open('/audit', '[data-state="forbidden"]')
    await check('audit-forbidden')
  })
}
