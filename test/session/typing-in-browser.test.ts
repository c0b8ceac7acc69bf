/** /try/agent in a real browser without a microphone: the user types, and the agent's voice is played. */
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { packageFile } from '../../runtime/package-file.ts'
import { axeFaults, openChromium, otherHost, type Page } from '../browser/chromium.ts'
import { call } from '../platform/setup.ts'
import { ownServer } from '../server.ts'

const browser = await openChromium(fileURLToPath(packageFile('test/fixtures/speech/privacy-prompt.wav')))
if ('missing' in browser) {
  t.test('typing to the agent works in a browser without a microphone', { skip: browser.missing }, () => {})
} else {
  t.teardown(() => browser.close())
  const ways = [
    { name: 'over http from another machine', host: otherHost, words: 'The microphone needs HTTPS.' },
    { name: 'on a machine without a microphone', host: '127.0.0.1', words: 'There is no microphone.' },
  ]
  for (const { name, host, words } of ways)
    t.test(`typing to the agent works ${name}`, { timeout: 90_000 }, async (t) => {
      const server = await ownServer(t, { PARLEY_TRY: '1' })
      const context = await browser.newContext({ permissions: [] })
      const page = await context.newPage()
      const errors: string[] = []
      page.on('pageerror', (error) => errors.push(error.message))
      page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
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
      t.same(errors, [])
      await context.close()
    })

  t.test('the page shows the settings of a stored agent when it is chosen', { timeout: 90_000 }, async (t) => {
    const server = await ownServer(t, { PARLEY_TRY: '1' })
    const { id } = (await call(server, 'POST', '/v1/agents', agent)).json<{ id: string }>()
    const page = await (await browser.newContext({ permissions: [] })).newPage()
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

const agent = {
  name: 'Front desk',
  systemPrompt: 'You answer the phone of a <b>bicycle</b> shop.',
  firstMessage: 'Good day.',
  intent: { language: 'en-US' },
}

/** Makes the microphone fail, because a fake browser grants every microphone. */
const removeDevices = (page: Page) =>
  page.evaluate(`if (navigator.mediaDevices) navigator.mediaDevices.getUserMedia = () =>
    Promise.reject(new DOMException('Requested device not found', 'NotFoundError'))`)

const disabled = (page: Page) =>
  page.evaluate(`Object.fromEntries(['text', 'send', 'mute'].map((id) => [id, document.getElementById(id).disabled]))`)

async function shows(page: Page, selector: string, text: string): Promise<void> {
  await page.waitForSelector(`${selector}:has-text(${JSON.stringify(text)})`, { timeout: 30_000, state: 'attached' })
}
