/** Repeats a failed transfer. */
import type { CallEvent, Transfer, TransferFallback } from '../../../../generated/clients/typescript/models/platform.ts'
import type { NewTransfer } from '../../data/calls.ts'
import { endOf } from './transfer-words.ts'

/**
 * Returns the request for another attempt. The record keeps most settings, and the last event keeps the fallback. The
 * summary is left out, because the server may have made it from the caller's last words. A new attempt has a new one.
 */
export function retryOf(transfer: Transfer, events: readonly CallEvent[]): NewTransfer {
  const { kind, transfer_to: to, label, screening_prompt: screeningPrompt, metadata } = transfer
  return {
    kind,
    destination: { to, label, screeningPrompt, metadata },
    fallback: fallbackOf(transfer, events),
  }
}

/** Returns the fallback in the attempt's last event. null without such an event. */
export function fallbackOf(transfer: Transfer, events: readonly CallEvent[]): TransferFallback | null {
  const done = endOf(transfer, events)?.fallback
  if (!done) return null
  const { action: strategy, message, take_message_prompt: takeMessagePrompt, hold_audio_url: holdAudioUrl } = done
  return { strategy, message, takeMessagePrompt, holdAudioUrl }
}
