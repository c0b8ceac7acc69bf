import t from 'tap'
import { segments, sentences } from '../../domain/speech/reading/sentences.ts'
import { recognised } from '../audio/build.ts'
import { wordErrors } from '../speech/words.ts'
import { isRunning, native, openLocal, outcome } from './setup.ts'

const local = openLocal(t)
const secondsOf = (chunks: readonly Uint8Array[]) => chunks.reduce((sum, chunk) => sum + chunk.length, 0) / 32_000

async function transcribed(chunks: readonly Uint8Array[], { sampleRateHz } = native): Promise<string> {
  return (await local.transcribe(recognised(chunks, { ...native, encoding: 'pcm_s16le', sampleRateHz }))).text
}

t.test('every voice of the catalog speaks', async (t) => {
  const model = local.provider.models.find(({ id }) => id === 'flite')!
  t.same(model.nativeOutput, native)
  const text = 'Please leave your message after the tone.'
  for (const { id } of model.voices) {
    const audio = await local.speak(text, { voice: id })
    t.ok(secondsOf(audio) > 1.5 && secondsOf(audio) < 4, id)
    // The oldest embedded voice is hard to understand, so the test only checks that its audio is speech.
    if (id !== 'kal16') t.ok(wordErrors(text, await transcribed(audio)).errors <= 2, id)
  }
  t.same(await local.speak(text), await local.speak(text, { voice: 'rms' }), 'rms is the default')
  t.equal(await outcome(local.speak(text, { voice: 'nobody' })), 'unsupported unsent')
})

t.test('the speed changes the length of the speech', async (t) => {
  const text = 'This sentence is spoken at different speeds.'
  const own = secondsOf(await local.speak(text))
  for (const speed of [0.25, 0.5, 2, 4]) {
    const ratio = own / secondsOf(await local.speak(text, { speed })) / speed
    t.ok(ratio > 0.8 && ratio < 1.25, `${speed}: ${ratio}`)
  }
})

t.test('a text is spoken at the requested sample rate, and in a stream at the native rate of the voice', async (t) => {
  const tts = local.provider.ports.speech!.tts!
  const text = 'Please leave your message after the tone. Then end the call.'
  const spoken = async (mode: 'synthesize' | 'live', sampleRateHz: number) => {
    const request = { model: 'flite', text, outputFormat: { ...native, sampleRateHz } }
    const { format, audio } = await tts[mode]!(request, new AbortController().signal)
    const chunks: Uint8Array[] = []
    for await (const chunk of audio) chunks.push(chunk)
    return { format, chunks, seconds: (secondsOf(chunks) * native.sampleRateHz) / format.sampleRateHz }
  }
  const usual = await spoken('synthesize', native.sampleRateHz)
  for (const sampleRateHz of [8000, 24_000, 48_000]) {
    const { format, chunks, seconds } = await spoken('synthesize', sampleRateHz)
    t.same(format, { ...native, sampleRateHz })
    t.ok(Math.abs(seconds - usual.seconds) < 0.001, `${seconds} and ${usual.seconds} s at ${sampleRateHz} Hz`)
    t.ok(wordErrors(text, await transcribed(chunks, format)).errors <= 3, `${sampleRateHz} Hz`)
  }
  t.same((await spoken('synthesize', 192_000)).format, native, 'a higher rate is made in steps outside of the process')
  t.same(await spoken('live', 24_000), usual)
})

t.test('text is never interpreted as a command-line option, a file name or a program', async (t) => {
  for (const text of [
    '-lv',
    '--help',
    '-o /etc/passwd',
    '-t',
    '/etc/passwd',
    '$(reboot) `reboot`; "quoted"',
    '<speak>hello</speak>',
  ]) {
    t.ok(secondsOf(await local.speak(text)) > 0.4, text)
  }
  t.equal(
    wordErrors('minus voice hello there', await transcribed(await local.speak('-voice, hello there.'))).errors <= 2,
    true,
  )
})

t.test('characters that cannot be spoken are left out, and a text of only such characters is refused', async (t) => {
  t.same(await local.speak('Hello 👋\u0000\u0007 there\u200b.'), await local.speak('Hello there.'))
  t.same(await local.speak('“Café” – naïve…'), await local.speak('"Cafe", naive...'))
  for (const text of ['👋🎉', '...', ' \n\t ', '你好', '\u0000']) {
    t.equal(await outcome(local.speak(text)), 'bad_request unsent', JSON.stringify(text))
  }
})

