import type { Recording } from '../../audio/format.ts'
import type { Quantity } from '../billing/ledger.ts'
import type { Row } from '../catalog/catalog.ts'
import { spoken } from '../catalog/language.ts'
import { dispatchRequest } from '../dispatch/dispatch.ts'
import type { DispatchDeps, RequestContext, Route } from '../dispatch/request.ts'
import type { Capability } from '../ports/model.ts'
import { ProviderError } from '../ports/provider-error.ts'
import type { Stt, SttOptions, SttRequest, Transcript } from '../ports/stt.ts'
import type { Routing } from '../routing/ask.ts'
import { type Ask, baseAsk } from '../routing/ask.ts'
import { checkOptions, optionsFor, type ProviderOptions } from './provider-options.ts'

export type TranscribeInput = RequestContext & {
  routing: Routing
  /** The language as BCP 47. If absent, the API key's language is used, else the provider detects the language. */
  language?: string
  options?: Omit<SttOptions, 'providerOptions'> & { providerOptions?: ProviderOptions }
  recording: Recording
  /** If true, a model without prompts or keywords gets no such hints and stays a candidate. */
  lenient?: true
}

/** Options that help recognition. A model can answer without them. */
const hints = ['prompt', 'keywords'] as const
export type Hint = (typeof hints)[number]

export type Transcription = {
  transcript: Transcript
  route: Route
  usage: { durationMs: number; costMicroUsd: number | null }
  /** The hints that the model does not support. */
  ignored: readonly Hint[]
}

/** Creates the operation for a whole recording. It fails over until a provider has answered. Throws a Fault. */
export function createTranscribe(deps: DispatchDeps): (input: TranscribeInput) => Promise<Transcription> {
  return async (input) => {
    const ask = askOf(input)
    checkOptions(input.options?.providerOptions, deps.chooser.choose(ask).candidates[0]?.row)
    const dispatched = await dispatchRequest(deps, input, {
      ask,
      atOnce: true,
      mediaMs: input.recording.durationMs,
      worstCase: () => audioQuantity(input.recording.durationMs),
      run: (row, signal, { speech }) => transcribeAt(speech?.stt, row, input, ask, signal.abortSignal),
    })
    const transcript = dispatched.value
    const durationMs = Math.round(transcript.billedMs ?? input.recording.durationMs)
    const costMicroUsd = dispatched.succeed(audioQuantity(durationMs), speedOf(dispatched.elapsedMs, input.recording))
    const ignored = hintsBeyond(dispatched.row, input.options)
    return { transcript, route: dispatched.route, usage: { durationMs, costMicroUsd }, ignored }
  }
}

function askOf({ caller, routing, language, options, recording, lenient }: TranscribeInput): Ask {
  const ask = baseAsk(caller, 'stt', routing, language)
  const { encoding, sampleRateHz, channels } = recording.format
  return {
    ...ask,
    needs: [...ask.needs, ...needsOf(options).filter((need) => !lenient || !hints.includes(need as Hint))],
    audio: { encoding, sampleRateHz, channels },
  }
}

function needsOf(options: TranscribeInput['options'] = {}): Capability[] {
  const needs: Capability[] = []
  if (options.diarization) needs.push('diarization')
  if (options.keywords?.length) needs.push('keywords')
  if (options.noiseReduction) needs.push('noise_reduction')
  if (options.wordTimestamps) needs.push('word_timestamps')
  if (options.prompt) needs.push('prompt')
  return needs
}

function hintsBeyond({ model }: Row, options: TranscribeInput['options'] = {}): Hint[] {
  return hints.filter((hint) => options[hint]?.length && !model.capabilities[hint])
}

async function transcribeAt(
  stt: Stt | undefined,
  row: Row,
  input: TranscribeInput,
  ask: Ask,
  signal: AbortSignal,
): Promise<Transcript> {
  if (!stt) throw new ProviderError('unsupported', { sent: false })
  const { providerOptions, ...options } = input.options ?? {}
  for (const hint of hintsBeyond(row, input.options)) delete options[hint]
  const own = optionsFor(providerOptions, row)
  const request: SttRequest = {
    model: row.model.id,
    recording: input.recording,
    options: { ...options, ...(own && { providerOptions: own }) },
    ...(ask.language && { language: spoken(row.model.languages, ask.language) }),
  }
  return stt.transcribe(request, signal)
}

function audioQuantity(durationMs: number): Quantity[] {
  return [{ unit: 'audio_milliseconds', amount: durationMs }]
}

/**
 * Returns the model's speed. Recordings differ in length, so only the real-time factor is comparable: processing time
 * divided by audio duration.
 */
function speedOf(elapsedMs: number, { durationMs }: Recording): { realTimeFactor?: number } {
  return durationMs > 0 ? { realTimeFactor: elapsedMs / durationMs } : {}
}
