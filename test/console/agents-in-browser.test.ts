/** Tests the console's pages for agents: make one, talk to it, change it, compare versions and restore one, tools. */
import t from 'tap'
import type { Browser } from '../browser/chromium.ts'
import { hold, inBrowser, patience } from '../browser/visiting.ts'
import { call, startAdministered } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import { loopbackAgent, loopbackProviders } from '../session/voice-session.ts'
import { signIn } from './visiting.ts'

/**
 * Settings for a conversation in a test. The engines of the server would start for too long on a busy machine. A check
 * in the conversation takes longer than the usual silence that ends a conversation.
 */
const talkative = { stackPreferences: loopbackAgent.constraints, silenceTimeoutSeconds: 600 }

await inBrowser(t, 'agents in the console', tests)

async function tests(browser: Browser): Promise<void> {
  const { parley, admin } = await startAdministered(t, { PARLEY_PROVIDERS: loopbackProviders })
  const organization = async (name: string) => {
    const owner = await admin.organization(name)
    return { owner, place: { browser, admin, url: parley.url, organizationId: owner.id } }
  }
  const desk = { name: 'Desk', systemPrompt: 'You answer the phone.\nBe brief.', intent: { language: 'en' } }

  t.test('a person makes an agent and talks to it', async (t) => {
    const { owner, place } = await organization('that talks')
    const { page, open, check } = await signIn(t, place)
    await open('/agents', '[data-state="empty"]')
    await check('agents-empty')
    await page.click('text=Make an agent')
    await page.waitForSelector('input[name="name"]', patience)
    await check('agent-new')
    await page.fill('input[name="name"]', 'Desk')
    await page.fill('textarea[name="systemPrompt"]', 'You answer the phone of a bicycle shop.')
    await page.fill('textarea[name="firstMessage"]', 'Bicycle shop, good day.')
    await page.click('button[type="submit"]')
    await page.waitForURL(/\?tab=talk$/, patience)
    const [, id = ''] = /agents\/([^?]+)/.exec(page.url()) ?? []
    await call(owner, 'PATCH', `/v1/agents/${id}`, talkative)
    await check('agent-talk')
    t.equal(await page.isVisible('text=No language model is connected'), false)
    await page.click('main button:has-text("Talk")')
    await page.waitForSelector('[role="log"]:has-text("good day")', patience)
    await page.fill('input[name="text"]', 'When are you open?')
    await page.click('button:has-text("Send")')
    await page.waitForSelector('[role="log"]:has-text("When are you open?")', patience)
    await check('agent-talking')
    await page.click('button:has-text("Hang up")')
    await page.waitForSelector('text=You have ended the conversation.', patience)
    await page.click('text=See the call')
    await page.waitForURL(/\/calls\/[0-9a-f-]{36}$/, patience)
  })

  t.test('a conversation ends if the person leaves the page while it starts', async (t) => {
    const { owner, place } = await organization('that leaves')
    const { id } = (await call(owner, 'POST', '/v1/agents', { ...desk, ...talkative })).json<{ id: string }>()
    const { page, open } = await signIn(t, place)
    await open(`/agents/${id}?tab=talk`, 'main button:has-text("Talk")')
    const release = await hold(page, /\/v1\/sessions$/)
    await page.click('main button:has-text("Talk")')
    await page.waitForSelector('main :text-is("starting")', patience)
    await page.click('nav a:has-text("Calls")')
    await page.waitForSelector('h1:has-text("Calls")', patience)
    release()
    await until('the call has ended', async () => {
      const { calls } = (await call(owner, 'GET', '/v1/calls')).json<{ calls: { end_reason: string | null }[] }>()
      return calls[0]?.end_reason === 'user_hangup'
    })
  })

  t.test('a person changes an agent, compares versions and restores one', async (t) => {
    const { owner, place } = await organization('with versions')
    const { id } = (await call(owner, 'POST', '/v1/agents', desk)).json<{ id: string }>()
    const { page, open, check, text } = await signIn(t, place)
    await open('/agents', 'tbody tr')
    await check('agents')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForSelector('textarea[name="systemPrompt"]', patience)
    await check('agent-settings')
    await page.click('main button[type="submit"]')
    await page.waitForSelector('text=Nothing was changed.', patience)
    await page.fill('textarea[name="systemPrompt"]', 'You answer the phone.\nBe friendly.')
    await page.fill('input[name="temperature"]', '0.4')
    await page.click('main button[type="submit"]')
    await page.waitForSelector('text=Saved as version 2.', patience)
    await page.click('main nav a:has-text("Versions")')
    await page.waitForSelector('pre:has-text("Be friendly")', patience)
    t.match(await text(), /− Be brief\.[\s\S]*\+ Be friendly\./)
    await check('agent-versions')
    await page.click('a:has-text("Version 1")')
    await page.click('button:has-text("Restore version 1")')
    await page.waitForSelector('a:has-text("version 1 restored")', patience)
    const now = (await call(owner, 'GET', `/v1/agents/${id}`)).json<{ systemPrompt: string; llmOptions: unknown }>()
    t.match(now, { systemPrompt: desk.systemPrompt, llmOptions: null })
  })

  t.test('a change from somebody else is not overwritten', async (t) => {
    const { owner, place } = await organization('with two people')
    const { id } = (await call(owner, 'POST', '/v1/agents', desk)).json<{ id: string }>()
    const { page, open, check } = await signIn(t, place)
    await open(`/agents/${id}`, 'textarea[name="systemPrompt"]')
    await call(owner, 'PATCH', `/v1/agents/${id}`, { firstMessage: 'Good day.' })
    await page.fill('textarea[name="systemPrompt"]', 'Another prompt.')
    await page.click('main button[type="submit"]')
    await page.waitForSelector('text=Somebody else has changed this agent', patience)
    await check('agent-conflict')
    await page.click('button:has-text("Take the newest version")')
    await page.waitForSelector('main:not(:has-text("Somebody else"))', patience)
    t.equal(await page.evaluate(`document.querySelector('textarea[name="firstMessage"]').value`), 'Good day.')
    const { systemPrompt } = (await call(owner, 'GET', `/v1/agents/${id}`)).json<{ systemPrompt: string }>()
    t.equal(systemPrompt, desk.systemPrompt)
  })

  t.test('a person adds a tool, changes it and removes it', async (t) => {
    const { owner, place } = await organization('with tools')
    const { id } = (await call(owner, 'POST', '/v1/agents', desk)).json<{ id: string }>()
    const { page, open, check } = await signIn(t, place)
    await open(`/agents/${id}?tab=tools`, '[data-state="empty"]')
    await check('agent-tools-empty')
    await page.click('text=Add a tool')
    await page.fill('dialog input[name="name"]', 'find_stock')
    await page.fill('dialog textarea[name="description"]', 'Looks up the stock.')
    await page.fill('dialog input[name="url"]', 'https://shop.example/stock')
    await check('agent-tool-new')
    await page.click('dialog button[type="submit"]')
    await page.waitForSelector('h2:has-text("find_stock")', patience)
    await check('agent-tools')
    await page.click('button:has-text("Change")')
    await page.fill('dialog textarea[name="description"]', 'Looks up how many are there.')
    await page.click('dialog button[type="submit"]')
    await page.waitForSelector('text=Looks up how many are there.', patience)
    await page.click('button:has-text("Remove")')
    await page.click('dialog button:has-text("Remove the tool")')
    await page.waitForSelector('[data-state="empty"]', patience)
  })

  t.test('a viewer reads an agent, and sees which role a change needs', async (t) => {
    const { owner, place } = await organization('with a viewer')
    const { id } = (await call(owner, 'POST', '/v1/agents', desk)).json<{ id: string }>()
    const { page, open, check } = await signIn(t, { ...place, role: 'viewer' })
    await open(`/agents/${id}`, 'textarea[name="systemPrompt"]')
    await page.waitForSelector('text=Changing and deleting the agent needs the role member.', patience)
    t.equal(await page.isVisible('textarea[name="systemPrompt"][readonly]'), true, 'the prompt can be copied')
    t.equal(await page.isVisible('main button[type="submit"]'), false)
    await check('agent-viewer')
  })
}
