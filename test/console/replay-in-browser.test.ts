/** Replays a turn with other models on the console's page, over a real server with its embedded engines. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { readWav } from '../../cli/wav.ts'
import type { CallEntry, Turn } from '../../domain/records/call.ts'
import type { Call } from '../../generated/clients/typescript/models/platform.ts'
import type { ModelsResponse } from '../../generated/clients/typescript/models/router.ts'
import type { Browser, Page } from '../browser/chromium.ts'
import { inBrowser, patience } from '../browser/visiting.ts'
import { newCall, newEvent, newTurn } from '../calls/call.ts'
import { type FixtureName, readFixture } from '../speech/fixtures.ts'
import { askApi, openShop, type Shop } from './shop.ts'
import { storeCall } from './stored-calls.ts'
import { tabTo } from './visiting.ts'

/** The caller's first turn, and the answer to it. */
const [question, answer] = [1, 2]
const run = 'button:has-text("Replay with")'
const column = (name: string) => `section[aria-label="${name}"]`

await inBrowser(t, 'a turn is replayed in the console', tests)

async function tests(browser: Browser): Promise<void> {
  const shop = await openShop(t, browser)
  const id = await storeCall(shop, 4)
  await speakInRecording(shop, id)
  const { models } = await askApi<ModelsResponse>(shop, '/router/v1/models?language=en&path=batch')
  const pinOf = (kind: string) => models.find((model) => model.kind === kind)?.pin ?? ''
  const [stt, llm] = ['stt', 'llm'].map(pinOf)

  t.test("a person replays the caller's audio with the keyboard alone", async (t) => {
    const { page, faults, open, check } = await shop.visit(t, { role: 'member' })
    const sent = requestsOf(page)
    await open(`/calls/${id}?turn=${question}`, 'a:has-text("Replay with other models")')
    await tabTo(page, 'a[href*="replay=stt"]')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=each request is billed to the organization', patience)
    await page.waitForSelector('select', patience)
    await tabTo(page, 'select')
    await tabTo(page, 'button:not([disabled])')
    await page.keyboard.press('Enter')
    await page.waitForSelector(`${run}:enabled`, patience)
    t.match(new URL(page.url()).searchParams.get('with'), stt)
    t.same(sent, [], 'nothing is billed before the person says so')
    await tabTo(page, 'button[aria-label^="Remove"]')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForSelector(`${column(stt ?? '')} dt:has-text("Cost")`, patience)
    const shown = await page.textContent(column(stt ?? ''))
    t.match(shown, /your phone number/, 'the left channel of the turn is sent')
    t.notMatch(shown, /weasels/i, 'the right channel is not sent')
    t.match(shown, /Answered bylocal:/)
    t.match(shown, /\d+ of 11 words/)
    t.ok(await page.isVisible(`${column(stt ?? '')} ins`))
    t.match(await page.textContent(column('In the call')), /deepgram:nova-3.*spare tyre/)
    t.same(sent, ['/router/v1/stt/transcriptions'])
    await check('replay-stt')
    t.same(faults, [])
  })

  t.test('a model that fails does not hide the answers of the other models', async (t) => {
    const { page, open, check } = await shop.visit(t)
    await open(`/calls/${id}?turn=${answer}&replay=llm&with=nobody/nothing,${llm}`, `${run}:enabled`)
    await page.click(run)
    await page.waitForSelector(`${column('nobody/nothing')} [role="alert"]`, patience)
    await page.waitForSelector(`${column(llm ?? '')} dt:has-text("First token")`, patience)
    t.match(await page.textContent(column('nobody/nothing')), /invalid_parameter|not_found/)
    await page.waitForSelector(`${column(llm ?? '')} dd:has-text("${llm?.replace('/', ':')}")`, patience)
    t.match(await page.textContent(column('In the call')), 'Which size do you need')
    await check('replay-llm')
  })

  t.test('two voices speak the answer again, and the voice of the call is there to compare', async (t) => {
    const { page, open, check } = await shop.visit(t)
    const speaking = models.filter(({ kind }) => kind === 'tts')
    const [first, second] = speaking.flatMap(({ pin, voices = [] }) => voices.map(({ id: voice }) => ({ pin, voice })))
    const chosen = [first, second].map((each) => `${each?.pin};${each?.voice}`).join(',')
    const [ofFirst, ofSecond] = [first, second].map((each) => column(`${each?.pin}, ${each?.voice}`))
    await open(`/calls/${id}?turn=${answer}&replay=tts&with=${chosen}`, `${run}:enabled`)
    await page.click(run)
    for (const of of [ofFirst, ofSecond]) t.ok((await secondsOf(page, `${of} audio`)) > 1)
    await page.click('button:has-text("Load the voice of the call")')
    t.ok((await secondsOf(page, `${column('In the call')} audio`)) > 1)
    await page.waitForSelector(`${ofSecond} dt:has-text("Cost")`, patience)
    await page.click('[aria-label="The same by a program"] button:has-text("parley")')
    t.match(
      await page.textContent('pre'),
      `parley speak 'We do. Which size do you need?' --model ${first?.pin} --voice`,
    )
    await check('replay-tts')
  })

  t.test('several models get the same audio, which is read once', async (t) => {
    const { page, open } = await shop.visit(t)
    const read: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/recording/audio')) read.push(request.method())
    })
    await open(`/calls/${id}?turn=${question}&replay=stt&with=${stt},a/1,a/2`, `${run}:enabled`)
    await page.click(run)
    await page.waitForSelector(`${column(stt ?? '')} dt:has-text("Cost")`, patience)
    for (const failed of ['a/1', 'a/2']) await page.waitForSelector(`${column(failed)} [role="alert"]`, patience)
    t.same(read, ['GET', 'GET'], 'the header of the recording, and the audio of the turn')
  })

  t.test('a viewer reads why replaying is not possible, and sees the words of the call', async (t) => {
    const { page, refused, open, check } = await shop.visit(t, { role: 'viewer' })
    await open(`/calls/${id}?turn=${question}&replay=stt`, 'text=Replaying needs the role member')
    t.match(await page.textContent(column('In the call')), 'spare tyre')
    t.equal(await page.isVisible('select'), false)
    t.same(refused, [])
    await check('replay-viewer')
  })

  t.test('at most 4 models are compared, and the address holds them', async (t) => {
    const { page, open } = await shop.visit(t)
    const many = ['a/1', 'a/1', 'a/2', 'a/3', 'a/4', 'a/5', 'nonsense'].join(',')
    await open(`/calls/${id}?turn=${question}&replay=stt&with=${many}`, `${run}:enabled`)
    t.match(await page.textContent(run), '4 models')
    await page.waitForSelector('button:has-text("Add"):disabled', patience)
    await page.click('[aria-label="Remove a/2"]')
    await page.waitForSelector('button:has-text("Add"):enabled', patience)
    t.equal(new URL(page.url()).searchParams.get('with'), 'a/1,a/3,a/4')
    await page.reload()
    await page.waitForSelector(`${run}:has-text("3 models")`, patience)
  })

  t.test('the page says why a turn has no audio to send', async (t) => {
    const { page, open } = await shop.visit(t)
    for (const [turn, words] of [
      [{ metadata: { typed: true } }, 'The caller typed these words'],
      [{ metadata: { dtmf: true } }, 'The caller pressed keys'],
      [{}, 'This call was not recorded'],
    ] as const) {
      const call = await storeTurn(shop, turn)
      await open(`/calls/${call}?turn=0&replay=stt`, `text=${words}`)
      t.equal(await page.isVisible('select'), false, words)
    }
    for (const [source, stage] of [
      ['user', 'stt'],
      ['agent', 'tts'],
    ] as const) {
      const call = await storeLongTurn(shop, source)
      await open(`/calls/${call}?turn=0&replay=${stage}`, 'text=This turn is longer than 2:00')
      t.equal(await page.isVisible('button:has-text("Load the voice of the call")'), false)
    }
    await open(`/calls/${id}?turn=0&replay=stt`, 'text=The caller said nothing before this turn.')
    await open(`/calls/${id}?turn=99&replay=stt`, 'text=The call has no turn 99')
    const lost = await storeCall(shop, 1)
    rmSync(path.join(shop.dataDir, 'recordings', `${lost}.wav`))
    await open(`/calls/${lost}?turn=${question}&replay=stt&with=${stt}`, `${run}:enabled`)
    await page.click(run)
    await page.waitForSelector(`${column(stt ?? '')} [role="alert"]:has-text("RECORDING_NOT_AVAILABLE")`, patience)
  })
}

