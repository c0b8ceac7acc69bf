/** Transfer requests from API clients and from agents. */
import type { FallbackAction, MachineDetection, TransferKind } from './transfer.ts'

type Metadata = Record<string, unknown>

export type BlindRequest = {
  to: string
  ringingTimeout?: number | null
  metadata?: Metadata | null
  headers?: Record<string, string> | null
  playDialtone?: boolean | null
  participantIdentity?: string | null
}

export type DestinationInput = {
  to: string
  label?: string | null
  screeningPrompt?: string | null
  summary?: string | null
  metadata?: Metadata | null
}

export type FallbackInput = {
  strategy?: FallbackAction | null
  message?: string | null
  takeMessagePrompt?: string | null
  holdAudioUrl?: string | null
}

/** `amd` means the same as `carrier`, and `enabled: false` means the same as the mode `disabled`. */
type DetectionInput = {
  mode?: MachineDetection['mode'] | 'amd' | null
  enabled?: boolean | null
  timeoutSeconds?: number | null
}

export type WarmRequest = Omit<DestinationInput, 'to' | 'label'> & {
  to?: string | null
  destinations?: DestinationInput[] | null
  from?: string | null
  ringingTimeout?: number | null
  screeningTimeout?: number | null
  fallback?: FallbackInput | null
  voicemailDetection?: DetectionInput | null
  participantIdentity?: string | null
}

/** A destination with a label. The agent's LLM chooses by the label. */
type ToolDestination = DestinationInput & { label: string; description?: string | null }

export type TransferConfig = Omit<WarmRequest, 'to' | 'destinations' | 'participantIdentity'> &
  Pick<BlindRequest, 'headers' | 'playDialtone'> & { kind?: TransferKind; destinations?: ToolDestination[] }

/** The arguments come from the LLM and are not checked yet. */
export type TransferToolRequest = { config: TransferConfig; label: unknown }
