/**
 * Each page names the lowest role for its actions, to members and viewers. A page sends no request if the role is too
 * low for the request, because refused requests are entries in the audit log.
 */
import t from 'tap'
import type { Browser, Page } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { call, startOwnAdministered } from '../platform/setup.ts'
import { storeCall, storeLiveCall } from './stored-calls.ts'
import { signIn } from './visiting.ts'

type Role = 'viewer' | 'member' | 'admin'
/** `note` begins the sentence for lower roles than `needs`. Every role may press the buttons in `offered`. */
type Case = { address: string; needs: Role; note: string; offered?: readonly string[] }

await inBrowser(t, 'roles in the console', tests)

async function tests(browser: Browser): Promise<void> {
  const { parley, admin } = await startOwnAdministered(t)
  const owner = await admin.organization('with roles')
  const shop = { browser, admin, url: parley.url, organizationId: owner.id, dataDir: parley.dataDir }
  const made = async (path: string, body: object) => (await call(owner, 'POST', path, body)).json<{ id: string }>().id
  const agent = await made('/v1/agents', { name: 'Desk', systemPrompt: 'Be brief.', intent: { language: 'en' } })
  await call(owner, 'PATCH', `/v1/agents/${agent}`, { systemPrompt: 'Be very brief.' })
  await made(`/v1/agents/${agent}/tools`, {
    name: 'find_stock',
    description: 'Finds stock.',
    source: { kind: 'webhook', url: 'https://shop.example/stock' },
  })
  // This test's store can make no events, so the endpoint gets no events from the stored calls.
  const events = { events: ['call.report'], allAgents: false, agentIds: [agent] }
  const webhook = await made('/v1/webhooks', { name: 'CRM', url: 'https://crm.example/', ...events })
  const trunk = { name: 'Office', inbound: { allowedAddresses: ['192.0.2.0/24'] } }
  const connection = await made('/v1/phone-numbers/sip-connections', trunk)
  const imported = { e164: '+12125550123', sipConnectionInstallationId: connection, agentId: agent }
  await made('/v1/phone-numbers/import', imported)
  const ended = await storeCall(shop, 2)
  const live = await storeLiveCall(shop, 2)

  const cases: readonly Case[] = [
    { address: '/providers', needs: 'admin', note: 'Storing, checking and deleting keys' },
    { address: `/webhooks/${webhook}`, needs: 'admin', note: 'Changing, disabling and deleting the endpoint' },
    { address: '/webhooks', needs: 'admin', note: 'Adding an endpoint' },
    { address: '/webhooks/new', needs: 'admin', note: 'Adding an endpoint' },
    { address: '/numbers', needs: 'admin', note: 'Buying, changing and releasing numbers' },
    { address: '/numbers/buy', needs: 'admin', note: 'Buying a number', offered: ['Search'] },
    { address: '/numbers/sip', needs: 'admin', note: 'Changing connections and importing numbers' },
    { address: '/members', needs: 'admin', note: 'Inviting people and changing roles' },
    { address: '/settings', needs: 'admin', note: 'Changing the settings' },
    { address: '/agents', needs: 'member', note: 'Making an agent' },
    { address: '/agents/new', needs: 'member', note: 'Making an agent' },
    { address: `/agents/${agent}`, needs: 'member', note: 'Changing and deleting the agent' },
    { address: `/agents/${agent}?tab=tools`, needs: 'member', note: 'Changing the tools' },
    { address: `/agents/${agent}?tab=versions&version=1`, needs: 'member', note: 'Restoring a version' },
    { address: `/agents/${agent}?tab=talk`, needs: 'member', note: 'Calling a phone' },
    { address: '', needs: 'member', note: 'Calling a phone' },
    { address: `/calls/${live}`, needs: 'member', note: 'Joining, transferring and ending a call' },
    { address: `/calls/${ended}?tab=report`, needs: 'member', note: 'Analysing a call again' },
  ]

  for (const role of ['viewer', 'member'] as const)
    t.test(`a ${role} reads on each page which role an action needs`, async (t) => {
      const { page, refused, open, check } = await signIn(t, { ...shop, role })
      for (const { address, needs, note, offered = [] } of cases) {
        const may = role === 'member' && needs === 'member'
        const sentence = `main :text("${note} needs the role ${needs}.")`
        await open(address, may ? `main button:enabled` : sentence)
        t.equal(await page.isVisible(sentence), !may, `${address}: ${note}`)
        if (may) continue
        t.same(await enabledActions(page, offered), [], `${address} offers no action`)
        await check(`${role}${address.replaceAll(/[^a-z]+/g, '-')}`)
      }
      t.same(refused, [])
    })

  t.test('an admin reads no such sentence', async (t) => {
    const { page, open } = await signIn(t, { ...shop, role: 'admin' })
    for (const { address } of cases) {
      await open(address, 'main button:enabled')
      await page.waitForSelector('[data-state="loading"]', { ...patience, state: 'detached' })
      t.equal(await page.isVisible('main :text("needs the role")'), false, address)
    }
  })

  t.test('a read-only form can be read and copied, and not sent', async (t) => {
    const { page, open } = await signIn(t, { ...shop, role: 'viewer' })
    await open(`/agents/${agent}`, 'textarea[name="systemPrompt"][readonly]')
    t.equal(await page.isVisible('main select[name="recording"]:disabled'), true)
    await page.click('input[name="name"]')
    await page.keyboard.press('Enter')
    t.equal(await page.isVisible('main [role="alert"]'), false)
    await open('/webhooks/new', 'main input[name="url"][readonly]')
    await page.click('input[name="name"]')
    await page.keyboard.press('Enter')
    t.equal(await page.isVisible('main [role="alert"]'), false)
  })
}

/** Buttons for reading: a call's tabs, turns and player, copies, and the kinds of commands. */
const reads = [
  '[role="tab"]',
  '[data-turn] *',
  '[aria-label="Player"] *',
  '[aria-label^="Copy"]',
  '[aria-label^="Link"]',
]
const kindsOfCommands = ['curl', 'parley']

/** Returns the enabled action buttons' names. */
async function enabledActions(page: Page, offered: readonly string[]): Promise<string[]> {
  const names = (await page.evaluate(`[...document.querySelectorAll('main button:enabled:not(${reads.join()})')]
    .map((button) => button.getAttribute('aria-label') ?? button.innerText.trim())`)) as string[]
  return names.filter((name) => ![...offered, ...kindsOfCommands].includes(name))
}
