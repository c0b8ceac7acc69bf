/**
 * Tests /try in a real browser: a recorded voice is the microphone, and the page shows its words. The browser's fake
 * microphone loses samples on a busy machine, so the recording plays inside the page's audio context instead.
 */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { WebSocket } from 'ws'
import { readLocalSecret } from '../../runtime/process/local-secret.ts'
import type { Browser, Page } from '../browser/chromium.ts'
import { inBrowser, patience, shows, watch } from '../browser/visiting.ts'
import { startParley } from '../process/parley.ts'
import { readFixture, spoken } from '../speech/fixtures.ts'
import { errorRate, wordErrors } from '../speech/words.ts'
import { loadEngines, slowEngines } from './socket.ts'

const name = 'privacy-prompt'

await inBrowser(t, 'the page /try transcribes and speaks in a browser', tests)

async function tests(browser: Browser): Promise<void> {
  const away = { id: 'away', adapter: 'openai', apiKey: 'env:ABSENT_KEY', models: { stt: ['elsewhere'] } }
  // The configuration has no key, so this is a first local run: it makes a key, and the page works with it.
  const parley = await startParley({
    PARLEY_BOOTSTRAP_KEY: '',
    PARLEY_PROVIDERS: JSON.stringify([away]),
    ...slowEngines,
  })
  t.teardown(() => parley.remove())
  const key = readLocalSecret(parley.dataDir, 'local.key') ?? ''
  await loadEngines({ url: parley.url, key })

  t.test('the page /try works with the microphone and requests no other server', async (t) => {
    const context = await browser.newContext({ permissions: ['microphone'] })
    t.teardown(() => context.close())
    const page = await context.newPage()
    await page.addInitScript(microphonePlaying(withPauses(readFixture(name))))
    const seen = record(page)
    await page.goto(`${parley.url}/try`)

    await t.test('speech becomes text on the page', async (t) => {
      const text = await speak(page)
      t.equal(errorRate([wordErrors(spoken[name], text)]), 0, text)
      t.match(await page.textContent('#stt-route'), /local.*moonshine/s)
      await shows(page, '#stt-route', 'away:elsewhere')
    })

    await t.test('text becomes speech on the page', async (t) => {
      await page.fill('#text', 'This sentence is spoken by your own server.')
      await page.click('#play')
      await shows(page, '#tts-status', 'Done')
      const seconds = seen.audioBytes() / 2 / 24_000
      t.ok(seconds > 1 && seconds < 10, `${seconds} s of speech`)
      t.match(await page.textContent('#tts-route'), /local.*hibari/s)
    })

    await t.test('speech on the page stops on request', async (t) => {
      await page.fill('#text', 'One more sentence that takes its time to be said. '.repeat(100))
      await page.click('#play')
      await shows(page, '#tts-status', 'Speaking')
      await page.click('#stop')
      await shows(page, '#tts-status', 'Stopped after')
      t.match(await page.textContent('#tts-status'), /^Stopped after \d+ characters/)
    })

    const { host } = new URL(parley.url)
    t.same(
      seen.urls.filter((url) => new URL(url).host !== host && !url.startsWith('data:')),
      [],
      'no request to any other origin',
    )
    t.same(seen.errors(), [], 'nothing went wrong on the page, nor was refused by its own policy')
    t.ok(key.length > 20)
    const shown = [await page.content(), ...(await Promise.all(seen.bodies))].join('\n')
    t.notOk(shown.includes(key), 'the key is in nothing that the page was sent')
    t.notMatch(shown, /sk_(live|test)_\w/)
  })

  t.test('a page of a foreign origin is refused with 403 before the upgrade', async (t) => {
    const foreign = await serveEmptyPage()
    t.teardown(() => foreign.close())
    const context = await browser.newContext({ permissions: [] })
    const page = await context.newPage()
    await page.goto(foreign.url)
    const token = await ownToken(parley.url)
    const address = `${parley.url.replace('http', 'ws')}/v1/transcribe/stream`
    t.equal(await page.evaluate(tryToken, `${parley.url}/try/token`), 'refused', 'nor a token')
    t.equal(await page.evaluate(trySocket, { address, token }), 'refused')
    t.same(await upgrade(address, token, foreign.url), { status: 403, code: 'origin_not_allowed' })
    t.equal((await upgrade(address, token, parley.url)).status, 101, 'and our own page has its token still')
    t.same(await upgrade(address, token, parley.url), { status: 401, code: 'authentication_failed' }, 'once')
  })
}

