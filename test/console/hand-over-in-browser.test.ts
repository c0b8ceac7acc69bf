/** Tests how a person hands a live call over in the console: listen, take over, give back, and transfer. */
import t from 'tap'
import { WebSocket } from 'ws'
import type { Browser } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { call, startOwnAdministered } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'
import { signIn } from './visiting.ts'

await inBrowser(t, 'a live call is handed over', tests)

/** Starts a call from a browser, and stays in it. */
async function liveCall(t: { teardown(run: () => void): void }, owner: Target): Promise<string> {
  const made = await call(owner, 'POST', '/v1/sessions', { intent: { language: 'en' } })
  const { sessionId, transportUrl, transportToken } = made.json<{
    sessionId: string
    transportUrl: string
    transportToken: string
  }>()
  const socket = new WebSocket(transportUrl, ['service.session.v1', `service.ephemeral.${transportToken}`])
  t.teardown(() => socket.terminate())
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (!isBinary && data.toString().includes('"ready"')) resolve()
    })
  })
  return sessionId
}

async function tests(browser: Browser): Promise<void> {
  const { parley, admin } = await startOwnAdministered(t)
  const organization = async (name: string) => {
    const owner = await admin.organization(name)
    return { owner, place: { browser, admin, url: parley.url, organizationId: owner.id } }
  }

  t.test('a person listens to a live call, takes it over and gives it back', async (t) => {
    const { owner, place } = await organization('that takes over')
    const id = await liveCall(t, owner)
    const { page, open, check } = await signIn(t, place)
    await open(`/calls/${id}`, 'button:has-text("Join")')
    await page.click('button:has-text("Join")')
    await page.waitForSelector('[role="status"]:has-text("You listen")', patience)
    await check('call-listening')
    await page.click('button:has-text("Take over")')
    await page.waitForSelector('[role="status"]:has-text("the agent is silent")', patience)
    await page.click('button:has-text("Mute")')
    await page.waitForSelector('button[aria-pressed="true"]:has-text("Mute")', patience)
    await check('call-taken-over')
    await page.click('button:has-text("let the agent go on")')
    await page.waitForSelector('button:has-text("Join")', patience)
    const { events } = (await call(owner, 'GET', `/v1/calls/${id}/events`)).json<{ events: Event[] }>()
    const joined = events.filter(({ event_type: type }) => type === 'room.participant_joined')
    t.equal(new Set(joined.map(({ payload }) => payload.identity).filter((who) => who?.startsWith('join_'))).size, 2)
    t.match((await call(owner, 'GET', `/v1/calls/${id}`)).json(), { status: 'in_progress' })
  })

  t.test('a person without a microphone goes on listening, until the next seat is open', async (t) => {
    const { owner, place } = await organization('without a microphone')
    const id = await liveCall(t, owner)
    const { page, open, check } = await signIn(t, place)
    await page.addInitScript(refuseMicrophone)
    await open(`/calls/${id}`, 'button:has-text("Join")')
    await page.click('button:has-text("Join")')
    await page.waitForSelector('[role="status"]:has-text("You listen")', patience)
    await page.click('button:has-text("Take over")')
    await page.waitForSelector('[role="status"]:has-text("no microphone"):has-text("You listen")', patience)
    await check('call-without-microphone')
    const moves = async () => {
      const { events } = (await call(owner, 'GET', `/v1/calls/${id}/events`)).json<{ events: Event[] }>()
      return events.filter(({ payload }) => payload.identity?.startsWith('join_')).map(({ event_type: type }) => type)
    }
    t.same(await moves(), ['room.participant_joined'], 'the person never left')
    await page.evaluate('isMicrophoneRefused = false')
    await page.click('button:has-text("Take over")')
    await page.waitForSelector('[role="status"]:has-text("the agent is silent")', patience)
    await until('the new seat', async () => (await moves()).length > 1)
    t.same((await moves()).slice(0, 2), ['room.participant_joined', 'room.participant_joined'], 'the new seat is first')
  })

  t.test('without sound, the page shows the fault of the browser', async (t) => {
    const { owner, place } = await organization('without sound')
    const id = await liveCall(t, owner)
    const { page, open } = await signIn(t, place)
    await page.addInitScript(`AudioWorklet.prototype.addModule = async () => { throw new DOMException('No sound.') }`)
    await open(`/calls/${id}`, 'button:has-text("Join")')
    await page.click('button:has-text("Join")')
    await page.waitForSelector('[role="status"]:has-text("No sound.")', patience)
  })

  t.test('a viewer may not join a call', async (t) => {
    const { owner, place } = await organization('with a viewer')
    const id = await liveCall(t, owner)
    const { page, open, check } = await signIn(t, { ...place, role: 'viewer' })
    await open(`/calls/${id}`, 'button:has-text("Join")')
    await page.click('button:has-text("Join")')
    await page.waitForSelector('[role="status"]:has-text("role member")', patience)
    await check('call-join-forbidden')
  })
}

type Event = { event_type: string; payload: { identity?: string } }

const refuseMicrophone = `
  globalThis.isMicrophoneRefused = true
  const { getUserMedia } = MediaDevices.prototype
  MediaDevices.prototype.getUserMedia = function (wanted) {
    if (isMicrophoneRefused) return Promise.reject(new DOMException('Permission denied', 'NotAllowedError'))
    return getUserMedia.call(this, wanted)
  }`
