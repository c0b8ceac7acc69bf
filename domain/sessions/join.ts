/**
 * Joins the settings of an agent and of requests to one pipeline, whose texts are still templates. A request goes
 * before the agent. `intent`, `constraints`, `llm`, `ttsOptions` and `sttOptions` are merged by their fields, everything
 * else is replaced as a whole, and null is the default.
 */
import { turnDelays } from '../agents/turn-delays.ts'
import { objectiveOf } from '../ports/model.ts'
import type { Agent, AgentSettings, BackgroundClip } from '../records/agent.ts'
import type { Pipeline } from '../records/pipeline.ts'
import type { WantedSession } from './start.ts'

/** For a session without an agent that brings no prompt. */
const defaultPrompt =
  'You are a friendly voice assistant. Answer in one to three short sentences that are easy to say aloud, without lists or markup.'

/** Without tools, which have secrets and are joined apart. */
export type JoinedSettings = Omit<Pipeline, 'tools' | 'recording' | 'transport'> & { recording: boolean | null }

/** A later request goes before an earlier one. */
export function joinSettings(agent: Agent | null, ...requests: readonly WantedSession[]): JoinedSettings {
  const of = agent?.settings
  const all = <Name extends keyof WantedSession>(name: Name) => requests.map((request) => request[name])
  const { language = 'en', optimizeFor = 'balanced', region } = merged<Partial<Intent>>(of?.intent, all('intent'))
  const llm = merged(of?.llmOptions, all('llm'))
  const stt = merged(of?.sttOptions, all('sttOptions'))
  const tts = merged(of?.ttsOptions, all('ttsOptions'))
  const allowed = merged(
    of?.stackPreferences?.allowedProviders,
    all('constraints').map((constraints) => constraints && constraints.allowedProviders),
  )
  const firstMessage = chosen(of?.firstMessage, all('firstMessage')) || null
  const mode = chosen(of?.firstMessageMode, all('firstMessageMode'))
  return {
    agentName: of?.name ?? null,
    systemPrompt: chosen(of?.systemPrompt, all('systemPrompt')) || defaultPrompt,
    intent: { language, optimizeFor: objectiveOf(optimizeFor), region: region ?? null },
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

/** The value of the last request that has one, else that of the agent. */
function chosen<T>(ofAgent: T | undefined, wanted: readonly (T | null | undefined)[]): T | undefined {
  const last = wanted.findLast((value) => value !== undefined)
  return last === undefined ? ofAgent : (last ?? undefined)
}

/** The fields of all, those of later requests first. `null` for the whole clears what was before it. */
function merged<T extends object>(ofAgent: T | undefined, wanted: readonly (T | null | undefined)[]): Partial<T> {
  return wanted.reduce<Partial<T>>((whole, each) => (each === null ? {} : { ...whole, ...set(each) }), { ...ofAgent })
}

/** The fields that have a value. */
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
