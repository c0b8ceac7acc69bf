/** The voice engine Pico, for German, Spanish, French, Italian and British English. */
import { readdirSync } from 'node:fs'
import t from 'tap'
import type { TtsRequest, WordEnd } from '../../domain/ports/tts.ts'
import { KeptSpeaker } from '../../providers/local/voices/kept-speaker.ts'
import { openPico } from '../../providers/local/voices/pico/pico.ts'
import { picoDataFolder, picoVoiceIds, readPicoVoice } from '../../providers/local/voices/pico/pico-data.ts'
import { packageFile } from '../../runtime/package-file.ts'
import { recognised } from '../audio/build.ts'
import { wordErrors, words } from '../speech/words.ts'
import { native, openLocal, outcome } from './setup.ts'
import { similarity } from './word-spectrum.ts'

const local = openLocal(t)
const tts = local.provider.ports.speech!.tts!

type Spoken = { audio: Int16Array; ends: WordEnd[] }

async function speak(text: string, options: Partial<TtsRequest>): Promise<Spoken> {
  const ends: WordEnd[] = []
  const request = { model: 'pico', text, outputFormat: native, onWordEnd: (end: WordEnd) => ends.push(end), ...options }
  const { audio } = await tts.synthesize(request, new AbortController().signal)
  const chunks: Uint8Array[] = []
  for await (const chunk of audio) chunks.push(chunk)
  const bytes = Uint8Array.from(Buffer.concat(chunks))
  return { audio: new Int16Array(bytes.buffer), ends }
}

const msOf = ({ length }: Int16Array) => length / 16
const part = (audio: Int16Array, fromMs: number, toMs: number) => audio.subarray(fromMs * 16, toMs * 16)
const loudness = (audio: Int16Array) => Math.sqrt(audio.reduce((sum, value) => sum + value ** 2, 0) / audio.length)

t.test('the vendored files of the engine Pico are exactly the files in the table of checksums', async (t) => {
  const files = (await Promise.all(picoVoiceIds.map(readPicoVoice))).flat()
  const vendored = readdirSync(packageFile(picoDataFolder)).filter((file) => file.endsWith('.bin'))
  t.same(files.map(({ name }) => name).sort(), vendored.sort())
})

t.test("the catalog has a Pico voice for each of the engine's languages", (t) => {
  const model = local.provider.models.find(({ id }) => id === 'pico')!
  t.same(model.voices.map(({ id }) => id).sort(), [...picoVoiceIds].sort())
  t.same([...new Set(model.voices.map(({ language }) => language))].sort(), [...model.languages].sort())
  t.end()
})

/** Each list has four words that sound different. */
const lists: Readonly<Record<string, readonly string[]>> = {
  de: ['sieben', 'Wasser', 'Freitag', 'Hund'],
  es: ['siete', 'agua', 'viernes', 'perro'],
  fr: ['sept', 'fromage', 'vendredi', 'chien'],
  it: ['sette', 'acqua', 'venerdì', 'cane'],
}

for (const [language, list] of Object.entries(lists)) {
  t.test(`a word in ${language} ends at the reported time, and sounds the same each time`, async (t) => {
    // The last word sounds longer and lower, so the list does not end there.
    const spoken = [...list, ...list, list[0]!]
    const text = `${spoken.join(', ')}.`
    const { audio, ends } = await speak(text, { language })
    t.same(
      ends.map(({ place }) => words(text.slice(0, place)).at(-1)),
      spoken.map((word) => words(word).at(-1)),
    )
    for (const [index, { endMs }] of ends.slice(0, -1).entries()) {
      const before = loudness(part(audio, endMs - 150, endMs))
      const after = loudness(part(audio, endMs + 30, endMs + 100))
      t.ok(after < before / 10, `${list[index % 4]} is over at ${endMs} ms: ${before} and ${after}`)
    }
    const cut = ends.map(({ endMs }) => part(audio, endMs - 250, endMs))
    for (const [index, word] of list.entries()) {
      const scores = list.map((_, other) => similarity(cut[index]!, cut[other + 4]!))
      t.equal(scores.indexOf(Math.max(...scores)), index, `${word} sounds most like itself: ${scores.join()}`)
    }
  })
}

t.test('British English is understood', async (t) => {
  const text = 'Good morning. Your appointment is on Friday at half past four.'
  const { audio } = await speak(text, { voice: 'en-GB' })
  const bytes = new Uint8Array(audio.buffer)
  const { text: transcript } = await local.transcribe(recognised([bytes], { ...native, encoding: 'pcm_s16le' }))
  t.ok(wordErrors(text, transcript).errors <= 1, transcript)
})

t.test('the language chooses the voice, and the speed changes the length', async (t) => {
  const text = 'Merci de votre appel.'
  const { audio } = await speak(text, { language: 'fr' })
  t.equal(msOf((await speak(text, { voice: 'fr-FR' })).audio), msOf(audio))
  t.not(msOf((await speak(text, { language: 'it' })).audio), msOf(audio))
  for (const speed of [0.5, 2]) {
    const ratio = msOf(audio) / msOf((await speak(text, { language: 'fr', speed })).audio) / speed
    t.ok(ratio > 0.75 && ratio < 1.3, `${speed}: ${ratio}`)
  }
  t.equal(await outcome(speak(text, { voice: 'nobody' })), 'unsupported unsent')
})

t.test('an inverted question mark makes no pause, and no sample is clipped', async (t) => {
  const { audio } = await speak('¿Qué tal? ¡Muy bien!', { language: 'es' })
  t.ok(loudness(part(audio, 0, 200)) > 100, 'the first word begins at once')
  t.ok(audio.every((value) => Math.abs(value) < 32_767))
  t.ok(loudness(audio) > 2000)
})

t.test('Pico interprets no markup, and reports an end time for each word even if it expands the word', async (t) => {
  const pico = await openPico()
  const plain = await pico.speak('Hallo Anna. ', 'de-DE', 1)
  const marked = await pico.speak('Hallo Anna.<', 'de-DE', 1)
  t.equal(marked.samples.length, plain.samples.length)
  const files = await pico.speak('<play file="de-de-ta.bin">Hallo</play> <genfile file="a.wav">', 'de-DE', 1)
  t.ok(files.samples.length > 2 * plain.samples.length, 'the tag is spoken')
  const text = 'Dr. Müller zahlt 50 € am 3. Mai, "bitte".'
  const { ends } = await pico.speak(text, 'de-DE', 1)
  t.same(
    ends.map(({ place }) => text.slice(0, place).split(' ').at(-1)),
    ['Müller', 'zahlt', '50', 'am', '3', 'Mai', '"bitte".'],
  )
  for (const silent of ['', '...', '<>', '\0'])
    t.same((await pico.speak(silent, 'de-DE', 1)).ends, [], JSON.stringify(silent))
})

t.test('after a WebAssembly trap the next sentence is spoken by a new instance of the program', async (t) => {
  const text = 'Guten Morgen.'
  const trapped = { speak: () => Promise.reject(new WebAssembly.RuntimeError('unreachable')) }
  const sound = await openPico()
  let opened = 0
  const pico = new KeptSpeaker(() => Promise.resolve(opened++ === 0 ? trapped : sound))
  await t.rejects(pico.speak(text, 'de-DE', 1), { message: 'unreachable' })
  const { samples } = await pico.speak(text, 'de-DE', 1)
  t.ok(samples.length / 32 > 500, 'half a second of speech')
  await t.rejects(pico.speak(text, 'nobody', 1))
  await pico.speak(text, 'de-DE', 1)
  t.equal(opened, 2, 'other failures keep the instance')
})
