/** Tests the console's page for conversations: the list, the messages with the calls between them, and each state. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { conversationIdOf } from '../../domain/records/rmsg-message.ts'
import type { CallList, ConversationList } from '../../generated/clients/typescript/models/platform.ts'
import { axeFaults, type Browser } from '../browser/chromium.ts'
import { hold, inBrowser, patience } from '../browser/visiting.ts'
import { inboundPhone } from '../calls/call.ts'
import { call } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { insertRmsgNumber } from '../rmsg/stored-number.ts'
import { openShop, refuse } from './shop.ts'
import { endLiveCall, storeCall, storeLiveCall } from './stored-calls.ts'
import { tabTo } from './visiting.ts'

const person = '+12125550161'
/** The page reads again after this time. */
const pollMs = 30_000
const [list, messages] = [/\/v1\/conversations\?/, /\/v1\/conversations\/[\w-]+\/messages/]

await inBrowser(t, 'conversations in the console', tests)

async function tests(browser: Browser): Promise<void> {
  const shop = await openShop(t, browser)
  const { admin, organizationId } = shop
  const sql = openDatabase(shop)
  t.teardown(() => sql.end())
  const startMs = Date.now() - 3_600_000

  const wanted = { name: 'Front desk', systemPrompt: 'x', intent: { language: 'en' } }
  const agentId = (await call(shop, 'POST', '/v1/agents', wanted)).json<{ id: string }>().id
  const e164 = '+12125550160'
  const number = await insertRmsgNumber(sql, { e164, organizationId, agentId })
  const insert = async (to: string, minutes: number) => {
    const message = { organizationId, test: false, id: randomUUID(), phoneNumberId: number, to, tags: { team: 'shop' } }
    const createdAtMs = startMs + minutes * 60_000
    await admin.store.rmsgMessages.insert(
      { ...message, conversationId: conversationIdOf(number, to), status: 'delivered', channel: 'sms', createdAtMs },
      'Your bicycle is ready.',
    )
  }
  await admin.store.organizations.change(organizationId, { messageText: 'keep' })
  await insert(person, 0)
  await admin.store.organizations.change(organizationId, { messageText: 'drop' })
  const createdAtMs = startMs + 60_000
  const callId = await storeCall(shop, 4, { createdAtMs, phone: { ...inboundPhone, from: person, to: e164 } })
  await storeCall(shop, 5, { createdAtMs, phone: { ...inboundPhone, from: person } })
  await insert('+12125550162', 2)
  await admin.store.rmsgEvents.route({
    ...{ id: `evt_${randomUUID()}`, type: 'rmsg.received', occurredAtMs: startMs + 180_000 },
    ...{ providerIdentity: `identity-${e164}`, conversationId: null, remoteNumber: person, messageId: randomUUID() },
    ...{ report: null, receivedOver: 'rmsg', text: 'Thank you.', bytesFor: () => Buffer.from('{}') },
  })
  const address = `/conversations/${conversationIdOf(number, person)}`

  t.test('without messages the page says that there is no conversation yet', async (t) => {
    const { id } = await admin.organization('without messages')
    const { open, check, page } = await shop.visit(t, { role: 'viewer', organizationId: id })
    await open('/conversations', '[data-state="empty"]')
    t.match(await page.textContent('[data-state="empty"]'), 'No conversation yet')
    await check('conversations-empty')
  })

  t.test('a person reads a conversation in the order of time, with the calls between its messages', async (t) => {
    const { open, check, page } = await shop.visit(t, { role: 'viewer' })
    await open('/conversations', '[aria-label="Conversations"] a')
    await check('conversations')
    const rows = await page.evaluate(
      '[...document.querySelectorAll("[aria-label=Conversations] strong")].map(({ innerText }) => innerText)',
    )
    t.same(rows, [person, '+12125550162'], 'the newest first')
    await page.click(`[aria-label="Conversations"] a:has-text("${person}")`)
    await page.waitForSelector('[data-call]', patience)
    t.match(page.url(), address)
    const entries = await page.evaluate(
      '[...document.querySelectorAll("[data-message], [data-call]")].map(({ dataset }) => dataset.message ?? dataset.call)',
    )
    t.same(entries, ['outbound', callId, 'inbound'], 'a call with another number is left out')
    const text = await page.textContent('main')
    for (const part of [
      'Front desk',
      'SMS',
      'delivered',
      'received',
      'rich message',
      'team:',
      'Your bicycle is ready.',
      'Received message',
    ])
      t.match(text, part)
    await check('conversation')
    await page.click('[data-call] a')
    await page.waitForSelector('[data-turn]', patience)
    t.match(page.url(), `/calls/${callId}`)
  })

  t.test('a narrow screen shows the list and then the messages', async (t) => {
    const { open, page } = await shop.visit(t, { viewport: { width: 360, height: 780 } })
    await open('/conversations', '[aria-label="Conversations"] a')
    t.equal(await page.isVisible('text=Choose a conversation'), false)
    await page.click(`[aria-label="Conversations"] a:has-text("${person}")`)
    await page.waitForSelector('[data-message]', patience)
    t.equal(await page.isVisible('[aria-label="Conversations"]'), false)
    await page.click('text=All conversations')
    await page.waitForSelector('[aria-label="Conversations"] a', patience)
  })

  t.test('filters by number and agent are kept in the URL of the page', async (t) => {
    const { open, page } = await shop.visit(t)
    await open('/conversations', '[aria-label="Conversations"] a')
    await page.fill('main input[name="text"]', '0162')
    await page.keyboard.press('Enter')
    await page.waitForURL(/number=0162/, patience)
    await page.waitForSelector(`[aria-label="Conversations"]:not(:has-text("${person}"))`, patience)
    await page.selectOption('main select', agentId)
    await page.waitForURL(/agentId=agent_/, patience)
    await page.click('[aria-label="Conversations"] a')
    await page.waitForSelector('[data-message]', patience)
    t.match(page.url(), /number=0162/, 'the filters stay with a conversation')
    await open('/conversations?number=9999', '[data-state="empty"]')
    t.match(await page.textContent('[data-state="empty"]'), 'No conversation matches')
  })

  t.test(
    'if the newest messages have no match, the page says how many were searched and offers older messages',
    async (t) => {
      const { open, page, check } = await shop.visit(t)
      await page.route(list, (route) => route.fulfill(answerOf({ conversations: [], nextCursor: 'next' })))
      const searched = (messages: string) => `section >> text=No conversation in the newest ${messages} messages.`
      await open('/conversations?number=0163', searched('20,000'))
      await check('conversations-not-found-yet')
      await page.click('button:has-text("Show older conversations")')
      await page.waitForSelector(searched('40,000'), patience)
    },
  )

  t.test('if a conversation has too many messages or calls, the page says what it leaves out', async (t) => {
    const { open, page } = await shop.visit(t)
    await page.route(list, async (route) => {
      const { conversations } = (await (await route.fetch()).json()) as ConversationList
      const long = conversations.map((conversation) => ({ ...conversation, messages: 1000 }))
      return route.fulfill(answerOf({ conversations: long, nextCursor: null }))
    })
    await page.route(/\/v1\/calls\?/, async (route) => {
      const answer = (await (await route.fetch()).json()) as CallList
      return route.fulfill(answerOf({ ...answer, next_cursor: 'next' }))
    })
    await open(address, '[data-call]')
    t.match(await page.textContent('main'), /Only the newest \d+ calls with the person are searched/)
    await page.waitForSelector('[aria-label="Conversations"] >> text=1,000 messages or more', patience)
  })

  const states = [
    { state: 'error', status: 500, code: 'INTERNAL_ERROR' },
    { state: 'forbidden', status: 403, code: 'FORBIDDEN' },
    { state: 'not_found', status: 404, code: 'NOT_FOUND' },
  ]
  t.test('if the server refuses the list or the messages, the page shows the error code', async (t) => {
    for (const { state, status, code } of states)
      for (const [api, at] of [
        [list, '/conversations'],
        [messages, address],
      ] as const) {
        const { open, page, faults, close } = await shop.visit(t)
        await refuse(page, api, status, code)
        await open(at, `[data-state="${state}"]`)
        t.match(await page.textContent(`[data-state="${state}"]`), code, at)
        t.same(await axeFaults(page), [], at)
        t.same(faults, [], at)
        await close()
      }
  })

  t.test('new messages come by themselves, but rows stay while a person moves through them', async (t) => {
    const { open, page } = await shop.visit(t)
    await page.clock.install()
    await open(address, '[data-message] >> nth=1')
    const row = (place: number, text: string) =>
      page.waitForSelector(`[aria-label="Conversations"] li:nth-child(${place}):has-text("${text}")`, patience)
    await insert(person, 4)
    await page.clock.fastForward(pollMs)
    await page.waitForSelector('[data-message] >> nth=2', patience)
    await insert('+12125550162', 5)
    await page.clock.fastForward(pollMs)
    await row(1, '+12125550162')
    await row(2, person)
    await tabTo(page, '[aria-label="Conversations"] a')
    await insert(person, 6)
    await page.clock.fastForward(pollMs)
    await page.waitForSelector('button:text-is("Show the newest first")', patience)
    await row(2, '4 messages')
    await row(2, person)
    t.same(await axeFaults(page), [])
    await page.click('button:text-is("Show the newest first")')
    await row(1, person)
    t.equal(await page.isVisible('button:text-is("Show the newest first")'), false)
  })

  t.test('a new call comes by itself into the open conversation, and changes when it ends', async (t) => {
    const { open, page } = await shop.visit(t)
    await open(address, `[data-call="${callId}"]`)
    const phone = { ...inboundPhone, from: person, to: e164 }
    const live = await storeLiveCall(shop, 1, { kind: 'inbound', phone })
    await page.waitForSelector(`[data-call="${live}"]:has-text("in progress")`, patience)
    const other = await storeLiveCall(shop, 1, { kind: 'inbound', phone: { ...inboundPhone, from: person } })
    await endLiveCall(shop, live)
    await page.waitForSelector(`[data-call="${live}"]:has-text("completed")`, patience)
    t.equal(await page.isVisible(`[data-call="${other}"]`), false, 'a call with another number is left out')
    await endLiveCall(shop, other)
  })

  t.test('the page has no accessibility fault while list or messages are loading', async (t) => {
    for (const api of [list, messages]) {
      const { open, page, close } = await shop.visit(t)
      const release = await hold(page, api)
      await open(address, '[data-state="loading"]')
      t.same(await axeFaults(page), [])
      release()
      await page.waitForSelector('[data-message]', patience)
      await close()
    }
  })
}

const answerOf = (body: object) => ({ status: 200, contentType: 'application/json', body: JSON.stringify(body) })