t.test('a long text is spoken and sent sentence by sentence', async (t) => {
  const text = 'The quick brown fox jumps over the lazy dog. '.repeat(20)
  const signal = new AbortController().signal
  const { audio } = await local.provider.ports.speech!.tts!.synthesize(
    { model: 'flite', text, outputFormat: native },
    signal,
  )
  const chunks: Uint8Array[] = []
  for await (const chunk of audio) chunks.push(chunk)
  t.equal(chunks.length, 20)
  t.ok(secondsOf(chunks) > 40)
})

t.test('a cancelled sentence frees its speech process', async (t) => {
  const leaving = new AbortController()
  const dropped = outcome(local.speak('The quick brown fox jumps over the lazy dog, '.repeat(6), leaving))
  leaving.abort()
  t.match(await dropped, /^cancelled/)
  await local.speak('Yes.')
  t.equal(local.started.filter(isRunning).length, 2, 'by the same processes')
})

t.test('a client that stops reading blocks no other client, and a client that leaves ends its work', async (t) => {
  const { provider, speak, started } = openLocal(t, { queueMax: 1 })
  const signal = new AbortController().signal
  const text = 'One sentence after the other. '.repeat(600)
  const slow = await provider.ports.speech!.tts!.synthesize({ model: 'flite', text, outputFormat: native }, signal)
  const reading = slow.audio[Symbol.asyncIterator]()
  await reading.next()
  t.ok(secondsOf(await speak('Somebody else.')) > 0.5)
  t.equal((await reading.next()).done, false, 'and goes on later')
  await reading.return?.()
  t.ok(secondsOf(await speak('The next one.')) > 0.5)
  t.equal(started.length, 1)
})

t.test('a request that is cancelled ends its job', async (t) => {
  const leaving = new AbortController()
  const { audio } = await local.provider.ports.speech!.tts!.synthesize(
    { model: 'flite', text: 'One sentence after the other. '.repeat(600), outputFormat: native },
    leaving.signal,
  )
  const reading = audio[Symbol.asyncIterator]()
  await reading.next()
  leaving.abort()
  const rest = reading.next().then(() => reading.next())
  t.match(await outcome(rest), /^cancelled/)
})

const textsOf = (text: string, charsMax: number) =>
  sentences(text, { language: 'en', charsMax }).map((sentence) => sentence.text)

t.test('text is split at sentences, commas and spaces', (t) => {
  t.same(textsOf('Hello. How are you? Fine!\nThanks; bye', 300), ['Hello.', 'How are you?', 'Fine!', 'Thanks;', 'bye'])
  t.same(textsOf('It costs $1,234.50 at 10:30 a.m.', 300), [
    'It costs one thousand two hundred thirty four dollars and fifty cents at ten thirty a.m.',
  ])
  t.same(textsOf('He said "stop." Then he left.', 300), ['He said "stop."', 'Then he left.'])
  t.same(textsOf('one two, three four, five six', 14), ['one two,', 'three four,', 'five six'])
  t.same(textsOf('abcdefghij klm', 5), ['abcde', 'fghij', 'klm'])
  t.same(textsOf('£5 and €3.50', 300), ['five pounds and three euros and fifty cents'])
  t.ok(textsOf(`${'word '.repeat(4000)}`, 300).every((part) => part.length <= 300))
  t.end()
})

t.test('an abbreviation does not end a sentence', (t) => {
  t.same(textsOf('Dr. Wu met Mrs. Ado at 5 p.m. today. She left!', 300), [
    'Doctor Wu met Missus Ado at five p.m. today.',
    'She left!',
  ])
  t.same(textsOf('She said "no." (Really.) Yes.', 300), ['She said "no."', '(Really.)', 'Yes.'])
  t.equal(textsOf('Mr. '.repeat(5000), 300).length, 120, 'and not 5,000 texts for the voice')
  t.end()
})

t.test('a long text is prepared in segments of at most 1,000 characters', (t) => {
  const texts = {
    sentences: 'The quick brown fox jumps over the lazy dog. '.repeat(100),
    'Mr.': 'Mr. '.repeat(5000),
    digits: '1'.repeat(20_000),
    'astral letters': `a${'𝐀'.repeat(10_000)}`,
    blanks: ' '.repeat(20_000),
    'a short text': 'Hello there. Yes.',
  }
  for (const [what, text] of Object.entries(texts)) {
    const parts = [...segments(text)]
    t.equal(parts.map((part) => part.text).join(''), text, what)
    t.ok(parts.every((part) => part.text.length <= 1000))
    t.ok(parts.every((part) => text.startsWith(part.text, part.at)))
    t.ok(
      parts.every(({ text }) => Buffer.from(text).toString() === text),
      'no letter is cut',
    )
  }
  t.ok(
    [...segments(texts.sentences)].every((part) => part.text.endsWith('dog. ')),
    'cut behind a sentence',
  )
  t.equal([...segments(texts['a short text'])].length, 1)
  t.end()
})
