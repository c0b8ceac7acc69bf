/**
 * Tests the console pages for webhook endpoints and deliveries: from a failed delivery to its cause, and a redelivery.
 */
import t from 'tap'
import { v7 } from 'uuid'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { newCall } from '../calls/call.ts'
import { call, startAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { inOrder, ok, startReceiver } from '../webhooks/receiver.ts'
import { recordDelivery } from '../webhooks/recorded.ts'
import { signIn, tabTo } from './visiting.ts'

await inBrowser(t, 'webhooks in the console', tests)

async function tests(browser: Browser): Promise<void> {
  const { parley, admin } = await startAdministered(t, { PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8' })
  const organization = async (name: string) => {
    const owner = await admin.organization(name)
    return { owner, place: { browser, admin, url: parley.url, organizationId: owner.id } }
  }

  t.test('a person sees why a webhook failed, and sends it again', async (t) => {
    const { owner, place } = await organization('with a failure')
    const broken = '{"error":"no such table: calls","trace":"7f3a"}'
    const receiver = await startReceiver(
      inOrder((response) => response.writeHead(500, { 'content-type': 'application/json' }).end(broken), ok),
    )
    t.teardown(() => receiver.close())
    const settings = { name: 'CRM', url: receiver.url, events: ['call.status', 'call.report'] }
    const { id } = (await call(owner, 'POST', '/v1/webhooks', settings)).json<{ id: string }>()
    const test = (await call(owner, 'POST', `/v1/webhooks/${id}/test`, { event: 'call.status' })).json<{
      deliveryId: string
    }>()
    const { page, open, check, text } = await signIn(t, place)

    await open('/deliveries', 'tbody tr')
    await check('deliveries')
    t.match(await text(), /Answered 500/)
    t.equal(await page.isVisible('tbody a[href*="/calls/"]'), false, 'a test event has no stored call')
    t.equal(await page.isVisible('tbody td:text-is("test")'), true)
    await page.selectOption('select >> nth=0', 'succeeded')
    await page.waitForSelector('text=No delivery matches these filters', patience)
    t.match(page.url(), /\?status=succeeded$/)
    await page.reload()
    await page.waitForSelector('text=No delivery matches these filters', patience)
    await check('deliveries-no-match')
    await page.click('text=Show all deliveries')
    await page.waitForSelector('tbody tr', patience)
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`/deliveries/${test.deliveryId}$`), patience)
    await page.waitForSelector('text=Attempt 1', patience)
    t.match(await text(), /no such table: calls/, 'the answer of the endpoint')
    t.match(await text(), /webhook-signature/, 'the headers of the request')
    t.match(await text(), /none: a test event/, 'a test event has no call')
    t.match(await text(), /A test event is sent once\./)
    t.notMatch(await text(), /Given up after|No attempt is planned/)
    await check('delivery-failed')

    await tabTo(page, 'main button')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=Sent again, and accepted', patience)
    await page.waitForSelector('text=Attempt 2', patience)
    await check('delivery-succeeded')
    t.equal(receiver.received.length, 2)
    t.same(receiver.received[1]?.body, receiver.received[0]?.body, 'the same bytes')
  })

  t.test('a delivery leads to its call if the call is stored', async (t) => {
    const { owner, place } = await organization('with a call')
    const { id: callId } = newCall(owner.id)
    const id = await recordDelivery(admin.store, { organizationId: owner.id, test: false }, v7(), { callId })
    const link = `main a[href$="/calls/${callId}"]`
    const { page, open } = await signIn(t, place)
    for (const address of ['/deliveries', `/deliveries/${id}`]) {
      await open(address, `main code[title="${callId}"]`)
      t.equal(await page.isVisible(link), false, address)
      t.equal(await page.isVisible('td:text-is("test")'), false, 'the event is no test')
    }
    await admin.store.calls.insert(newCall(owner.id, { id: callId }), {})
    for (const address of ['/deliveries', `/deliveries/${id}`]) await open(address, link)
  })

  t.test('a person adds an endpoint, tests it, disables it and deletes it', async (t) => {
    const { place } = await organization('without endpoints')
    const receiver = await startReceiver()
    t.teardown(() => receiver.close())
    const { page, open, check, text } = await signIn(t, place)
    await open('/webhooks', '[data-state="empty"]')
    await check('webhooks-empty')
    await page.click('text=Add an endpoint')
    await page.waitForSelector('input[name="name"]', patience)
    await check('webhook-new')
    await page.fill('input[name="name"]', 'Reports')
    await page.fill('input[name="url"]', receiver.url)
    await page.click('text=Status')
    await page.click('button[type="submit"]')
    await page.waitForSelector('h1:has-text("Reports")', patience)
    await page.click('button:has-text("Send")')
    await page.waitForSelector('text=Accepted', patience)
    await page.waitForSelector('tbody tr', patience)
    await check('webhook')
    t.equal(receiver.received.length, 1)
    await page.click('button:has-text("Disable")')
    await page.waitForSelector('button:has-text("Enable")', patience)
    t.match(await text(), /disabled/)
    await open('/webhooks', 'tbody tr')
    await page.click('text=Show the secret')
    await page.waitForSelector('text=/whsec_[A-Za-z0-9+]/', patience)
    await check('webhooks')
    await page.click('tbody a')
    await page.click('button:has-text("Delete")')
    await page.waitForSelector('dialog[open]', patience)
    await check('webhook-delete')
    await page.click('button:has-text("Delete the endpoint")')
    await page.waitForSelector('[data-state="empty"]', patience)
  })

  t.test('a person sends failed deliveries again after an outage', async (t) => {
    const { owner, place } = await organization('with an outage')
    const receiver = await startReceiver()
    const sql = openDatabase(parley)
    t.teardown(() => Promise.all([receiver.close(), sql.end()]))
    const settings = { name: 'CRM', url: receiver.url, events: ['call.status'] }
    const { id } = (await call(owner, 'POST', '/v1/webhooks', settings)).json<{ id: string }>()
    for (let events = 0; events < 2; events++)
      await recordDelivery(admin.store, { organizationId: owner.id, test: false }, id)
    await sql`update webhook_deliveries set status = 'failed', http_status = 503 where endpoint_id = ${id}`
    const { page, open, check } = await signIn(t, place)
    await open(`/webhooks/${id}`, 'tbody tr:has-text("failed")')
    await page.selectOption('select[name="hours"]', '1')
    const strip = '[aria-label="Send failed deliveries again by a program"]'
    t.match(await page.textContent(strip), `/v1/webhooks/${id}/recover`)
    await page.click(`${strip} button:text-is("parley")`)
    t.match(await page.textContent(strip), `parley webhooks recover ${id} --since 20`)
    await page.click('button:text-is("Send failed deliveries again")')
    await page.waitForSelector('text=2 deliveries are sent again', patience)
    await page.waitForSelector(
      'tbody:not(:has-text("failed")):not(:has-text("pending")):has-text("succeeded")',
      patience,
    )
    await check('webhook-recovered')
    t.equal(receiver.received.length, 2)
    await page.click('button:text-is("Send failed deliveries again")')
    await page.waitForSelector('text=No failed delivery is left to send again', patience)
    await page.click('button:has-text("Disable")')
    await page.waitForSelector('text=Enable the endpoint first.', patience)
    t.equal(await page.isVisible('button:text-is("Send failed deliveries again"):enabled'), false)
  })

  t.test('a refused URL says which field is wrong', async (t) => {
    const { place } = await organization('with a refusal')
    const { page, open, check } = await signIn(t, place)
    await open('/webhooks/new', 'input[name="name"]')
    await page.fill('input[name="name"]', 'Reports')
    await page.fill('input[name="url"]', 'ftp://files.example/')
    await page.click('button[type="submit"]')
    await page.waitForSelector('[role="alert"] code', patience)
    await check('webhook-refused')
  })

  t.test('a viewer reads webhooks, and sees which role may change them', async (t) => {
    const { owner, place } = await organization('with a viewer')
    const settings = { name: 'CRM', url: 'https://hooks.example/', events: ['call.report'] }
    const { id } = (await call(owner, 'POST', '/v1/webhooks', settings)).json<{ id: string }>()
    const { page, open, check } = await signIn(t, { ...place, role: 'viewer' })
    await open('/webhooks', 'tbody tr')
    await page.waitForSelector('text=Showing and replacing the secret needs the role admin.', patience)
    t.equal(await page.isVisible('button:text-is("Show the secret"):disabled'), true)
    await check('webhooks-viewer')
    await open(`/webhooks/${id}`, 'text=Sending deliveries again needs the role admin.')
    t.equal(await page.isVisible('button:text-is("Send failed deliveries again")'), false)
    await check('webhook-viewer')
  })

  t.test("another organization's delivery and endpoint are not found", async (t) => {
    const { owner } = await organization('with an endpoint')
    const { place } = await organization('of strangers')
    const settings = { name: 'CRM', url: 'https://hooks.example/', events: ['call.report'] }
    const { id } = (await call(owner, 'POST', '/v1/webhooks', settings)).json<{ id: string }>()
    const { open, check } = await signIn(t, place)
    await open(`/webhooks/${id}`, '[data-state="not_found"]')
    await open(`/deliveries/${id}`, '[data-state="not_found"]')
    await check('delivery-not-found')
  })
}
