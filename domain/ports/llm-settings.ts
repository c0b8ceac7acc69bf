/** Request settings supported by some vendors only. */
export type LlmSettings = {
  temperature?: number
  topP?: number
  topK?: number
  /** The answer ends before the first of these texts. */
  stop?: readonly string[]
  seed?: number
  frequencyPenalty?: number
  presencePenalty?: number
  /** The caller's name for its user. */
  user?: string
  /** If false, the model makes one call at a time. */
  parallelToolCalls?: boolean
}

export type LlmSetting = keyof LlmSettings

/** For an adapter that accepts only these settings, each with every value. */
export function lackingAllBut(
  ...supported: readonly LlmSetting[]
): (model: string, settings: LlmSettings) => LlmSetting[] {
  const names = new Set<string>(supported)
  return (_model, settings) => settingsIn(settings).filter((name) => !names.has(name))
}

/** The names of a request's settings. */
export function settingsIn(settings: LlmSettings): LlmSetting[] {
  return Object.keys(settings) as LlmSetting[]
}
