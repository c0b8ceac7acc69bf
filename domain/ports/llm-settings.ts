/** Request settings for an LLM. Each setting is supported by some vendors only. */
export type LlmSettings = {
  temperature?: number
  topP?: number
  topK?: number
  /** Stop sequences: the answer ends before the first occurrence of any sequence. */
  stop?: readonly string[]
  seed?: number
  frequencyPenalty?: number
  presencePenalty?: number
  /** The client's id for its user. */
  user?: string
  /** If false, the model makes at most one function call per answer. */
  parallelToolCalls?: boolean
}

export type LlmSetting = keyof LlmSettings

/** Returns an `Llm.lacks` for an adapter that accepts only these settings, and any value for each. */
export function lackingAllBut(
  ...supported: readonly LlmSetting[]
): (model: string, settings: LlmSettings) => LlmSetting[] {
  const names = new Set<string>(supported)
  return (_model, settings) => settingsIn(settings).filter((name) => !names.has(name))
}

/** Returns the names of a request's settings. */
export function settingsIn(settings: LlmSettings): LlmSetting[] {
  return Object.keys(settings) as LlmSetting[]
}