/** Collects the requests to models. */
function requestsOf(page: Page): string[] {
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(new URL(request.url()).pathname)
  })
  return sent
}

/** Waits until the browser knows the sound's length. */
async function secondsOf(page: Page, selector: string): Promise<number> {
  await page.waitForSelector(selector, patience)
  const length = `new Promise((resolve, reject) => {
    const audio = document.querySelector(${JSON.stringify(selector)})
    if (audio.readyState > 0) return resolve(audio.duration)
    audio.addEventListener('loadedmetadata', () => resolve(audio.duration))
    audio.addEventListener('error', () => reject(new Error('the browser cannot play the sound')))
  })`
  return (await page.evaluate(length)) as number
}

/** Stores a call with one turn by the caller and without a recording. Returns its id. */
async function storeTurn({ admin, organizationId }: Shop, turn: Partial<Turn>): Promise<string> {
  const call = newCall(organizationId, {})
  const tenant = { organizationId, test: false }
  await admin.store.calls.insert(call, {})
  const said = newTurn({ index: 0, source: 'user', text: 'Hello', ...turn })
  await admin.store.calls.append(tenant, call.id, [{ kind: 'turn', turn: said }])
  return call.id
}

/** Stores a call whose turn of 3 minutes is in the recording. Returns its id. */
async function storeLongTurn(shop: Shop, source: Turn['source']): Promise<string> {
  const [startedAtMs, durationMs] = [Date.now() - 300_000, 180_000]
  const endedAtMs = startedAtMs + durationMs
  const id = await storeTurn(shop, { source, startedAtMs, endedAtMs })
  const recording = (status: 'recording' | 'ready', atMs: number, ms: number | null): CallEntry => {
    const event = newEvent(`recording.${status}`, { occurredAtMs: atMs })
    return { kind: 'recording', event, status, durationMs: ms }
  }
  await shop.admin.store.calls.append({ organizationId: shop.organizationId, test: false }, id, [
    recording('recording', startedAtMs, null),
    recording('ready', endedAtMs, durationMs),
  ])
  return id
}

/** Replaces the tones in the caller's first turn with speech, and puts other speech on the agent's channel. */
async function speakInRecording(shop: Shop, id: string): Promise<void> {
  const call = await askApi<Call>(shop, `/v1/calls/${id}`)
  const file = path.join(shop.dataDir, 'recordings', `${id}.wav`)
  const bytes = readFileSync(file)
  const turn = call.transcript.entries.find(({ index }) => index === question)
  const startMs = Date.parse(turn?.started_at ?? '') - Date.parse(call.recording_started_at ?? '')
  for (const [channel, name] of ['privacy-prompt', 'tt-weasels'].entries())
    speakAt(readWav(bytes).samples, startMs, channel, name as FixtureName)
  writeFileSync(file, bytes)
}

/** The recording has twice the rate of the speech, so each sample is written twice. */
function speakAt(samples: Buffer, startMs: number, channel: number, name: FixtureName): void {
  const speech = readWav(Buffer.from(readFixture(name))).samples
  for (let i = 0; i < speech.length; i++) {
    const at = (Math.round(startMs * 16) + i) * 4 + channel * 2
    samples.writeInt16LE(speech.readInt16LE((i >> 1) * 2), at)
  }
}
