/**
 * Joins settings from an agent and from requests into one pipeline. Its texts are still templates. A request takes
 * precedence over the agent. `intent`, `constraints`, `llm`, `ttsOptions` and `sttOptions` are merged field by field.
 * Every other setting is replaced as a whole. Null selects the default.
 */
import { turnDelays } from '../agents/turn-delays.ts'
import { objectiveOf } from '../ports/model.ts'
import type { Agent, AgentSettings, BackgroundClip } from '../records/agent.ts'
import type { Pipeline } from '../records/pipeline.ts'
import type { SessionRequest } from './start.ts'

/** The prompt if neither agent nor request has one. */
const defaultPrompt =
  'You are a friendly voice assistant. Answer in one to three short sentences that are easy to say aloud, without lists or markup.'

/** Tools are left out, because they have secrets: `joinTools` joins them. */
export type JoinedSettings = Omit<Pipeline, 'tools' | 'recording' | 'transport'> & { recording: boolean | null }

/** Joins the settings. A later request takes precedence over an earlier request. */
export function joinSettings(agent: Agent | null, ...requests: readonly SessionRequest[]): JoinedSettings {
  const of = agent?.settings
  const all = <Name extends keyof SessionRequest>(name: Name) => requests.map((request) => request[name])
  const llm = merged(of?.llmOptions, all('llm'))
  const stt = merged(of?.sttOptions, all('sttOptions'))
  const { language, optimizeFor = 'balanced', region } = merged<Partial<Intent>>(of?.intent, all('intent'))
  const recognized = stt.language === 'auto' ? null : stt.language
  const tts = merged(of?.ttsOptions, all('ttsOptions'))
  const allowed = merged(
    of?.stackPreferences?.allowedProviders,
    all('constraints').map((constraints) => constraints && constraints.allowedProviders),
  )
  const firstMessage = chosen(of?.firstMessage, all('firstMessage')) || null
  const mode = chosen(of?.firstMessageMode, all('firstMessageMode'))
  return {
    agentName: of?.name ?? null,
    agentVersion: agent?.version ?? null,
    systemPrompt: chosen(of?.systemPrompt, all('systemPrompt')) || defaultPrompt,
    intent: { language: language ?? recognized ?? 'en', optimizeFor: objectiveOf(optimizeFor), region: region ?? null },
    voice: chosen(of?.voice, all('voice')) ?? null,
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
    backgroundAudio: backgroundOf(chosen(of?.backgroundAudio, all('backgroundAudio'))),
    speechNormalization: normalizationOf(chosen(of?.speechNormalization, all('speechNormalization'))),
    idleRePrompts: idleOf(chosen(of?.idleRePrompts, all('idleRePrompts'))),
    turnHandling: turnHandlingOf(chosen(of?.turnHandling, all('turnHandling'))),
    maxDurationSeconds: chosen(of?.maxDurationSeconds, all('maxDurationSeconds')) ?? 3600,
    silenceTimeoutSeconds: chosen(of?.silenceTimeoutSeconds, all('silenceTimeoutSeconds')) ?? 60,
    endCallMessage: chosen(of?.endCallMessage, all('endCallMessage')) || null,
    fallbackMessage: chosen(of?.fallbackMessage, all('fallbackMessage')) || null,
    maxToolHops: chosen(of?.maxToolHops, all('maxToolHops')) ?? 8,
    timezone: chosen(of?.timezone, all('timezone')) ?? 'UTC',
    recording: chosen(of?.recording, all('recording')) ?? null,
    clientOverrides: chosen(of?.clientOverrides, all('clientOverrides')) ?? [],
    extractionFields: of?.extractionFields ?? [],
  }
}

type Intent = AgentSettings['intent']

/** Returns the value from the last request that has a value, else the agent's value. */
function chosen<T>(ofAgent: T | undefined, requested: readonly (T | null | undefined)[]): T | undefined {
  const last = requested.findLast((value) => value !== undefined)
  return last === undefined ? ofAgent : (last ?? undefined)
}

/**
 * Merges settings field by field; later requests take precedence. If a request has null instead of an object, all
 * earlier fields are dropped.
 */
function merged<T extends object>(ofAgent: T | undefined, requested: readonly (T | null | undefined)[]): Partial<T> {
  return requested.reduce<Partial<T>>((whole, each) => (each === null ? {} : { ...whole, ...set(each) }), {
    ...ofAgent,
  })
}

/** Returns the fields that have a value. */
function set<T extends object>(fields: T | null | undefined): Partial<T> {
  const entries = Object.entries(fields ?? {}).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(entries) as Partial<T>
}

function backgroundOf(audio: AgentSettings['backgroundAudio'] = {}): Pipeline['backgroundAudio'] {
  const { ambient, toolSound } = audio
  return {
    ambient: ambient ? clipOf(ambient) : null,
    toolSound: toolSound ? clipOf(toolSound) : null,
  }
}

const clipOf = ({ clip, volume = 1 }: BackgroundClip) => ({ clip, volume })

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
