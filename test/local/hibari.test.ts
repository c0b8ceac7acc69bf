/** The English voice engine Hibari: pronunciation, word times, loudness, speed, and equal speech for equal text. */
import t from 'tap'
import { FourierTransform } from '../../providers/local/voices/hibari/fourier.ts'
import { type Hibari, openHibari } from '../../providers/local/voices/hibari/hibari.ts'
import { Phonemizer } from '../../providers/local/voices/hibari/phonemes.ts'
import { hibariRateHz } from '../../providers/local/voices/hibari/waveform.ts'
import { readWeights, type WeightsName } from '../../providers/local/weights/weights.ts'
import { recognised } from '../audio/build.ts'
import { wordErrors } from '../speech/words.ts'
import { openLocal, outcome } from './setup.ts'

const local = openLocal(t)
const hibari = await openHibari()
const format = { encoding: 'pcm_s16le', sampleRateHz: hibariRateHz, channels: 1 } as const

function samplesOf({ samples }: Awaited<ReturnType<Hibari['speak']>>): Int16Array {
  return new Int16Array(Uint8Array.from(samples).buffer)
}

async function transcribed(bytes: Uint8Array): Promise<string> {
  return (await local.transcribe(recognised([bytes], format))).text
}

t.test('the files of the voice Hibari have the checksums in the package', async (t) => {
  const names: WeightsName[] = [
    'hibari',
    'hibariLexicon',
    'hibariUnknownWords',
    'hibariUnknownLetters',
    'hibariVocabulary',
  ]
  for (const name of names) t.ok((await readWeights(name)).length > 1000, name)
})

t.test('a Fourier transform of 1,200 numbers agrees with its definition', (t) => {
  const transform = new FourierTransform(1200)
  const wave = (at: number) => [Math.sin(at * at), Math.cos(3 * at * at + 1)] as const
  for (let at = 0; at < 1200; at++) [transform.re[at], transform.im[at]] = wave(at)
  transform.run()
  for (const bin of [0, 1, 7, 299, 600, 601, 1199]) {
    let [re, im] = [0, 0]
    for (let at = 0; at < 1200; at++) {
      const angle = (-2 * Math.PI * bin * at) / 1200
      const [a, b] = wave(at)
      re += a * Math.cos(angle) - b * Math.sin(angle)
      im += a * Math.sin(angle) + b * Math.cos(angle)
    }
    t.ok(Math.hypot(transform.re[bin]! - re, transform.im[bin]! - im) < 1e-8, `${bin}`)
  }
  t.throws(() => new FourierTransform(14), RangeError)
  t.end()
})

t.test('words are pronounced as in American English', async (t) => {
  const phonemizer = await Phonemizer.open()
  const vocabulary = JSON.parse((await readWeights('hibariVocabulary')).toString()) as Record<string, number>
  const signs = new Map(Object.entries(vocabulary).map(([sign, id]) => [id, sign]))
  const read = async (text: string) =>
    (await phonemizer.read(text)).flatMap(({ ids }) => ids.map((id) => signs.get(id))).join('')
  for (const [text, phonemes] of [
    ['The end of the hour.', 'ði ˈɛnd ʌv ði ˈWəɹ.'],
    ['Please record it.', 'plˈiz ɹəkˈɔɹd ɪt.'],
    ['The record is here.', 'ðə ɹˈɛkəɹd ɪz hˈɪɹ.'],
    ['We close at noon.', 'wi klˈOz æt nˈun.'],
    ['I used to use it.', 'ˌI jˈust tə jˈuz ɪt.'],
    ['The use of content.', 'ðə jˈus ʌv kˈɑntɛnt.'],
    ['I have read it.', 'ˌI hæv ɹˈɛd ɪt.'],
    ['Your ID and the PBX.', 'jʊɹ ˌIdˈi ænd ðə pˌibˌiˈɛks.'],
    ['A plan, plan A.', 'ɐ plˈæn, plˈæn ˈA.'],
    ["Tom's dogs' houses.", 'tˈɑmz dˈɔɡz hˈWsᵻz.'],
    ['Worried cities planned.', 'wˈɜɹid sˈɪTiz plˈænd.'],
    ['Dr. Brown (hello) - yes...', 'dˈɑktəɹ bɹˈWn (həlˈO) — jˈɛs…'],
    ['...to mute it', 'tə mjˈut ɪt.'],
    ['no mark at its end', 'nˈO mˈɑɹk æt ɪts ˈɛnd.'],
  ] as const)
    t.equal(await read(text), phonemes, text)
})

