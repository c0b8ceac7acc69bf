/** The router's operations over stub engines. A test chooses what the engines answer, and which providers fail. */
import { createConvertSpeech } from '../../audio/encode-output.ts'
import { createOperations } from '../../domain/operations.ts'
import type { LlmEvent, LlmRequest } from '../../domain/ports/llm.ts'
import type { Voice } from '../../domain/ports/model.ts'
import { createResampler } from '../../runtime/optional.ts'
import { priced } from '../domain/fake-llm.ts'
import { prices as streamPrices } from '../domain/fake-stt-stream.ts'
import { bench, failure, model, provider, script } from '../domain/fakes.ts'
import { type AnswerOf, type StubStt, stubLlm, stubStt, stubTts } from './engines.ts'

export type EngineOptions = {
  answerOf?: AnswerOf
  /** The number of providers. The first is named `p`. */
  providers?: 1 | 2
  /** The voices of each provider's text to speech. */
  voices?: Record<string, Voice[]>
  /** True if the voice of `p` breaks off at this chunk in a sentence. */
  breaksOff?: (sentence: string, chunk: number) => boolean
  /** If true, the voices report word ends. */
  reportsWords?: boolean
  /** If true, the LLM and speech to text have prices. */
  isPriced?: boolean
  /** In milliseconds: engines in a new process do not answer before these times. */
  coldMs?: { vad?: number; stt?: number }
  /** Passed to `StubStt` as `isQuick`: an interim transcript comes as soon as a word begins. */
  recognisesQuickly?: boolean
}

export function createStubOperations(options: EngineOptions) {
  const { answerOf = () => 'I see.' } = options
  const requests: LlmRequest[] = []
  const streams: StubStt[] = []
  /** Each sentence's provider and voice. */
  const spoken: string[] = []
  /** The failing providers. If `vad` is true, voice activity detection misses all speech. */
  const broken = { llm: new Set<string>(), tts: new Set<string>(), vad: false }
  const language = { languages: ['*'] }
  const everything = { ...model('llm').capabilities, tools: true, streaming: true }
  // The bench makes the clock, but needs the providers first. The providers need the clock, so they get it later
  // through this variable.
  let clock: ReturnType<typeof bench>['clock'] | null = null
  const time = {
    nowMs: () => clock?.nowMs() ?? 0,
    monotonicMs: () => clock?.monotonicMs() ?? 0,
    after: (ms: number, run: () => void) => clock?.after(ms, run) ?? (() => {}),
  }
  const adapter = (id: string) =>
    provider(
      id,
      [
        model('stt', { ...language, prices: options.isPriced ? streamPrices : [] }),
        model('llm', { capabilities: everything, prices: options.isPriced ? priced : [] }),
        model('tts', { ...language, voices: options.voices?.[id] ?? [] }),
      ],
      {
        stt: stubStt(time, streams, { coldMs: options.coldMs?.stt, isQuick: options.recognisesQuickly }),
        tts: stubTts(
          time,
          ({ voice }) => void spoken.push(`${id} ${voice ?? 'default'}`),
          (text, chunk) => broken.tts.has(id) || (id === 'p' && options.breaksOff?.(text, chunk) === true),
          options.reportsWords === true,
        ),
        llm: {
          respond: () => Promise.reject(new Error('only streams')),
          stream: (request) => {
            requests.push(request)
            if (broken.llm.has(id)) return script<LlmEvent>([failure('server')])
            return stubLlm(time, request, answerOf)
          },
        },
      },
    )
  const all = bench(['p', 'q'].slice(0, options.providers ?? 1).map(adapter))
  clock = all.clock
  const limits = { attemptsMax: 3, firstByteMs: 4000, answerMs: 4000, idleMs: 4000, totalMs: 3_600_000 }
  const dispatch = { ...all.deps, limits: { stt: limits, llm: limits, tts: limits } }
  const operations = createOperations({
    dispatch,
    convert: createConvertSpeech(createResampler),
    transcribeStreams: {
      openMs: options.coldMs?.stt === undefined ? 500 : 10_000,
      totalMs: 36_000_000,
      pendingBytesMax: 1_000_000,
      aheadMsMax: 60_000,
    },
    synthesizeStreams: { totalMs: 3_600_000, waitingMax: 20_000 },
  })
  return { all, operations, requests, streams, spoken, broken }
}
