/**
 * A conversation with three turns on /try/agent with embedded engines: a recorded voice is a real browser's microphone.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { readLocalSecret } from '../../runtime/process/local-secret.ts'
import { bytes, fmt, riff } from '../audio/build.ts'
import type { Browser, Page } from '../browser/chromium.ts'
import { inBrowser, shows } from '../browser/visiting.ts'
import { startParley } from '../process/parley.ts'
import { readFixture, spoken } from '../speech/fixtures.ts'
import { errorRate, wordErrors } from '../speech/words.ts'

/** These recordings have no pause inside, because a pause may end a turn. */
const names = ['conf-waitforleader', 'please-try-call-later', 'cannot-complete-as-dialed'] as const
const said = names.map((name) => spoken[name]).join(' ')
const prompt = `You answer the phone of a bicycle shop.
When asked about the conference, say Our conference is at ten.
When asked to try later, say We are open until six.
When asked about a dialed number, say The weasels are very sorry.`
const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-test-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const recording = path.join(folder, 'voice.wav')
writeFileSync(recording, withPauses())

/** The allowed error rate: two words out of twenty-one. */
const allowed = 0.1

type Entry = { source: string; text: string; conversationalLatencyMs: number | null } & Record<string, unknown>

const title = 'a spoken conversation of three turns succeeds in a browser'
await inBrowser(t, title, tests, recording)

function tests(browser: Browser): void {
  t.test(title, { timeout: 200_000 }, async (t) => {
    const parley = await startParley({ PARLEY_BOOTSTRAP_KEY: '', PARLEY_REALTIME_OPEN_MS: '60000' })
    t.teardown(() => parley.remove())
    const authorization = `Bearer ${readLocalSecret(parley.dataDir, 'local.key')}`
    // On a busy machine the fake microphone loses samples, so one good conversation is enough.
    let talk = await converse(browser, parley.url, authorization)
    if (errorsOf(talk) > allowed) talk = await converse(browser, parley.url, authorization)
    const { entries, audio, shown } = talk
    t.ok(errorsOf(talk) <= allowed, `the words of the user: ${userTextOf(talk)}`)
    const agentTurns = entries.filter(({ source }) => source === 'agent')
    t.match(
      agentTurns.map(({ text }) => text),
      [/Hello/, /conference is at ten/, /open until six/, /weasels are very sorry/],
      'each turn has its answer',
    )
    for (const turn of agentTurns) t.equal(playedTextOf(turn), turn.text, 'all of it was played')
    t.match(shown, /conference is at ten.*open until six.*weasels are very sorry/s, 'the page shows them')
    for (const { conversationalLatencyMs } of agentTurns.slice(1)) t.ok((conversationalLatencyMs ?? 0) > 0)

    const form = new FormData()
    form.set('model', 'auto')
    form.set('language', 'en')
    form.set('file', new Blob([wavOf(audio)]), 'agent.wav')
    const answer = await fetch(`${parley.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization },
      body: form,
    })
    const { text } = (await answer.json()) as { text: string }
    const errors = errorRate([wordErrors(agentTurns.map(playedTextOf).join(' '), text)])
    t.ok(errors <= 0.25, `the audio that reached the browser says what the transcript says: ${text}`)
  })
}

type Talk = { entries: Entry[]; audio: Buffer; shown: string }

const playedTextOf = (entry: Entry) => entry['heardText'] as string
const userTextOf = ({ entries }: Talk) =>
  entries
    .filter(({ source }) => source === 'user')
    .map(({ text }) => text)
    .join(' ')
const errorsOf = (talk: Talk) => errorRate([wordErrors(said, userTextOf(talk))])

async function converse(browser: Browser, url: string, authorization: string): Promise<Talk> {
  const context = await browser.newContext({ permissions: ['microphone'] })
  const page = await context.newPage()
  const audio: Buffer[] = []
  let sessionId = ''
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      if (typeof payload !== 'string') audio.push(payload)
      else if (payload.startsWith('{"type":"ready"'))
        sessionId = (JSON.parse(payload) as { sessionId: string }).sessionId
    }),
  )
  await page.goto(`${url}/try/agent`)
  await page.fill('#prompt', prompt)
  await page.click('#talk')
  await until(
    page,
    `document.querySelectorAll('.turn.agent').length >= 4 && document.getElementById('state').dataset.state === 'listening'`,
  )
  await sleep(1000)
  await page.click('#talk')
  await shows(page, '#status', 'You have ended the conversation.')
  const shown = (await page.textContent('#conversation')) ?? ''
  await sleep(1000)
  await context.close()
  const answer = await fetch(`${url}/v1/sessions/${sessionId}/transcript`, { headers: { authorization } })
  const { entries } = (await answer.json()) as { entries: Entry[] }
  return { entries, audio: Buffer.concat(audio), shown }
}

/** Waits for the condition. If it never holds, the test goes on and compares the conversation as it is. */
async function until(page: Page, condition: string): Promise<void> {
  for (let i = 0; i < 70 && (await page.evaluate(condition)) !== true; i++) await sleep(1000)
}

/** Adds pauses between the sentences, so the agent has time to answer. */
function withPauses(): Uint8Array {
  const pause = (seconds: number) => new Uint8Array(8000 * 2 * seconds)
  const parts = names.flatMap((name) => [readFixture(name).subarray(44), pause(8)])
  return riff([
    ['fmt ', fmt(1, 1, 8000, 16)],
    ['data', bytes(pause(8), ...parts, pause(30))],
  ])
}

function wavOf(audio: Buffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(
    riff([
      ['fmt ', fmt(1, 1, 24_000, 16)],
      ['data', audio],
    ]),
  )
}
