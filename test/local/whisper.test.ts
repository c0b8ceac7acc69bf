/**
 * Whisper base over recordings of people in several languages, in its child processes. The figures are printed. Only
 * `make test-all LANE=whisper` runs this file, because it needs the model's files. Two tests measure time, so they need
 * an idle machine.
 */
import t, { type Test } from 'tap'
import type { Transcript } from '../../domain/ports/stt.ts'
import { recognised } from '../audio/build.ts'
import { readFixture } from '../speech/fixtures.ts'
import { loadPrompts, type PromptLanguage } from '../speech/prompts.ts'
import { loadWhisper } from '../speech/whisper-model.ts'
import { wordlessSounds } from '../speech/wordless.ts'
import { type ErrorCount, errorRate, wordErrors, words, wordsIn } from '../speech/words.ts'
import { openLocal } from './setup.ts'
import { feed, finalText, listen, median, silence, speakInto } from './streaming.ts'

const loaded = await loadWhisper()
const skip = 'missing' in loaded ? loaded.missing : false
const { provider } = openLocal(t, 'missing' in loaded ? {} : loaded)
const model = 'whisper-base'
const telephone = { encoding: 'pcm_s16le', sampleRateHz: 8000, channels: 1 } as const
const busyMs = 600_000

async function hear(
  chunks: readonly Uint8Array[],
  language?: string,
  declared?: typeof telephone,
): Promise<Transcript> {
  const request = { model, recording: recognised(chunks, declared ?? null), options: {}, ...(language && { language }) }
  return provider.ports.speech!.stt!.transcribe(request, new AbortController().signal)
}

/** The highest share of wrong words by language. The recordings come from a studio. */
const wrongMax = { en: 0.03, es: 0.18, fr: 0.18, it: 0.18 }
const rightLanguageMin = 0.9

for (const [language, max] of Object.entries(wrongMax) as [PromptLanguage, number][])
  t.test(
    `recordings in the language ${language} are transcribed, and the language is detected`,
    { skip, timeout: busyMs },
    async (t) => {
      const prompts = await loadPrompts(language)
      if ('missing' in prompts) return skipped(t, prompts.missing)
      const chosen = prompts.prompts
      t.ok(chosen.length >= 20)
      const found: (string | undefined)[] = []
      const counts: ErrorCount[] = []
      for (const { wav, text } of chosen) {
        const transcript = await hear([wav])
        found.push(transcript.language)
        counts.push(wordErrors(text, transcript.text, language === 'en' ? words : wordsIn(language)))
      }
      const right = found.filter((each) => each === language).length
      t.comment(`${chosen.length} prompts: ${percent(errorRate(counts))} of words wrong, language right in ${right}`)
      t.ok(errorRate(counts) <= max)
      t.ok(right / chosen.length >= rightLanguageMin)
    },
  )

t.test(
  'speech of an embedded German voice is transcribed, and the language is detected',
  { skip, timeout: busyMs },
  async (t) => {
    const voice = provider.models.find(({ stage, languages }) => stage === 'tts' && languages.includes('de'))
    if (!voice) return skipped(t, 'no embedded voice speaks German, and no package has recorded German prompts')
    const counts: ErrorCount[] = []
    for (const text of germanTexts) {
      const request = { model: voice.id, text, language: 'de', outputFormat: telephone }
      const { audio } = await provider.ports.speech!.tts!.synthesize(request, new AbortController().signal)
      const chunks: Uint8Array[] = []
      for await (const chunk of audio) chunks.push(chunk)
      const transcript = await hear(chunks, undefined, telephone)
      t.equal(transcript.language, 'de', transcript.text)
      counts.push(wordErrors(text, transcript.text, wordsIn('de')))
    }
    t.comment(`${percent(errorRate(counts))} of words wrong`)
    t.ok(errorRate(counts) <= 0.18)
  },
)

