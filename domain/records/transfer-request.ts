/** Transfer requests from API clients and from agents. */
import type { FallbackAction, MachineDetection, TransferKind } from './transfer.ts'

type Metadata = Record<string, unknown>

export type AskedBlind = {
  to: string
  ringingTimeout?: number | null
  metadata?: Metadata | null
  headers?: Record<string, string> | null
  playDialtone?: boolean | null
  participantIdentity?: string | null
}

export type AskedDestination = {
  to: string
  label?: string | null
  screeningPrompt?: string | null
  summary?: string | null
  metadata?: Metadata | null
}

export type AskedFallback = {
  strategy?: FallbackAction | null
  message?: string | null
  takeMessagePrompt?: string | null
  holdAudioUrl?: string | null
}

/** `amd` is another name for `carrier`, and `enabled: false` for the mode `disabled`. */
type AskedDetection = {
  mode?: MachineDetection['mode'] | 'amd' | null
  enabled?: boolean | null
  timeoutSeconds?: number | null
}

export type AskedWarm = Omit<AskedDestination, 'to' | 'label'> & {
  to?: string | null
  destinations?: AskedDestination[] | null
  from?: string | null
  ringingTimeout?: number | null
  screeningTimeout?: number | null
  fallback?: AskedFallback | null
  voicemailDetection?: AskedDetection | null
  participantIdentity?: string | null
}

/** A destination with a label for the agent's LLM to choose by. */
type ToolDestination = AskedDestination & { label: string; description?: string | null }

export type TransferConfig = Omit<AskedWarm, 'to' | 'destinations' | 'participantIdentity'> &
  Pick<AskedBlind, 'headers' | 'playDialtone'> & { kind?: TransferKind; destinations?: ToolDestination[] }

/** The LLM's arguments are not checked yet. */
export type AskedByTool = { config: TransferConfig; label: unknown }
