/**
 * If a provider gives no audio for a stream's first sentence, the next candidate speaks, and a second `ready` names it.
 */
import t from 'tap'
import { createConvertSpeech } from '../../audio/encode-output.ts'
import type { OutputFormat } from '../../audio/format.ts'
import type { Route } from '../../domain/dispatch/request.ts'
import type { ProviderError } from '../../domain/ports/provider-error.ts'
import type { Speech, Tts, TtsRequest } from '../../domain/ports/tts.ts'
import type { Fault } from '../../domain/records/fault.ts'
import type { SpeechSink, StreamUsage } from '../../domain/speech/stream.ts'
import { createSynthesizeStream } from '../../domain/speech/synthesize-stream.ts'
import { createResampler } from '../../runtime/optional.ts'
import { settled } from '../clock.ts'
import { isClean } from './fake-llm.ts'
import { bench, failure, hang, model, order, provider, script } from './fakes.ts'

const convert = createConvertSpeech(createResampler)
const pcm24: OutputFormat = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }
const prices = [{ unit: 'million_characters' as const, microUsd: 10_000_000, source: 's', asOf: 'd' }]

class Events implements SpeechSink {
  readonly list: string[] = []
  usage: StreamUsage | null = null
  ready = ({ provider: id }: Route) => void this.list.push(`ready ${id}`)
  audio(bytes: Uint8Array): boolean {
    this.list.push(`audio ${bytes[0]}`)
    return true
  }
  cleared = (characters: number) => void this.list.push(`cleared ${characters}`)
  ended(usage: StreamUsage): void {
    this.list.push('ended')
    this.usage = usage
  }
  failed = ({ kind }: Fault) => void this.list.push(`failed ${kind}`)
}

/** A provider's reaction to a sentence: its audio, an error instead, or no answer. */
type Reaction = (Uint8Array | Error | 'hang')[] | ProviderError | 'hang'
const speech = (n: number): Reaction => [Uint8Array.of(n, n)]

/** Sets up a stream over the vendor's socket, or only by HTTP. */
function setup(way: 'live' | 'http', reactions: Reaction[][]) {
  const asked: string[] = []
  const signals: AbortSignal[] = []
  const providers = reactions.map((each, i) => {
    const id = 'abcd'[i]!
    let calls = 0
    const speak = (request: TtsRequest, signal: AbortSignal): Promise<Speech> => {
      asked.push(`${id} ${request.text}`)
      signals.push(signal)
      const reaction = each[calls++] ?? speech(i)
      if (reaction === 'hang') return hang()
      if (reaction instanceof Error) return Promise.reject(reaction)
      return Promise.resolve({ format: pcm24, audio: script(reaction) })
    }
    const tts: Tts = way === 'live' ? { synthesize: () => hang(), live: speak } : { synthesize: speak }
    return provider(id, [model('tts', { prices })], { tts })
  })
  const all = bench(providers)
  const events = new Events()
  const start = createSynthesizeStream({ ...all.deps, convert, streams: { totalMs: 600_000, waitingMax: 1000 } })
  const { caller, requestId, signal } = order()
  const begin = () =>
    start(
      {
        caller,
        requestId,
        signal,
        operation: 'synthesizeStream',
        routing: { mode: 'auto', objective: 'balanced' },
        outputFormat: pcm24,
      },
      events,
    )
  return { ...all, asked, signals, events, begin }
}

const kinds: readonly (readonly [string, Reaction])[] = [
  ['is down', failure('unreachable', false)],
  ['refuses the credential', failure('auth')],
  ['has no quota', failure('quota')],
  ['limits the rate', failure('rate_limited')],
  ['is overloaded', failure('overloaded')],
  ['fails', failure('server')],
  ['cannot do it', failure('unsupported')],
  ['speaks another protocol', failure('protocol')],
  ['answers nothing', 'hang'],
  ['answers without audio', []],
  ['answers with empty audio', [new Uint8Array(0)]],
  ['drops before any audio', [failure('protocol')]],
  ['opens and stays silent', ['hang']],
]

for (const way of ['live', 'http'] as const)
  for (const [title, reaction] of kinds)
    t.test(`over ${way}, when each of two candidates ${title}, the third candidate speaks`, async (t) => {
      const all = setup(way, [[reaction], [reaction], [speech(3)]])
      const stream = all.begin()
      stream.text('One. Two. ')
      stream.end()
      await settled()
      for (let i = 0; i < 4; i++) {
        await all.clock.advance(1100)
        await settled()
      }
      t.same(all.asked, ['a One.', 'b One.', 'c One.', 'c Two.'])
      t.same(all.events.list, ['ready a', 'ready c', 'audio 3', 'audio 2', 'ended'])
      t.same(all.events.usage, { characters: 8, costMicroUsd: 80 }, 'only the text that was spoken is billed')
      t.match(all.ledger.last, { status: 'succeeded', row: { provider: 'c' } })
      isClean(t, all)
    })

t.test('a request that a provider refuses as invalid is not tried with another provider', async (t) => {
  const all = setup('http', [[failure('bad_request')], [speech(2)]])
  const stream = all.begin()
  stream.text('One. ')
  await settled()
  t.same(all.asked, ['a One.'])
  t.equal(all.events.list.length, 2)
  t.match(all.events.list[1], /^failed /)
  isClean(t, all)
})

t.test('after the first audio no other provider takes over', async (t) => {
  for (const second of [failure('server'), [] as Reaction]) {
    const all = setup('live', [[speech(1), second], [speech(2)]])
    const stream = all.begin()
    stream.text('One. Two. ')
    await settled()
    t.same(all.events.list, ['ready a', 'audio 1', 'failed stream_broken'])
    isClean(t, all)
  }
})

t.test('if no candidate is left, a stream of speech reports one failure', async (t) => {
  const all = setup('http', [[failure('server')], [failure('server')]])
  const stream = all.begin()
  stream.text('One. ')
  stream.end()
  await settled()
  t.same(all.events.list, ['ready a', 'failed all_failed'])
  t.match(all.ledger.last, { status: 'failed', row: { costMicroUsd: 0 } })
  isClean(t, all)
})

t.test('`clear` drops the old text while another candidate is tried', async (t) => {
  const all = setup('http', [[failure('server')], ['hang'], [[Uint8Array.of(9, 9), 'hang'], speech(4)]])
  const stream = all.begin()
  stream.text('One. ')
  await settled()
  stream.clear()
  stream.text('New. ')
  t.ok(stream.owesSpeech)
  await all.clock.advance(1100)
  await settled()
  t.same(all.asked, ['a One.', 'b One.', 'c One.', 'c New.'])
  t.same(all.events.list, ['ready a', 'cleared 0', 'ready c', 'audio 4'], 'no audio of the old text')
  stream.end()
  t.equal(all.events.list.at(-1), 'ended')
  t.notOk(stream.owesSpeech)
  isClean(t, all)
})

t.test('if the client leaves while another candidate is tried, the stream of speech ends', async (t) => {
  const all = setup('http', [[failure('server')], ['hang'], [speech(3)]])
  const stream = all.begin()
  stream.text('One. ')
  await settled()
  stream.leave()
  await all.clock.advance(1100)
  await settled()
  t.same(all.events.list, ['ready a'])
  t.ok(all.signals.every(({ aborted }) => aborted))
  isClean(t, all)
})
