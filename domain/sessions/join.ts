/**
 * Joins the settings of an agent and of a request to one pipeline, whose texts are still templates. The request goes
 * before the agent. `intent`, `constraints`, `llm`, `ttsOptions` and `sttOptions` are merged by their fields, everything
 * else is replaced as a whole, and null is the default.
 */
import type { Agent, AgentSettings } from '../agents/agent.ts'
import { turnDelays } from '../agents/turn-delays.ts'
import type { Pipeline } from './pipeline.ts'
import type { WantedSession } from './start.ts'

/** For a session without an agent that brings no prompt. */
const defaultPrompt =
  'You are a friendly voice assistant. Answer in one to three short sentences that are easy to say aloud, without lists or markup.'

/** Without tools, which have secrets and are joined apart. */
export type JoinedSettings = Omit<Pipeline, 'tools' | 'recording' | 'transport'> & { recording: boolean | null }

export function joinSettings(agent: Agent | null, wanted: WantedSession): JoinedSettings {
  const of = agent?.settings
  const { language = 'en', optimizeFor = 'balanced', region } = { ...of?.intent, ...set(wanted.intent) }
  const llm = merged(of?.llmOptions, wanted.llm)
  const stt = merged(of?.sttOptions, wanted.sttOptions)
  const tts = merged(of?.ttsOptions, wanted.ttsOptions)
  const allowed = merged(of?.stackPreferences, wanted.constraints, 'allowedProviders').allowedProviders ?? {}
  const firstMessage = chosen(wanted.firstMessage, of?.firstMessage) || null
  const mode = chosen(wanted.firstMessageMode, of?.firstMessageMode)
  return {
    agentName: of?.name ?? null,
    systemPrompt: chosen(wanted.systemPrompt, of?.systemPrompt) || defaultPrompt,
    intent: { language, optimizeFor, region: region ?? null },
    voice: chosen(wanted.voice, of?.voice) ?? null,
    firstMessage,
    firstMessageMode: mode ?? (firstMessage === null ? 'listen' : 'message'),
    llm: {
      temperature: llm.temperature ?? null,
      maxTokens: llm.maxTokens ?? 512,
      model: llm.model ?? null,
      reasoningEffort: llm.reasoningEffort ?? null,
    },
    sttOptions: { keywords: stt.keywords ?? [], prompt: stt.prompt ?? null, language: stt.language ?? null },
    ttsOptions: {
      speed: tts.speed ?? 1,
      model: tts.model ?? null,
      instructions: tts.instructions ?? null,
      sampleRate: tts.sampleRate ?? 24_000,
    },
    constraints: { allowedProviders: { stt: allowed.stt ?? [], llm: allowed.llm ?? [], tts: allowed.tts ?? [] } },
    backgroundAudio: backgroundOf(chosen(wanted.backgroundAudio, of?.backgroundAudio)),
    speechNormalization: normalizationOf(chosen(wanted.speechNormalization, of?.speechNormalization)),
    idleRePrompts: idleOf(chosen(wanted.idleRePrompts, of?.idleRePrompts)),
    turnHandling: turnHandlingOf(chosen(wanted.turnHandling, of?.turnHandling)),
    maxDurationSeconds: chosen(wanted.maxDurationSeconds, of?.maxDurationSeconds) ?? 3600,
    silenceTimeoutSeconds: chosen(wanted.silenceTimeoutSeconds, of?.silenceTimeoutSeconds) ?? 60,
    endCallMessage: chosen(wanted.endCallMessage, of?.endCallMessage) || null,
    fallbackMessage: chosen(wanted.fallbackMessage, of?.fallbackMessage) || null,
    maxToolHops: chosen(wanted.maxToolHops, of?.maxToolHops) ?? 8,
    timezone: chosen(wanted.timezone, of?.timezone) ?? 'UTC',
    recording: chosen(wanted.recording, of?.recording) ?? null,
    clientOverrides: chosen(wanted.clientOverrides, of?.clientOverrides) ?? [],
    extractionFields: of?.extractionFields ?? [],
  }
}

/** The value of the request, where it has one. */
function chosen<T>(wanted: T | null | undefined, ofAgent: T | undefined): T | undefined {
  if (wanted === undefined) return ofAgent
  return wanted ?? undefined
}

/** The fields of both, those of the request first. `null` for the whole clears it. With `field`, its fields are merged. */
function merged<T extends object>(ofAgent: T | undefined, wanted: T | null | undefined, field?: keyof T): Partial<T> {
  if (wanted === null) return {}
  const whole: Partial<T> = { ...ofAgent, ...set(wanted) }
  if (field === undefined) return whole
  return { ...whole, [field]: { ...(ofAgent?.[field] as object), ...(wanted?.[field] as object) } }
}

/** The fields that have a value. */
function set<T extends object>(fields: T | null | undefined): Partial<T> {
  const entries = Object.entries(fields ?? {}).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(entries) as Partial<T>
}

function backgroundOf(audio: AgentSettings['backgroundAudio'] = {}): Pipeline['backgroundAudio'] {
  const { ambient, toolSound } = audio
  return {
    ambient: ambient ? { volume: 1, ...ambient } : null,
    toolSound: toolSound ? { volume: 1, ...toolSound } : null,
  }
}

function normalizationOf(speech: AgentSettings['speechNormalization'] = {}): Pipeline['speechNormalization'] {
  const { pronunciationDictionary = {}, textReplacements = {} } = speech
  return { pronunciationDictionary, textReplacements }
}

function idleOf(idle: AgentSettings['idleRePrompts'] = {}): Pipeline['idleRePrompts'] {
  const { enabled = false, delayMs = 8000, maxPrompts = 2, messages = [] } = idle
  return { enabled, delayMs, maxPrompts, messages }
}

function turnHandlingOf(turns: AgentSettings['turnHandling'] = {}): Pipeline['turnHandling'] {
  const { profile = 'conversational', turnDetection = 'text', preemptiveGeneration = true } = turns
  const interruption = {
    mode: 'adaptive' as const,
    minDuration: 200,
    minWords: 0,
    falseTimeout: 2000,
    protectFirstMessage: false,
    ...turns.interruption,
  }
  const endpointing = { ...turnDelays[profile], ...turns.endpointing }
  return { profile, endpointing, turnDetection, interruption, preemptiveGeneration }
}