/** Adds silence in front, and at the end, so the end of the speech is detected. Returns 16-bit samples at 8 kHz. */
function withPauses(wav: Uint8Array): Buffer {
  const pause = Buffer.alloc(rateHz * 2 * 2)
  return Buffer.concat([pause, wav.subarray(44), pause])
}

const rateHz = 8000

/** Returns a script that plays the samples to a page instead of each microphone. */
const microphonePlaying = (samples: Buffer) => `{
  const bytes = Uint8Array.from(atob('${samples.toString('base64')}'), (letter) => letter.charCodeAt(0))
  const recording = Float32Array.from(new Int16Array(bytes.buffer), (sample) => sample / 32768)
  AudioContext.prototype.createMediaStreamSource = function () {
    const buffer = this.createBuffer(1, recording.length, ${rateHz})
    buffer.copyToChannel(recording, 0)
    const source = new AudioBufferSourceNode(this, { buffer })
    source.start()
    return source
  }
}`

async function speak(page: Page): Promise<string> {
  await page.click('#speak')
  await shows(page, '#stt-status', 'Listening')
  await page.waitForSelector('#transcript .final', patience)
  await page.click('#speak')
  await shows(page, '#stt-status', 'Done')
  return (await page.textContent('#transcript')) ?? ''
}

/** Records all the page's requests and answers, and its errors. */
function record(page: Page) {
  const urls: string[] = []
  const bodies: Promise<string>[] = []
  const { faults, refused } = watch(page)
  let audioBytes = 0
  page.on('request', (request) => urls.push(request.url()))
  page.on('response', (response) => bodies.push(response.text().catch(() => '')))
  page.on('websocket', (socket) => {
    urls.push(socket.url())
    socket.on('framereceived', ({ payload }) => {
      if (typeof payload === 'string') bodies.push(Promise.resolve(payload))
      else audioBytes += payload.length
    })
  })
  return { urls, bodies, errors: () => [...faults, ...refused], audioBytes: () => audioBytes }
}

async function ownToken(url: string): Promise<string> {
  const answer = await fetch(`${url}/try/token`, { method: 'POST', headers: { origin: url } })
  return ((await answer.json()) as { client_secret: { value: string } }).client_secret.value
}

/** These two functions run in the browser. */
const tryToken = (url: string) =>
  fetch(url, { method: 'POST' }).then(
    () => 'answered',
    () => 'refused',
  )
const trySocket = ({ address, token }: { address: string; token: string }) =>
  new Promise<string>((resolve) => {
    const socket = new globalThis.WebSocket(address, ['service.realtime.v1', `service.ephemeral.${token}`])
    socket.onopen = () => resolve('opened')
    socket.onerror = () => resolve('refused')
  })

/** Sends an upgrade over node:http, because a browser does not show the answer to pages. */
function upgrade(address: string, token: string, origin: string): Promise<{ status: number; code?: string }> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address, ['service.realtime.v1', `service.ephemeral.${token}`], { origin })
    socket.on('error', reject)
    socket.on('open', () => {
      socket.terminate()
      resolve({ status: 101 })
    })
    socket.on('unexpected-response', (_, response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
      response.on('end', () => {
        const { error } = JSON.parse(body) as { error: { code: string } }
        resolve({ status: response.statusCode ?? 0, code: error.code })
      })
    })
  })
}

async function serveEmptyPage(): Promise<{ url: string; close(): void }> {
  const server = http.createServer((_, response) => response.setHeader('content-type', 'text/html').end('<p>elsewhere'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}
