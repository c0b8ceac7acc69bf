/** Converts a request's settings to fields for POST /v1/messages. */
import type { LlmRequest } from '../../domain/ports/llm.ts'
import { type LlmSetting, type LlmSettings, settingsIn } from '../../domain/ports/llm-settings.ts'
import type { JsonObject } from '../wire/json.ts'
import { traitsOf } from './models.ts'

/** The vendor's maximum length for a user id. */
const userIdMax = 256

/** Returns the names of settings with values that this model refuses. */
export function lacks(model: string, settings: LlmSettings): LlmSetting[] {
  const samples = traitsOf(model)?.sampling ?? true
  return settingsIn(settings).filter((name) => {
    switch (name) {
      // The maximum temperature is 1. Models without sampling accept only the default.
      case 'temperature':
        return samples ? (settings.temperature ?? 0) > 1 : settings.temperature !== 1
      case 'topP':
        return !samples && settings.topP !== 1
      case 'topK':
        return !samples
      // The vendor refuses a stop sequence with only white space.
      case 'stop':
        return settings.stop?.some((each) => each.trim() === '')
      case 'user':
        return (settings.user ?? '').length > userIdMax
      case 'parallelToolCalls':
        return false
      case 'seed':
      case 'frequencyPenalty':
      case 'presencePenalty':
        return true
    }
  })
}

/**
 * Returns the request fields for the settings, except `temperature` and `top_p`. `lacks` has already refused
 * unsupported settings.
 */
export function settingsBody({ topK, stop, user }: LlmRequest): JsonObject {
  return {
    ...(topK !== undefined && { top_k: topK }),
    ...(stop && { stop_sequences: stop }),
    ...(user !== undefined && { metadata: { user_id: user } }),
  }
}