t.test('a word that is not in the pronunciation dictionary is spoken', async (t) => {
  const { samples, ends } = await hibari.speak('Zwentbrock.', 'heart', 1)
  t.ok(samples.length / 2 / hibariRateHz > 0.5)
  t.equal(ends.length, 1)
})

t.test('word end times are in order and inside the audio, even if a text takes several model runs', async (t) => {
  const clause = 'we looked at every invoice that you had sent to us since the beginning of January'
  for (const text of [
    'Hello there.',
    `${clause}, ${clause}, ${clause}, ${clause}, ${clause}.`,
    `${'nine '.repeat(60)}`,
  ]) {
    const { samples, ends } = await hibari.speak(text, 'heart', 1)
    t.same(
      ends.map(({ place }) => place),
      [...text.matchAll(/\w+/g)].map(({ 0: word, index }) => index + word.length),
    )
    t.ok(ends.every(({ endMs }, at) => endMs > (ends[at - 1]?.endMs ?? 0)))
    t.ok(ends.at(-1)!.endMs <= samples.length / 2 / (hibariRateHz / 1000))
  }
})

t.test('the same text always gives the same speech', async (t) => {
  const [first, second] = [
    await hibari.speak('Good morning.', 'heart', 1),
    await hibari.speak('Good morning.', 'heart', 1),
  ]
  t.ok(Buffer.compare(first.samples, second.samples) === 0)
})

t.test('the speech is as loud as a recorded prompt, and never cut at its peaks', async (t) => {
  const samples = samplesOf(await hibari.speak('Thank you for calling. All of our lines are open!', 'heart', 1))
  const loud = samples.filter((sample) => Math.abs(sample) > 300)
  const level = Math.sqrt(loud.reduce((sum, sample) => sum + sample * sample, 0) / loud.length)
  t.ok(level > 3000 && level < 8000, `${level}`)
  t.ok(samples.every((sample) => Math.abs(sample) <= 0.951 * 32_767))
})

t.test('slow, usual or fast speech is understood, and its length fits the requested speed', async (t) => {
  const text = 'Thank you for calling, please leave your message after the tone.'
  const usual = (await hibari.speak(text, 'heart', 1)).samples.length
  for (const speed of [0.25, 0.5, 1.5, 2, 3, 4]) {
    const { samples, ends } = await hibari.speak(text, 'heart', speed)
    const ratio = usual / samples.length / speed
    t.ok(ratio > 0.85 && ratio < 1.15, `${speed}: ${ratio}`)
    t.ok(ends.at(-1)!.endMs <= samples.length / 2 / (hibariRateHz / 1000))
    if (speed >= 0.5 && speed <= 2) t.ok(wordErrors(text, await transcribed(samples)).errors <= 2, `${speed}`)
  }
})

t.test('the speech begins soon, and ends with a short pause', async (t) => {
  const samples = samplesOf(await hibari.speak('Please hold the line.', 'heart', 1))
  const isLoud = (sample: number) => Math.abs(sample) > 300
  t.ok(samples.findIndex(isLoud) < 0.12 * hibariRateHz)
  const pauseMs = ((samples.length - samples.findLastIndex(isLoud)) * 1000) / hibariRateHz
  t.ok(pauseMs > 200 && pauseMs < 350, `${pauseMs}`)
})

t.test('a long first sentence begins with its first clause', async (t) => {
  const text = 'Thank you for calling us today, all of our lines are busy at the moment, please hold on. Goodbye.'
  const ends: number[] = []
  const { audio } = await local.provider.ports.speech!.tts!.live!(
    { model: 'hibari', text, outputFormat: format, onWordEnd: ({ place }) => ends.push(place) },
    new AbortController().signal,
  )
  const chunks: Uint8Array[] = []
  for await (const chunk of audio) chunks.push(chunk)
  t.equal(chunks.length, 3)
  t.equal(wordErrors('Thank you for calling us today', await transcribed(chunks[0]!)).errors, 0)
  t.same(
    ends,
    [...text.matchAll(/\w+/g)].map(({ 0: word, index }) => index + word.length),
  )
})

t.test('the engine Hibari refuses a voice of another engine', async (t) => {
  const tts = local.provider.ports.speech!.tts!
  const request = { text: 'Hello.', outputFormat: format }
  const signal = new AbortController().signal
  t.equal(await outcome(tts.synthesize({ ...request, model: 'hibari', voice: 'rms' }, signal)), 'unsupported unsent')
  t.equal(await outcome(tts.synthesize({ ...request, model: 'unknown' }, signal)), 'unsupported unsent')
})
