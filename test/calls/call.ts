/** Makes a call with all its settings, its events, turns and spans. */
import type { Call, CallEvent, CallPhone, Span, Turn } from '../../domain/records/call.ts'
import type { Pipeline } from '../../domain/records/pipeline.ts'
import { systemIds } from '../../runtime/timing/clock.ts'

export const pipeline: Pipeline = {
  transport: 'websocket',
  agentName: 'Front desk',
  agentVersion: 1,
  systemPrompt: 'Be brief.',
  intent: { language: 'en-US', optimizeFor: 'balanced', region: null },
  voice: null,
  firstMessage: 'Hello, how can I help?',
  firstMessageMode: 'message',
  llm: { temperature: null, maxTokens: 512, model: null, reasoningEffort: null },
  sttOptions: { keywords: [], prompt: null, language: null },
  ttsOptions: { speed: 1, model: null, instructions: null, sampleRate: 24_000 },
  constraints: { allowedProviders: { stt: [], llm: [], tts: [] } },
  backgroundAudio: { ambient: null, toolSound: null },
  speechNormalization: { pronunciationDictionary: {}, textReplacements: {} },
  idleRePrompts: { enabled: false, delayMs: 8000, maxPrompts: 2, messages: [] },
  turnHandling: {
    profile: 'conversational',
    endpointing: { minDelay: 250, maxDelay: 2500 },
    turnDetection: 'text',
    interruption: { mode: 'adaptive', minDuration: 200, minWords: 0, falseTimeout: 2000, protectFirstMessage: false },
    preemptiveGeneration: true,
  },
  maxDurationSeconds: 3600,
  silenceTimeoutSeconds: 60,
  endCallMessage: null,
  fallbackMessage: null,
  maxToolHops: 8,
  timezone: 'UTC',
  recording: true,
  clientOverrides: [],
  extractionFields: [],
  tools: [],
}

/** The numbers of a call that came in. */
export const inboundPhone = {
  direction: 'inbound' as const,
  from: '+12125550199',
  to: '+12125550100',
  forwardedFrom: null,
  phoneNumberId: 'pn_6Vb2kXw9TcQm4nRzLsYd8f',
  legId: 'leg_1',
} satisfies CallPhone

export function newCall(organizationId: string, more: Partial<Call> = {}): Call {
  const nowMs = Date.now()
  return {
    id: systemIds.session(),
    organizationId,
    test: false,
    agentId: null,
    keyId: 'key_1',
    status: 'queued',
    kind: 'browser',
    phone: null,
    identity: 'visitor-17',
    pipeline,
    metadata: { cart: '4711' },
    webhookTags: { team: 'shop' },
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    expiresAtMs: nowMs + 900_000,
    startedAtMs: null,
    endedAtMs: null,
    endReason: null,
    recordingStatus: null,
    recordingDurationMs: null,
    ownerId: null,
    ...more,
  }
}

export function newTurn(more: Partial<Turn> = {}): Turn {
  return {
    id: systemIds.session(),
    index: 0,
    source: 'user',
    text: 'When do you open?',
    startedAtMs: 1_790_000_000_000,
    endedAtMs: 1_790_000_001_000,
    provider: 'local',
    model: 'moonshine-tiny-en',
    eouMs: null,
    llmTtftMs: null,
    ttsTtfbMs: null,
    conversationalLatencyMs: null,
    latencyStatus: null,
    toolCalls: [],
    playedText: null,
    metadata: {},
    ...more,
  }
}

export function newEvent(type: CallEvent['type'], more: Partial<CallEvent> = {}): CallEvent {
  const rest = { status: null, failureCause: null, occurredAtMs: Date.now(), payload: {} }
  return { id: systemIds.session(), provider: 'service', type, ...rest, ...more }
}

export function newSpan(more: Partial<Span> = {}): Span {
  const times = { startMs: 0, durationMs: 1000, criticalMs: 0 }
  return { id: systemIds.session(), kind: 'turn', ...times, attributes: {}, children: [], ...more }
}
