/**
 * Without another provider, a text-to-speech request in a language is spoken by the embedded voice for this language.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { outputOf } from '../cli/output.ts'
import { runCommand } from '../command.ts'
import { freshDataDir } from '../installation.ts'
import { postJson, speech } from '../router/requests.ts'
import { ownServer } from '../server.ts'

const parley = await ownServer(t)
const files = freshDataDir()
mkdirSync(files, { recursive: true })
t.teardown(() => rmSync(files, { recursive: true, force: true }))

const texts: Readonly<Record<string, string>> = {
  en: 'Good morning, and thank you for calling.',
  de: 'Guten Morgen, schön, dass Sie anrufen.',
  es: 'Buenos días y gracias por llamar.',
  fr: 'Bonjour, et merci de votre appel.',
  it: 'Buongiorno e grazie della chiamata.',
}

t.test('`parley speak --language` writes speech in five languages', async (t) => {
  for (const [language, text] of Object.entries(texts)) {
    const out = path.join(files, `${language}.wav`)
    const args = ['speak', '--language', language, '--out', out, '--json', text]
    const output = await outputOf(t, runCommand(parley, args, { PARLEY_API_KEY: parley.key }))
    const { durationMs } = JSON.parse(output) as { durationMs: number }
    t.ok(durationMs > 1500 && durationMs < 4500, `${language}: ${durationMs} ms`)
    t.ok(readFileSync(out).length > durationMs * 48, language)
  }
})

t.test('the router chooses the embedded voice by language, and refuses a language that it cannot speak', async (t) => {
  const routed = async (language: string, more: object = {}) => {
    const answer = await postJson(parley, speech, { input: 'Hallo.', language, ...more })
    const model = answer.headers.get('service-model')
    return { status: answer.status, model, error: answer.status === 200 ? null : answer.json().error }
  }
  for (const language of ['de', 'de-AT', 'es-MX', 'fr', 'it'])
    t.match(await routed(language), { status: 200, model: 'pico' }, language)
  t.match(await routed('ja'), {
    status: 400,
    error: { code: 'capability_unsupported', param: '/language', message: /^The language ja is not supported by/ },
  })
  t.match(await routed('de', { routing: { mode: 'explicit', model: 'local/flite' } }), {
    status: 400,
    error: { code: 'capability_unsupported', param: '/language' },
  })
})

t.test(
  'a preset with a male voice is spoken by a male embedded voice, and a female preset by a female voice',
  async (t) => {
    const spokenBy = async (voice: string, model = 'auto') => {
      const answer = await postJson(parley, '/v1/audio/speech', { model, input: 'Good morning.', voice })
      t.equal(answer.status, 200, answer.text)
      return answer.headers.get('service-model')
    }
    for (const voice of ['onyx', 'ash', 'echo', 'verse', 'ballad', 'cedar'])
      t.equal(await spokenBy(voice), 'flite', voice)
    for (const voice of ['nova', 'shimmer', 'alloy']) t.equal(await spokenBy(voice), 'hibari', voice)
  },
)

t.test('an embedded voice reads dates as usual in the region', async (t) => {
  const lengthIn = async (language: string, input: string) => {
    const routing = { mode: 'explicit', model: 'local/flite' }
    const headers = {
      authorization: `Bearer ${parley.key}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    }
    const body = JSON.stringify({ input, language, routing })
    const answer = await fetch(parley.url + speech, { method: 'POST', headers, body })
    t.equal(answer.status, 200)
    return (await answer.arrayBuffer()).byteLength
  }
  const date = 'It is on 3/12/2026.'
  const [american, australian] = [await lengthIn('en-US', date), await lengthIn('en-AU', date)]
  t.equal(american, await lengthIn('en-US', 'It is on March twelfth, twenty twenty six.'))
  t.equal(australian, await lengthIn('en-US', 'It is on December third, twenty twenty six.'))
})
