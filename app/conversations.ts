/**
 * Connects a conversation to speech to text, LLM and text to speech, to voice activity detection, to tools and to the
 * recording.
 */
import { FrameResampler } from '../audio/frame-resampler.ts'
import type { Journal } from '../domain/calls/journal.ts'
import { baseOf } from '../domain/catalog/language.ts'
import { presetOfGender } from '../domain/catalog/voices.ts'
import { startConversation } from '../domain/conversation/conversation.ts'
import type { ConversationDeps, ConversationInput } from '../domain/conversation/parts/deps.ts'
import type { LiveCall, StartConversation } from '../domain/conversation/parts/live-call.ts'
import type { Paced } from '../domain/conversation/parts/pacer.ts'
import type { Operations } from '../domain/operations.ts'
import type { Aligner } from '../domain/ports/alignment.ts'
import type { Stage } from '../domain/ports/model.ts'
import type { Provider } from '../domain/ports/provider.ts'
import type { Caller } from '../domain/records/organization.ts'
import { routingOfStage } from '../domain/speech/session-routes.ts'
import { createRunTool } from '../domain/tools/run-tool.ts'
import type { TransferTool } from '../domain/transfers/transfer-tool.ts'
import type { createWebhookClient } from '../providers/wire/webhook-client.ts'
import { Watch } from '../runtime/timing/watch.ts'
import { valueFaults } from '../runtime/values/json-value.ts'
import { isPhoneNumber } from '../runtime/values/phone-number.ts'
import type { App } from './app.ts'
import type { Engines } from './engines.ts'

type Needs = {
  operations: Operations
  vad: Engines['vad']
  journal: Journal
  /** The HTTP client for requests to URLs set by organizations. */
  client: ReturnType<typeof createWebhookClient>
  /** Begins a call's audio recording. Null if the call is not recorded. */
  record: (call: LiveCall['call']) => ConversationInput['recorder']
  /** Performs transfers for agents. */
  transferTool: TransferTool
}

export type Conversations = {
  start: StartConversation
  /** Starts the speech engines for a session that a client will soon join. */
  warmUp: (stage: Stage, provider: Provider, model: string) => void
}

/** The interval for sending audio. Frames are 20 ms and may be sent `sessions.aheadMs` early. */
const paceMs = 10

export function createConversations(app: App, needs: Needs): Conversations {
  const { config, store, clock, log } = app
  const { journal, client, vad, transferTool } = needs
  const deps = sharedDeps(app, needs)
  const workspaceSecrets = (organizationId: string) => store.webhookSecrets.signingSecrets(organizationId)
  const toolDeps = { client, clock, log, isPhoneNumber, workspaceSecrets }
  return {
    start(live, caller, transport, ended) {
      const secretsOf = (_call: unknown, name: string) => live.secrets[name]
      const transfer = (call: LiveCall['call'], request: Parameters<TransferTool>[2]) =>
        transferTool(caller, call, request)
      const { organizationId } = live.call
      const faultsOf = (schema: object, value: unknown) => valueFaults(schema, value, organizationId)
      const runTool = createRunTool({ ...toolDeps, valueFaults: faultsOf, secretsOf, transfer })
      const input = inputOf(app, needs, live, { caller, ended })
      const callLog = log.child({ callId: live.call.id, ...input.trace?.logFields })
      return startConversation(
        { ...deps, runTool, log: callLog },
        input,
        transport,
        live.log ?? journal.open(live.call),
      )
    },
    warmUp(stage, provider, model) {
      if (stage === 'stt' && config.local.warm) vad.warmUp()
      provider.warmUp?.(stage, model)
    },
  }
}

function sharedDeps({ config, clock, ids, log }: App, { operations, vad }: Needs): Omit<ConversationDeps, 'runTool'> {
  const { transcribeStream, synthesizeStream, generateItems } = operations
  return {
    clock,
    log,
    newId: ids.session,
    transcribeStream,
    synthesizeStream,
    generateItems,
    vad,
    openResampler: (fromHz, toHz) => {
      const resampler = new FrameResampler(fromHz, toHz)
      return Promise.resolve({ convert: (samples) => resampler.convert(samples), close: () => {} })
    },
    pacer: new Watch<Paced>(clock, paceMs, (member, nowMs) => member.pace(nowMs)),
    aheadMs: config.sessions.aheadMs,
  }
}

function inputOf(
  { ids, tracing }: App,
  { operations, record }: Needs,
  { call, observer, note }: LiveCall,
  { caller, ended }: { caller: Caller; ended: () => void },
): ConversationInput {
  const callTrace = tracing?.call(call.id) ?? null
  const routing = (stage: Stage) => routingOfStage(operations.catalog, caller, call.pipeline, stage)
  return {
    call,
    caller,
    ...(note !== undefined && { note }),
    routing: { stt: routing('stt'), llm: routing('llm'), tts: routing('tts') },
    aligner: alignerOf(operations, call.pipeline.intent.language),
    trace: callTrace,
    request: (signal, trace = callTrace) => {
      return { caller, requestId: ids.request(), operation: 'session', callId: call.id, signal, trace }
    },
    presetLike: ({ provider, model }) => {
      const voice = operations.catalog.find('tts', provider, model)?.model.voices[0]
      return voice === undefined ? null : presetOfGender(voice.gender)
    },
    recorder: record(call),
    observer: observer ?? null,
    ended,
  }
}

/** Returns the provider's forced alignment for the language (BCP 47), or null. */
function alignerOf({ catalog }: Operations, language: string): Aligner | null {
  const base = baseOf(language)
  const row = catalog.stage('stt').find(({ provider, languages }) => {
    return provider.ports.speech?.aligner !== undefined && (languages === null || languages.has(base))
  })
  return row?.provider.ports.speech?.aligner ?? null
}
