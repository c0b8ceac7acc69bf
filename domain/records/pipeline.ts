/**
 * One session's configuration: the settings from agent and request together, with defaults filled in and templates
 * rendered. It is stored with the call and shown as `pipeline_config`, so its field names are fixed in the contract.
 * Times without a unit in their name are milliseconds. Tool secrets are stored separately.
 */
import type { Objective, Stage } from '../ports/model.ts'
import type { BackgroundClip } from './agent.ts'
import type { PreToolSpeech, ToolSource } from './tool.ts'
import type { ExtractionField } from './webhook-endpoint.ts'

export const sampleRates = [8000, 16_000, 24_000, 48_000] as const
export type SampleRate = (typeof sampleRates)[number]

export type BrowserTransport = 'websocket' | 'livekit'
export type SessionTransport = BrowserTransport | 'phone'

export type PipelineTool = {
  name: string
  description: string
  /** A JSON Schema. */
  parameters: Readonly<Record<string, unknown>>
  source: ToolSource
  preToolSpeech: PreToolSpeech
}

export type Pipeline = {
  /** How the browser or the phone exchanges its media with the session's process. */
  transport: SessionTransport
  agentName: string | null
  /** The agent's version when the session started. Null if the session has no stored agent. */
  agentVersion: number | null
  systemPrompt: string
  intent: { language: string; optimizeFor: Objective; region: string | null }
  voice: string | null
  /** Null if there is no first message. */
  firstMessage: string | null
  firstMessageMode: 'message' | 'generate' | 'listen'
  llm: { temperature: number | null; maxTokens: number; model: string | null; reasoningEffort: string | null }
  sttOptions: { keywords: readonly string[]; prompt: string | null; language: string | null }
  ttsOptions: { speed: number; model: string | null; instructions: string | null; sampleRate: SampleRate }
  /** The allowed providers or models for speech to text, LLM and text to speech. An empty list allows all. */
  constraints: { allowedProviders: Readonly<Record<Stage, readonly string[]>> }
  backgroundAudio: { ambient: Required<BackgroundClip> | null; toolSound: Required<BackgroundClip> | null }
  speechNormalization: {
    pronunciationDictionary: Readonly<Record<string, string>>
    textReplacements: Readonly<Record<string, string>>
  }
  idleRePrompts: { enabled: boolean; delayMs: number; maxPrompts: number; messages: readonly string[] }
  turnHandling: {
    profile: 'conversational' | 'ivr' | 'ivr_patient'
    endpointing: { minDelay: number; maxDelay: number }
    turnDetection: 'text' | 'vad' | 'stt'
    interruption: {
      mode: 'adaptive' | 'vad' | 'none'
      minDuration: number
      minWords: number
      falseTimeout: number
      protectFirstMessage: boolean
    }
    preemptiveGeneration: boolean
  }
  maxDurationSeconds: number
  silenceTimeoutSeconds: number
  endCallMessage: string | null
  fallbackMessage: string | null
  maxToolHops: number
  timezone: string
  recording: boolean
  clientOverrides: readonly ClientOverride[]
  /** Questions about the call. Its report contains the answers. */
  extractionFields: readonly ExtractionField[]
  tools: readonly PipelineTool[]
}

export const clientOverrides = ['prompt', 'firstMessage', 'language', 'voiceId', 'speed'] as const
export type ClientOverride = (typeof clientOverrides)[number]
