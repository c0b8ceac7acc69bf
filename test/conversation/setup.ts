/** A whole conversation on a test clock: the product's conversation code with stub engines and a simulated caller. */

import { createConvertSpeech } from '../../audio/encode-output.ts'
import { presetOfGender } from '../../domain/catalog/voices.ts'
import { startConversation } from '../../domain/conversation/conversation.ts'
import type { CallRecorder, RunTool } from '../../domain/conversation/parts/deps.ts'
import type { Paced } from '../../domain/conversation/parts/pacer.ts'
import { createOperations } from '../../domain/operations.ts'
import type { Aligner } from '../../domain/ports/alignment.ts'
import type { LlmEvent, LlmRequest } from '../../domain/ports/llm.ts'
import type { Voice } from '../../domain/ports/model.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Call, EventType, RecordingStatus, Span, Turn } from '../../domain/records/call.ts'
import type { CallbackRequest } from '../../domain/records/callback.ts'
import type { Pipeline, PipelineTool } from '../../domain/records/pipeline.ts'
import type { EndReason } from '../../domain/records/states/call.ts'
import type { Routing } from '../../domain/routing/ask.ts'
import { createResampler } from '../../runtime/optional.ts'
import { Watch } from '../../runtime/timing/watch.ts'
import { isPhoneNumber } from '../../runtime/values/phone-number.ts'
import { pipeline as fullPipeline, newCall } from '../calls/call.ts'
import { priced } from '../domain/fake-llm.ts'
import { prices as streamPrices } from '../domain/fake-stt-stream.ts'
import { bench, caller, failure, model, provider, script } from '../domain/fakes.ts'
import { SimulatedCaller } from './caller.ts'
import { type AnswerOf, type StubStt, stubLlm, stubStt, stubTts, stubVad } from './engines.ts'

const auto: Routing = { mode: 'auto', objective: 'balanced' }
const routing = { stt: auto, llm: auto, tts: auto }

/** The settings of an agent that waits for the caller to speak first. */
export const pipeline: Pipeline = {
  ...fullPipeline,
  firstMessage: null,
  firstMessageMode: 'listen',
  ttsOptions: { ...fullPipeline.ttsOptions, sampleRate: 16_000 },
  recording: false,
}

export type Options = {
  settings?: Partial<Pipeline>
  turnHandling?: Partial<Pipeline['turnHandling']>
  interruption?: Partial<Pipeline['turnHandling']['interruption']>
  tools?: PipelineTool[]
  answerOf?: AnswerOf
  runTool?: Partial<RunTool>
  kind?: Call['kind']
  phone?: Call['phone']
  recorder?: (clock: Clock) => CallRecorder
  /** The number of providers. The first is named `p`. */
  providers?: 1 | 2
  /** The voices of each provider's text to speech. */
  voices?: Record<string, Voice[]>
  /** True if the voice of `p` breaks off at this chunk in a sentence. */
  breaksOff?: (sentence: string, chunk: number) => boolean
  /** If true, the voices report word ends. */
  reportsWords?: boolean
  /** Finds played words if the voices do not report them. */
  aligner?: (clock: Clock) => Aligner
  /** If true, the LLM and speech to text have prices. */
  isPriced?: boolean
  /** In milliseconds: engines in a new process do not answer before these times. */
  coldMs?: { vad?: number; stt?: number }
  /** Passed to `StubStt` as `isQuick`: an interim transcript comes as soon as a word begins. */
  recognisesQuickly?: boolean
}

export type Recorded = {
  connected: number
  events: { type: EventType; payload: Record<string, unknown> }[]
  callbacks: CallbackRequest[]
  turns: Turn[]
  spans: Span[]
  recordings: { status: RecordingStatus; durationMs: number | null }[]
  ended: EndReason[]
}

export function converse(options: Options = {}) {
  const { settings, tools = [], answerOf = () => 'I see.' } = options
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
  const record: Recorded = { connected: 0, events: [], callbacks: [], turns: [], spans: [], recordings: [], ended: [] }
  const sim = new SimulatedCaller(all.clock)
  const over = { ended: false }
  /** Storing the call's end waits for this promise. */
  const ended = { wait: Promise.resolve() }
  let ids = 0
  const { turnHandling } = pipeline
  const call = newCall('org_1', {
    kind: options.kind ?? 'browser',
    phone: options.phone ?? null,
    pipeline: {
      ...pipeline,
      turnHandling: {
        ...turnHandling,
        ...options.turnHandling,
        interruption: { ...turnHandling.interruption, ...options.interruption },
      },
      tools,
      ...settings,
    },
  })
  const conversation = startConversation(
    {
      clock: all.clock,
      log: all.deps.log,
      newId: () => `id_${++ids}`,
      transcribeStream: operations.transcribeStream,
      synthesizeStream: operations.synthesizeStream,
      generateItems: operations.generateItems,
      vad: stubVad(all.clock, options.coldMs?.vad ?? 0, () => broken.vad),
      openResampler: () => Promise.reject(new Error('the rates are equal')),
      pacer: new Watch<Paced>(all.clock, 20, (member, nowMs) => member.pace(nowMs)),
      runTool: {
        check: () => [],
        isPhoneNumber,
        webhook: () => Promise.resolve({ result: 'done' }),
        transfer: () => Promise.resolve({ result: 'done' }),
        ...options.runTool,
      },
      aheadMs: 400,
    },
    {
      call,
      caller: caller(),
      routing,
      request: (signal) => ({
        caller: caller(),
        requestId: `req_${++ids}`,
        operation: 'session',
        signal,
      }),
      presetLike: ({ provider: id, model: name }) => {
        const voice = all.catalog.find('tts', id, name)?.model.voices[0]
        return voice === undefined ? null : presetOfGender(voice.gender)
      },
      recorder: options.recorder?.(all.clock) ?? null,
      aligner: options.aligner?.(all.clock) ?? null,
      observer: null,
      ended: () => {
        over.ended = true
      },
    },
    sim,
    {
      connected: () => void (record.connected += 1),
      event: (type, payload) => void record.events.push({ type, payload }),
      callback: (callback) => void record.callbacks.push(callback),
      turn: (turn) => void record.turns.push(turn),
      span: (span) => void record.spans.push(span),
      recording: (status, durationMs) => void record.recordings.push({ status, durationMs }),
      ended: (reason) => {
        record.ended.push(reason)
        return ended.wait
      },
    },
  )
  sim.join(conversation)
  const texts = () => record.turns.map(({ source, text, playedText }) => `${source}: ${playedText ?? text}`)
  return { ...all, sim, conversation, record, requests, streams, spoken, broken, over, ended, texts }
}
