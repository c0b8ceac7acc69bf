/**
 * A word aligner finds an interrupted turn's played text in its audio. The embedded voice reports word ends, but these
 * times are hidden from the word aligner.
 */
import t from 'tap'
import { PlayedText } from '../../domain/conversation/speaking/played-text.ts'
import { numberWords } from '../../providers/local/recognition/number-words.ts'
import { openFlite } from '../../providers/local/voices/flite.ts'
import { type FixtureName, spoken as transcripts } from '../speech/fixtures.ts'
import { speechAt } from '../speech/samples.ts'
import { fixture, openLocal, outcome } from './setup.ts'

const rateHz = 16_000
const silenceBelow = 200
const stepMs = 1000
/** About 200 recognitions run in this time, on a shared machine. */
const timeout = 250_000

/** Sentences that were not used to fit the alignment. */
const sentences = [
  'Of course, Ms. Fitzgerald; the technician will be there on Wednesday between 8 and 10:30.',
  'Your appointment with Dr. Patel is confirmed for April 21st at 3 p.m.',
  'One moment, please.',
  'The total comes to $1,249.50, which includes shipping, handling, and taxes.',
  'I am afraid we are fully booked that weekend, but I could put you on the waiting list, if you like.',
  'Turn left at the lighthouse, go over the bridge, and you will see us on your right.',
  'My name is Theodora, and I am calling on behalf of Blackwood and Sons.',
  'No, sorry, we only ship to Norway, Iceland, Portugal and Greece.',
  'You have 3 new messages, and the oldest is from Jean-Luc.',
  'As soon as I have heard back from the warehouse, I will send you a text message with the tracking number.',
  'Is there anything else that I can do for you today?',
  'The code is 8 8 0 4 1 7.',
]
const voices = ['rms', 'slt', 'awb', 'kal16']
const speeds = [0.85, 1, 1.15]

const wordsIn = (text: string) => text.split(' ').filter((word) => word !== '').length

/** Speaks a text without the silence before the first sound, as a turn is played. */
async function spokenBy(flite: Awaited<ReturnType<typeof openFlite>>, text: string, voice: string, speed: number) {
  const speech = await flite.speak(text, voice, speed)
  const all = new Int16Array(speech.samples.slice().buffer)
  const silent = all.findIndex((sample) => Math.abs(sample) >= silenceBelow) - 80
  const ends = speech.ends.map(({ place, endMs }) => ({ place, endMs: endMs - (silent * 1000) / rateHz }))
  return { samples: all.subarray(silent), ends, lastMs: ends.at(-1)?.endMs ?? 0 }
}

t.test('a word aligner counts the played words to within one word, and never too many', { timeout }, async (t) => {
  const local = openLocal(t)
  await local.transcribe(fixture('tt-weasels'))
  const aligner = local.provider.ports.speech?.aligner
  const flite = await openFlite()
  const short = { found: [0, 0, 0, 0], estimated: [0, 0, 0, 0] }
  let moments = 0
  let utterance = 0
  for (const text of sentences)
    for (const voice of voices) {
      const speed = speeds[utterance++ % speeds.length] as number
      const { samples, ends, lastMs } = await spokenBy(flite, text, voice, speed)
      for (let atMs = 200 + ((utterance * 130) % stepMs); atMs < lastMs; atMs += stepMs, moments++) {
        const played = new PlayedText(rateHz, speed)
        played.sentence(text)
        // Every second cut is in an unfinished sentence: its received audio ends half a second after the cut.
        const isArriving = moments % 2 === 0
        played.audio(isArriving ? samples.subarray(0, ((atMs + 500) * rateHz) / 1000) : samples)
        if (!isArriving) played.complete()
        const spoken = wordsIn(text.slice(0, ends.findLast(({ endMs }) => endMs <= atMs)?.place ?? 0))
        const estimated = wordsIn(played.at(atMs))
        const cut = played.cutAt(atMs)!
        const request = { text: cut.text, samples: cut.samples, sampleRateHz: rateHz }
        cut.reportPlace(await aligner!.spokenUpTo(request, new AbortController().signal))
        const found = wordsIn(played.at(atMs))
        if (found > spoken) t.fail(`${voice} ${speed} at ${atMs} ms: ${played.at(atMs)}`)
        for (const [name, counted] of [['found', found] as const, ['estimated', estimated] as const]) {
          const words = Math.min(3, Math.max(0, spoken - counted))
          short[name][words] = (short[name][words] ?? 0) + 1
        }
      }
    }
  const percents = (counts: readonly number[]) => counts.map((count) => ((100 * count) / moments).toFixed(1)).join(', ')
  t.comment(`${moments} moments; none, one, two, more words short: ${percents(short.found)} %`)
  t.comment(`by the estimate alone: ${percents(short.estimated)} %`)
  const within = (100 * (short.found[0]! + short.found[1]!)) / moments
  t.ok(within >= 95, `within one word in ${within.toFixed(1)} % of the moments`)
})

