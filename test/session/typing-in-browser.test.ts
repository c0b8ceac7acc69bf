/**
 * Tests the page /try/agent in a real browser without a microphone: the user types, and the agent's voice is played.
 */
import t from 'tap'
import { axeFaults, type Browser, otherHost, type Page } from '../browser/chromium.ts'
import { inBrowser, shows, watch } from '../browser/visiting.ts'
import { call } from '../platform/setup.ts'
import { loadEngines, slowEngines } from '../realtime/socket.ts'
import { ownServer } from '../server.ts'

const settings = { PARLEY_TRY: '1', ...slowEngines }

const agent = {
  name: 'Front desk',
  systemPrompt: 'You answer the phone of a <b>bicycle</b> shop.',
  firstMessage: 'Good day.',
  intent: { language: 'en-US' },
}

await inBrowser(t, 'typing to the agent works in a browser without a microphone', typing)

function typing(browser: Browser): void {
  const ways = [
    { name: 'over http from another machine', host: otherHost, words: 'The microphone needs HTTPS.' },
    { name: 'on a machine without a microphone', host: '127.0.0.1', words: 'There is no microphone.' },
  ]
  for (const { name, host, words } of ways)
    t.test(`typing to the agent works ${name}`, async (t) => {
      const server = await ownServer(t, settings)
      await loadEngines(server)
      const context = await browser.newContext({ permissions: [] })
      t.teardown(() => context.close())
      const page = await context.newPage()
      const { faults, refused } = watch(page)
      await page.goto(`${server.url.replace('127.0.0.1', host)}/try/agent`)
      await removeDevices(page)
      await shows(page, '#key-form', 'API key')
      await page.fill('#key', server.key)
      await page.click('#key-form button')
      await shows(page, '#key-status', 'The key works.')
      await page.click('#talk')
      await shows(page, '#status', `${words} Type instead.`)
      await shows(page, '#conversation', 'Hello! Ask me something.')
      t.same(await disabled(page), { text: false, send: false, mute: true })
      await page.fill('#text', 'How much is a new chain?')
      await page.click('#send')
      await shows(page, '#conversation', 'thirty euros')
      t.match(await page.textContent('#status'), words, 'the reason is not overwritten')
      await page.click('#talk')
      await shows(page, '#status', 'You have ended the conversation.')
      t.same([...faults, ...refused], [])
    })

  t.test('the page shows the settings of a stored agent when it is chosen', async (t) => {
    const server = await ownServer(t, settings)
    const { id } = (await call(server, 'POST', '/v1/agents', agent)).json<{ id: string }>()
    const context = await browser.newContext({ permissions: [] })
    t.teardown(() => context.close())
    const page = await context.newPage()
    await page.goto(`${server.url.replace('127.0.0.1', otherHost)}/try/agent`)
    await page.fill('#key', server.key)
    await page.click('#key-form button')
    await shows(page, '#agent', agent.name)
    await page.selectOption('#agent', id)
    t.equal(await page.isVisible('#own'), false)
    for (const text of [agent.systemPrompt, agent.firstMessage, 'American English', 'auto'])
      t.ok((await page.textContent('#stored'))?.includes(text), text)
    t.same(await axeFaults(page), [])
    await page.selectOption('#agent', '')
    t.same([await page.isVisible('#own'), await page.isVisible('#stored')], [true, false])
  })
}

/** Makes the microphone fail, because a fake browser grants every microphone. */
const removeDevices = (page: Page) =>
  page.evaluate(`if (navigator.mediaDevices) navigator.mediaDevices.getUserMedia = () =>
    Promise.reject(new DOMException('Requested device not found', 'NotFoundError'))`)

const disabled = (page: Page) =>
  page.evaluate(`Object.fromEntries(['text', 'send', 'mute'].map((id) => [id, document.getElementById(id).disabled]))`)
