/** Tests visits to /try: lists, recordings, downloads, curl, a pasted key, keyboards, small and dark screens. */
import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { readLocalSecret } from '../../runtime/process/local-secret.ts'
import { axeFaults, type Browser, type ContextOptions, otherHost, type Page } from '../browser/chromium.ts'
import { hold, inBrowser, patience, shows, watch } from '../browser/visiting.ts'
import { pythonEnvironment } from '../clients/python/environment.ts'
import { testKey } from '../installation.ts'
import { until } from '../process/machine.ts'
import { startParley } from '../process/parley.ts'
import { readFixture, spoken } from '../speech/fixtures.ts'
import { errorRate, wordErrors } from '../speech/words.ts'
import { loadEngines, slowEngines } from './socket.ts'

const name = 'privacy-prompt'
const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-test-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const recording = path.join(folder, 'voice.wav')
writeFileSync(recording, readFixture(name))

/** The lists have their options as soon as the page knows the models. */
const filledLists = '#tts-voice optgroup'

await inBrowser(t, 'the page /try works in a browser', visits, recording)

async function visits(browser: Browser): Promise<void> {
  const parley = await startParley({ PARLEY_BOOTSTRAP_KEY: '', ...slowEngines })
  t.teardown(() => parley.remove())
  const key = readLocalSecret(parley.dataDir, 'local.key') ?? ''
  await loadEngines({ url: parley.url, key })
  const visit = async (t: Test, options: Partial<ContextOptions> = {}) => {
    const context = await browser.newContext({ permissions: ['microphone', 'clipboard-write'], ...options })
    t.teardown(() => context.close())
    const page = await context.newPage()
    await page.goto(`${parley.url}/try`)
    await page.waitForSelector(filledLists, { ...patience, state: 'attached' })
    return page
  }

  t.test('the lists of /try show the models that a request can be routed to', async (t) => {
    const page = await visit(t)
    t.equal(await page.isVisible('#key-form'), false, 'no key is asked for')
    t.same(await optionsOf(page, '#stt-model'), ['', 'local:moonshine-tiny-en'])
    t.same(await optionsOf(page, '#tts-model'), ['', 'local:hibari', 'local:flite', 'local:pico'])
    t.same(await optionsOf(page, '#tts-voice'), ['', 'heart', 'rms', 'slt', 'awb', 'kal16', 'en-GB'])
    t.same(await optionsOf(page, '#stt-language'), ['', 'en'])
  })

  t.test('/try transcribes a recording, and collapses the ignored options', async (t) => {
    const page = await visit(t)
    await page.setInputFiles('#file', recording)
    await shows(page, '#stt-status', 'Done')
    const text = (await page.textContent('#transcript')) ?? ''
    t.equal(errorRate([wordErrors(spoken[name], text)]), 0, text)
    t.match(await page.textContent('#stt-times'), /First partial\d+(\.\d)? m?s.*Final\d+(\.\d)? m?s.*Recording\d\.\d s/)
    t.match(await savedTranscript(page), { name: 'transcript.txt', text: `${text.trim()}\n` })
    await page.waitForSelector('#stt-route details', patience)
    t.match(await page.textContent('#stt-route summary'), /^\d+ left out: \d+ without a key of the provider/)
    t.equal(await page.isVisible('#stt-route details table'), false)
    await page.click('#stt-route summary')
    t.equal(await page.isVisible('#stt-route details table'), true)
    const release = await hold(page, /\/try\/route/, 1)
    for (let runs = 0; runs < 2; runs++) {
      await page.setInputFiles('#file', recording)
      await shows(page, '#stt-status', 'Done')
    }
    await page.waitForSelector('#stt-route details', patience)
    const late = page.waitForEvent('response')
    release()
    await (await late).finished()
    t.equal(await page.evaluate("document.querySelectorAll('#stt-route details').length"), 1, 'no older route')
    const wrong = path.join(folder, 'wrong.wav')
    writeFileSync(wrong, 'this is not audio')
    await page.setInputFiles('#file', wrong)
    await shows(page, '#stt-status', 'cannot read')
    for (const place of ['route', 'times']) t.equal(await page.textContent(`#stt-${place}`), '', 'no stale figures')
    t.equal(await page.textContent('#speak-label'), 'Speak')
  })

  t.test('/try shows a partial transcript until the final transcript replaces it', async (t) => {
    const page = await visit(t)
    const place = {
      ...{ provider: 'local', model: 'moonshine', region: 'local' },
      encoding: 'pcm_s16le',
      sampleRate: 16_000,
    }
    const words = { type: 'transcript', id: 'first', startMs: 0, endMs: 400 }
    let send: (frame: object) => void = () => {}
    await page.routeWebSocket(/\/v1\/transcribe\/stream/, (socket) => {
      send = (frame) => socket.send(JSON.stringify(frame))
      socket.onMessage(
        (frame) => typeof frame === 'string' && frame.includes('"config"') && send({ type: 'ready', ...place }),
      )
    })
    await page.setInputFiles('#file', recording)
    await shows(page, '#stt-status', 'Transcribing')
    send({ ...words, text: 'Please', isFinal: false })
    await shows(page, '#transcript .partial', 'Please')
    t.equal(await page.evaluate("document.getElementById('transcript-copy').disabled"), true)
    send({ ...words, text: 'Please enter.', isFinal: true })
    await shows(page, '#transcript .final', 'Please enter.')
    send({ type: 'end' })
    await shows(page, '#stt-status', 'Done')
    t.equal(await page.textContent('#transcript'), 'Please enter.')
  })

  t.test('/try speaks with a voice and saves its audio, and an error leaves no old route on the page', async (t) => {
    const page = await visit(t)
    await page.selectOption('#tts-model', 'local:flite')
    await page.selectOption('#tts-voice', 'slt')
    await page.click('#play')
    await shows(page, '#tts-status', 'Done')
    t.match(await page.textContent('#tts-route'), 'local:flite')
    const seconds = Number(/Speech(\d+\.\d) s/.exec((await page.textContent('#tts-times')) ?? '')?.[1])
    t.ok(seconds > 1, `${seconds} s`)
    const saving = page.waitForEvent('download')
    await page.click('#download')
    const download = await saving
    t.equal(download.suggestedFilename(), 'speech.wav')
    const wav = readFileSync(await download.path())
    t.equal(wav.toString('latin1', 0, 4), 'RIFF')
    t.equal(wav.readUInt32LE(40), wav.length - 44)
    t.ok(Math.abs((wav.length - 44) / 48_000 - seconds) < 0.06, 'it is all of the speech')

    await page.evaluate("document.getElementById('tts-voice').append(new Option('nobody'))")
    await page.selectOption('#tts-voice', 'nobody')
    await page.click('#play')
    await shows(page, '#tts-status', 'VOICE_NOT_FOUND')
    for (const place of ['route', 'times']) t.equal(await page.textContent(`#tts-${place}`), '')
  })

  t.test('the page /try asks for a text if the text is empty or blank', async (t) => {
    const page = await visit(t)
    for (const text of ['', ' \n ']) {
      await page.fill('#text', text)
      await page.click('#play')
      await shows(page, '#tts-status', 'Write a text first.')
      t.equal(await page.evaluate('document.activeElement.id'), 'text')
    }
  })

  t.test('the ranking page shows no error, and links back to /try', async (t) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await visit(t, { colorScheme, viewport: { width: 360, height: 800 } })
      await page.goto(`${parley.url}/docs/ranking`)
      t.same(await axeFaults(page), [])
      t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is cut off at the side')
      await page.click('header a')
      await page.waitForSelector('#tts-voice', patience)
    }
  })

  t.test('the programs on /try work without changes', async (t) => {
    const { python, missing } = await pythonEnvironment('requests.txt')
    const page = await visit(t)
    await page.fill('#text', `It's "quoted", and costs $5.`)
    await page.selectOption('#tts-voice', 'awb')
    await page.selectOption('#tts-language', 'en')
    copyFileSync(recording, path.join(folder, 'recording.wav'))
    const speech = path.join(folder, 'speech.wav')
    const programs = [
      { program: 'curl', command: ['sh', '-c'] },
      { program: 'node', command: [process.execPath, '--input-type=module', '-e'] },
      { program: 'python', command: [python, '-c'], skip: missing ?? false },
    ]
    for (const { program, command, skip = false } of programs)
      await t.test(program, { skip }, async (t) => {
        const run = async (stage: string) => {
          await page.click(`#${stage}-${program}`)
          const [file = '', ...args] = [...command, (await page.textContent(`#${stage}-code`)) ?? '']
          const env = { ...process.env, PARLEY_API_KEY: key }
          return (await promisify(execFile)(file, args, { cwd: folder, env })).stdout
        }
        rmSync(speech, { force: true })
        await run('tts')
        t.equal(readFileSync(speech).toString('latin1', 0, 4), 'RIFF')
        const output = await run('stt')
        const text = program === 'curl' ? (JSON.parse(output) as { text: string }).text : output
        t.equal(errorRate([wordErrors(spoken[name], text)]), 0, text)
      })
    t.notOk((await page.content()).includes(key))
  })

  t.test('the keyboard reaches everything on /try, in visual order', async (t) => {
    const page = await visit(t)
    const seen: string[] = []
    for (let i = 0; i < 18; i++) {
      await page.keyboard.press('Tab')
      seen.push((await page.evaluate('document.activeElement.id')) as string)
    }
    const programs = (stage: string) => [`${stage}-curl`, `${stage}-python`, `${stage}-node`]
    const stt = ['speak', 'upload', 'stt-model', 'stt-language', 'transcript', ...programs('stt')]
    const tts = ['text', 'play', 'tts-model', 'tts-voice', 'tts-language', ...programs('tts')]
    t.same(seen, ['to-agent', ...stt, ...tts, ''])
  })

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1100, 360])
      t.test(`axe finds no fault on /try: ${colorScheme}, ${width} pixels wide`, async (t) => {
        const page = await visit(t, { colorScheme, viewport: { width, height: 800 } })
        t.same(await axeFaults(page), [], 'at first')
        await page.setInputFiles('#file', recording)
        await shows(page, '#stt-status', 'Done')
        await page.waitForSelector('#stt-route details', patience)
        await page.click('#stt-route summary')
        await page.click('#stt-curl')
        await page.click('#play')
        await shows(page, '#tts-status', 'Done')
        t.same(await axeFaults(page), [], 'with figures')
        t.ok(
          await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
          'nothing is cut off at the side',
        )
        await page.evaluate("document.getElementById('key-form').hidden = false")
        await page.evaluate("document.getElementById('tts-status').classList.add('failed')")
        t.same(await axeFaults(page), [], 'with a failure and the form for a key')
        await page.evaluate("document.body.append(document.createElement('button'))")
        t.match(await axeFaults(page), [/^button-name/], 'axe does look')
      })

  t.test('on another machine than the server /try accepts a pasted API key, and forgets it when closed', async (t) => {
    const open = await startParley({ PARLEY_TRY: '1', ...slowEngines })
    t.teardown(() => open.remove())
    await loadEngines(open)
    const context = await browser.newContext({ permissions: [] })
    t.teardown(() => context.close())
    const page = await context.newPage()
    const { faults, refused } = watch(page)
    await page.goto(`${open.url.replace('127.0.0.1', otherHost)}/try`)
    await page.waitForSelector('#key-form:not([hidden])', patience)
    await page.waitForSelector(filledLists, { ...patience, state: 'attached' })
    t.same([...faults, ...refused], [], "the browser's console has no error before a key is pasted")
    t.match(await page.textContent('#stt-status'), 'needs HTTPS')
    t.same(await axeFaults(page), [])
    await page.fill('#key', `${testKey}x`)
    await page.keyboard.press('Enter')
    await page.waitForSelector('#key-status.failed', patience)
    const refusals = refused.length
    const release = await hold(page, /\/v1\/realtime\/sessions/, 1)
    await page.fill('#key', `${testKey}y`)
    await page.click('#key-form button')
    await page.fill('#key', testKey)
    await page.click('#key-form button')
    await shows(page, '#key-status', 'The key works')
    release()
    await until('the late refusal of the second key', () => Promise.resolve(refused.length > refusals))
    await page.setInputFiles('#file', recording)
    await shows(page, '#stt-status', 'Done')
    await page.waitForSelector('#stt-route details', patience)
    await page.click('#play')
    await shows(page, '#tts-status', 'Done')
    const kept = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])'
    t.equal(await page.evaluate(kept), '[{},{},""]', 'nothing is stored')
    t.notOk((await page.content()).includes(testKey))
    t.equal(await page.evaluate("document.getElementById('key').value"), '')
    await page.reload()
    await page.waitForSelector('#key-form:not([hidden])', patience)
    await page.click('#play')
    await page.waitForSelector('#tts-status.failed', patience)
  })
}

/** Copies and saves the transcript. The copied text must be the saved one. */
async function savedTranscript(page: Page): Promise<{ name: string; text: string }> {
  await page.click('#transcript-copy')
  await shows(page, '#stt-status', 'Copied the transcript.')
  const saving = page.waitForEvent('download')
  await page.click('#transcript-download')
  const download = await saving
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') }
}

async function optionsOf(page: Page, selector: string): Promise<string[]> {
  return (await page.evaluate(
    `[...document.querySelector('${selector}').options].map(({ value }) => value)`,
  )) as string[]
}
