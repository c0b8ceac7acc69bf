/** Tests the console's pages for SIP connections and callbacks: a trunk with its number, and a scheduled callback. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { callbackOf, hourMs, promised } from '../callbacks/callback.ts'
import { newCall } from '../calls/call.ts'
import { call, startOwnAdministered } from '../platform/setup.ts'
import { signIn } from './visiting.ts'

await inBrowser(t, 'trunks and callbacks in the console', tests)

async function tests(browser: Browser): Promise<void> {
  const { parley, admin } = await startOwnAdministered(t)
  const organization = async (name: string) => {
    const owner = await admin.organization(name)
    return { owner, place: { browser, admin, url: parley.url, organizationId: owner.id } }
  }

  t.test('a person connects a trunk, imports its number and changes the trunk', async (t) => {
    const { owner, place } = await organization('with a trunk')
    const { page, open, check, text } = await signIn(t, place)
    await open('/numbers/sip', '[data-state="empty"]')
    await check('sip-empty')
    await page.click('button:has-text("Connect a trunk")')
    await page.fill('dialog input[name="name"]', 'Head office')
    await page.fill('dialog input[name="host"]', 'sip.example.com')
    await page.fill('dialog input[name="outUser"]', 'parley')
    await page.fill('dialog input[name="outPassword"]', 'correct-horse-battery')
    await page.fill('dialog textarea[name="addresses"]', '203.0.113.0/28')
    await check('sip-new')
    await page.click('dialog button[type="submit"]')
    await page.waitForSelector('tr:has-text("Head office"):has-text("not answered yet")', patience)
    t.notMatch(await text(), /correct-horse/)
    await page.click('button[aria-label="Check now: Head office"]')
    await page.waitForSelector('dialog [role="alert"]:has-text("no port for SIP")', patience)
    await check('sip-check')
    await page.keyboard.press('Escape')
    await page.click('button[aria-label="Import a number of Head office"]')
    await page.fill('dialog input[name="e164"]', '+12125550188')
    await page.click('dialog button[type="submit"]')
    await page.waitForSelector('dialog [role="status"]:has-text("is imported")', patience)
    await page.keyboard.press('Escape')
    await page.waitForSelector('tr:has-text("1 number")', patience)
    await check('sip')
    await page.click('button[aria-label="Change Head office"]')
    await page.fill('dialog input[name="name"]', 'Branch office')
    await page.click('dialog button[type="submit"]')
    await page.waitForSelector('tr:has-text("Branch office")', patience)
    const [trunk] = (await call(owner, 'GET', '/v1/phone-numbers/sip-connections')).json<object[]>()
    t.match(trunk, { outbound: { username: 'parley', hasPassword: true }, numbers: 1 }, 'the password stays')
    await page.click('button[aria-label="Remove Branch office"]')
    await page.click('button:has-text("Remove the connection")')
    await page.waitForSelector('dialog [role="alert"]', patience)
  })

  t.test('the check of a SIP trunk shows how the trunk answered', async (t) => {
    const { owner, place } = await organization('whose trunk is checked')
    const outbound = { host: 'sip.example.com' }
    await call(owner, 'POST', '/v1/phone-numbers/sip-connections', { name: 'Head office', outbound })
    const { page, open, check } = await signIn(t, place)
    await open('/numbers/sip', 'button[aria-label="Check now: Head office"]')
    const checkedAt = '2026-11-23T15:00:00.000Z'
    const nothing = { ok: false, sipStatusCode: null, sipStatus: null, roundTripMs: null, checkedAt }
    let answer: object = {}
    await page.route(/\/sip-connections\/[^/]+\/check$/, (route) =>
      route.fulfill({ status: 200, contentType: 'application/json', body: JSON.stringify(answer) }),
    )
    for (const [name, shown, more] of [
      [
        'answered',
        ['The trunk answers.', '200 OK', 'after 40 ms'],
        { ok: true, sipStatusCode: 200, sipStatus: 'OK', roundTripMs: 40, error: null },
      ],
      [
        'refused',
        ['The trunk refuses.', '403 Forbidden'],
        { sipStatusCode: 403, sipStatus: 'Forbidden', roundTripMs: 40, error: 'refused' },
      ],
      ['timeout', ['The trunk does not answer.'], { error: 'timeout' }],
      ['unreachable', ['This server cannot call the address of the host.'], { error: 'unreachable' }],
      ['dns', ['The host has no address.'], { error: 'dns' }],
    ] as const) {
      answer = { ...nothing, ...more }
      await page.click('button[aria-label="Check now: Head office"]')
      for (const words of shown) await page.waitForSelector(`dialog:has-text("${words}")`, patience)
      t.equal(await page.isVisible('dialog code'), 'sipStatusCode' in more, name)
      await check(`sip-check-${name}`)
      await page.keyboard.press('Escape')
      await page.waitForSelector('dialog', { ...patience, state: 'detached' })
    }
  })

  t.test('a person sees a scheduled callback and cancels it', async (t) => {
    const { owner, place } = await organization('with a promise')
    const session = newCall(owner.id, { agentId: 'agent_deleted' })
    await admin.store.calls.insert(session, {})
    const nowMs = Date.now()
    const due = { scheduledAtMs: nowMs + hourMs, nextTryAtMs: nowMs + hourMs, reason: 'The price of a tyre' }
    const callback = callbackOf(session, due, nowMs)
    await admin.store.calls.append(session, session.id, [promised(callback)])
    const { page, open, check, text } = await signIn(t, place)
    await open('/callbacks', 'tr:has-text("The price of a tyre")')
    await check('callbacks')
    t.match(await text(), /agent_deleted/, 'a deleted agent is shown by its id')
    await page.click('button[aria-label^="Cancel the callback"]')
    await page.waitForSelector('tr:has-text("cancelled")', patience)
    t.match((await call(owner, 'GET', `/v1/callbacks/${callback.id}`)).json(), { status: 'cancelled' })
    await page.selectOption('select', 'scheduled')
    await page.waitForSelector('[data-state="empty"]', patience)
    t.match(page.url(), /status=scheduled/)
    await check('callbacks-empty')
    await open(`/callbacks?source_session_id=${randomUUID()}`, '[data-state="empty"]')
    await page.click('button:has-text("Clear")')
    await page.waitForSelector('tr:has-text("The price of a tyre")', patience)
  })

  t.test('a viewer sees scheduled callbacks, and cannot cancel them', async (t) => {
    const { owner, place } = await organization('with a viewer')
    const session = newCall(owner.id)
    await admin.store.calls.insert(session, {})
    const nowMs = Date.now()
    const due = { scheduledAtMs: nowMs + hourMs, nextTryAtMs: nowMs + hourMs }
    await admin.store.calls.append(session, session.id, [promised(callbackOf(session, due, nowMs))])
    const { page, open } = await signIn(t, { ...place, role: 'viewer' })
    await open('/callbacks', 'tbody tr')
    await page.waitForSelector('text=Making and cancelling calls needs the role member.', patience)
    for (const label of ['Cancel the callback', 'Call now'])
      t.equal(await page.isVisible(`button[aria-label^="${label}"]:disabled`), true, label)
  })
}