t.test('a word aligner finds the played words if audio ends where a new sentence begins', { timeout }, async (t) => {
  const local = openLocal(t)
  await local.transcribe(fixture('tt-weasels'))
  const signal = new AbortController().signal
  const names = Object.keys(transcripts) as FixtureName[]
  const short: number[] = []
  for (const name of names) {
    const samples = await speechAt(name, rateHz)
    const text = `${transcripts[name]} ${transcripts[names[(names.indexOf(name) + 1) % names.length]!]}`
    const place = await local.provider.ports.speech!.aligner!.spokenUpTo(
      { text, samples, sampleRateHz: rateHz },
      signal,
    )
    short.push(wordsIn(transcripts[name]) - wordsIn(text.slice(0, place)))
  }
  t.comment(`words that were played and not found: ${short.join(' ')}`)
  t.ok(short.every((words) => words >= 0 && words <= 1))
})

t.test('a word aligner finds no words in silence or text without words, and few in other audio', async (t) => {
  const local = openLocal(t)
  await local.transcribe(fixture('tt-weasels'))
  const aligner = local.provider.ports.speech!.aligner!
  const signal = new AbortController().signal
  const silence = new Int16Array(rateHz)
  const found = (text: string, samples: Int16Array) =>
    aligner.spokenUpTo({ text, samples, sampleRateHz: rateHz }, signal)
  t.equal(await found('', silence), 0)
  t.equal(await found('… – !', silence), 0)
  t.equal(await found('Good morning, how may I help you?', silence), 0)
  t.equal(await found('Good morning, how may I help you?', new Int16Array(0)), 0)
  t.equal(await found('word '.repeat(10_000), silence), 0, 'a long text')
  const flite = await openFlite()
  const { samples } = await spokenBy(flite, 'The quick brown fox jumps over the lazy dog.', 'slt', 1)
  t.ok(
    (await found('Please hold the line, somebody will be with you shortly.', samples)) <=
      'Please hold the line,'.length,
  )
})

t.test('if no process has loaded the models, an alignment is refused as overloaded', async (t) => {
  const local = openLocal(t)
  const request = { text: 'Hello.', samples: new Int16Array(rateHz), sampleRateHz: rateHz }
  const align = () => local.provider.ports.speech!.aligner!.spokenUpTo(request, new AbortController().signal)
  t.equal(await outcome(align()), 'overloaded unsent')
  t.same(local.started, [])
})

t.test(
  'a word alignment is refused if the process is busy with a recording, or if it would take over 300 ms',
  async (t) => {
    const local = openLocal(t, { sttProcesses: 1 })
    await local.transcribe(fixture('tt-weasels'))
    const align = (seconds: number) => {
      const request = { text: 'Hello.', samples: new Int16Array(rateHz * seconds), sampleRateHz: rateHz }
      return local.provider.ports.speech!.aligner!.spokenUpTo(request, new AbortController().signal)
    }
    const recording = local.transcribe(fixture('tt-weasels'))
    t.equal(await outcome(align(1)), 'overloaded unsent', 'the one process is busy')
    await recording
    t.equal(await outcome(align(1)), 'done')
    t.equal(await outcome(align(14)), 'overloaded unsent', 'it would take over 300 ms')
  },
)

t.test('numbers are aligned as the words in which they are spoken', (t) => {
  const spoken = (text: string) => numberWords(text).join(' ')
  for (const [written, words] of [
    ['hello', 'hello'],
    ['0', 'zero'],
    ['42', 'forty two'],
    ['1,250', 'one thousand two hundred fifty'],
    ['2304', 'two thousand three hundred four'],
    ['88041', 'eight eight zero four one'],
    ['007', 'zero zero seven'],
    ['6:45', 'six forty five'],
    ['6:05', 'six oh five'],
    ['6:00', 'six'],
    ['$89.99', 'eighty nine dollars ninety nine cents'],
    ['€5', 'five euros'],
    ['20%', 'twenty percent'],
    ['3.14', 'three point one four'],
    ['3rd', 'third'],
    ['21st', 'twenty first'],
    ['30th', 'thirtieth'],
    ['B12', 'B twelve'],
    ['555-1234', 'five hundred fifty five one thousand two hundred thirty four'],
    ['1,000,000', 'one million'],
    ['99999999999999999999', Array(20).fill('nine').join(' ')],
  ])
    t.equal(spoken(written as string), words, written as string)
  t.end()
})
