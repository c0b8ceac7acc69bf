/** A whole conversation on a test clock: the product's conversation code with stub engines and a simulated caller. */

import { presetOfGender } from '../../domain/catalog/voices.ts'
import { startConversation } from '../../domain/conversation/conversation.ts'
import type { CallRecorder, RunTool } from '../../domain/conversation/parts/deps.ts'
import type { Paced } from '../../domain/conversation/parts/pacer.ts'
import type { Aligner } from '../../domain/ports/alignment.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Call, EventType, RecordingStatus, Span, Turn } from '../../domain/records/call.ts'
import type { CallbackRequest } from '../../domain/records/callback.ts'
import type { Pipeline, PipelineTool } from '../../domain/records/pipeline.ts'
import type { EndReason } from '../../domain/records/states/call.ts'
import type { Routing } from '../../domain/routing/ask.ts'
import { Watch } from '../../runtime/timing/watch.ts'
import { isPhoneNumber } from '../../runtime/values/phone-number.ts'
import { pipeline as fullPipeline, newCall } from '../calls/call.ts'
import { caller } from '../domain/fakes.ts'
import { SimulatedCaller } from './caller.ts'
import { stubVad } from './engines.ts'
import { createStubOperations, type EngineOptions } from './operations.ts'

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

export type Options = EngineOptions & {
  settings?: Partial<Pipeline>
  turnHandling?: Partial<Pipeline['turnHandling']>
  interruption?: Partial<Pipeline['turnHandling']['interruption']>
  tools?: PipelineTool[]
  runTool?: Partial<RunTool>
  kind?: Call['kind']
  phone?: Call['phone']
  recorder?: (clock: Clock) => CallRecorder
  /** Finds played words if the voices do not report them. */
  aligner?: (clock: Clock) => Aligner
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
  const { settings, tools = [] } = options
  const { all, operations, ...engines } = createStubOperations(options)
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
      vad: stubVad(all.clock, options.coldMs?.vad ?? 0, () => engines.broken.vad),
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
  return { ...all, ...engines, sim, conversation, record, over, ended, texts }
}