const germanTexts = [
  'Vielen Dank für Ihren Anruf.',
  'Bitte nennen Sie mir Ihren Namen und Ihre Telefonnummer.',
  'Ihr Termin ist am Donnerstag um halb zehn.',
  'Leider ist an diesem Tag kein Tisch mehr frei.',
  'Möchten Sie lieber am Vormittag oder am Nachmittag kommen?',
  'Ich verbinde Sie jetzt mit einer Mitarbeiterin.',
  'Bitte bleiben Sie am Apparat.',
  'Die Rechnung haben wir Ihnen letzte Woche geschickt.',
]

t.test('if the request names the language, no language is detected', { skip, timeout: busyMs }, async (t) => {
  const { language, text } = await hear([readFixture('privacy-prompt')], 'en')
  t.equal(language, 'en')
  t.equal(wordErrors('Please enter your phone number, starting with the area code.', text).errors, 0)
})

t.test('silence, noise, tones and music give no words', { skip, timeout: busyMs }, async (t) => {
  const sounds = wordlessSounds()
  t.equal(sounds.length, 50)
  for (const { name, samples } of sounds) t.equal((await hear([samples], undefined, telephone)).text, '', name)
})

t.test(
  'a stream tells the language of each transcript, and changes it with the speaker',
  { skip, timeout: busyMs },
  async (t) => {
    const italian = await loadPrompts('it')
    if ('missing' in italian) return skipped(t, italian.missing)
    const first = italian.prompts[0]!
    const { stream, transcripts, over } = await listen(provider, { model })
    for (const wav of [readFixture('privacy-prompt'), first.wav, readFixture('please-try-call-later')]) {
      await feed(stream, wav.subarray(44))
      await feed(stream, silence(1000))
    }
    stream.end()
    t.equal(await over, 'ended')
    const finals = transcripts.filter(({ isFinal, text }) => isFinal && text !== '')
    const languages = finals.map(({ language }) => language)
    t.same([languages[0], languages.at(-1)], ['en', 'en'])
    t.ok(
      languages.slice(1, -1).length > 0 && languages.slice(1, -1).every((language) => language === 'it'),
      languages.join(),
    )
  },
)

t.test('interims come every 0.8 s at the speed of speech', { skip, timeout: busyMs }, async (t) => {
  const { stream, transcripts, starts, over } = await listen(provider, { model })
  const said = Buffer.concat([readFixture('privacy-prompt').subarray(44), readFixture('tt-weasels').subarray(44)])
  const startedMs = await speakInto(stream, Buffer.concat([said, silence(1200)]))
  stream.end()
  t.equal(await over, 'ended')
  const times = transcripts.filter(({ isFinal }) => !isFinal).map(({ atMs }) => atMs)
  const gaps = times.slice(1).map((atMs, i) => atMs - (times[i] as number))
  const firstMs = (times[0] as number) - startedMs - starts[0]!.startMs
  t.comment(
    `first interim after ${Math.round(firstMs)} ms, then every ${Math.round(median(gaps))} ms: ${finalText(transcripts)}`,
  )
  t.ok(times.length >= 5)
  t.ok(median(gaps) <= 800)
})

t.test('the final transcript of 5 s of speech takes 0.3 s on an idle core', { skip, timeout: busyMs }, async (t) => {
  const fiveS = Buffer.concat([readFixture('privacy-prompt').subarray(44), silence(1500)]).subarray(0, 80_000)
  const takenMs: number[] = []
  for (let i = 0; i < 7; i++) {
    const { stream, transcripts, over } = await listen(provider, {
      model,
      endpointingMs: 3000,
      interimResults: false,
      language: 'en',
    })
    await feed(stream, fiveS)
    const startedMs = performance.now()
    stream.end()
    t.equal(await over, 'ended')
    takenMs.push((transcripts.at(-1)?.atMs ?? Number.NaN) - startedMs)
  }
  t.comment(`${takenMs.map(Math.round).join(' ')} ms`)
  t.ok(median(takenMs) <= 300)
})

function skipped(t: Test, reason: string): void {
  t.pass(reason, { skip: reason })
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`
