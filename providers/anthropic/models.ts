/** Lists the models. They differ in the request fields for sampling, thinking and forced tools. */
import { noCapabilities } from '../../domain/ports/model.ts'
import type { VendorModel } from '../wire/adapter.ts'

export type Traits = {
  /** True if the model accepts `temperature` and `top_p`. Newer models refuse every value except the default. */
  sampling: boolean
  /**
   * The request fields to turn thinking off. Null if thinking cannot be turned off. A tool can be forced only without
   * thinking.
   */
  withoutThinking: object | null
  /** The request fields for each reasoning effort. An effort without an entry is refused. */
  efforts: Partial<Record<string, object>>
}

const effort = (level: string) => ({ output_config: { effort: level } })
const adaptive = (level: string) => ({ thinking: { type: 'adaptive' }, ...effort(level) })
/** The fields for models with thinking on by default. Only the effort is sent. */
const thinkingEfforts = {
  minimal: effort('low'),
  low: effort('low'),
  medium: effort('medium'),
  high: effort('high'),
  xhigh: effort('xhigh'),
}

const traits: Partial<Record<string, Traits>> = {
  'claude-haiku-5-5': {
    sampling: false,
    withoutThinking: { thinking: { type: 'disabled' } },
    efforts: thinkingEfforts,
  },
  'claude-sonnet-5-5': { sampling: false, withoutThinking: null, efforts: thinkingEfforts },
  'claude-sonnet-4-6': {
    sampling: true,
    withoutThinking: {},
    efforts: {
      minimal: adaptive('low'),
      low: adaptive('low'),
      medium: adaptive('medium'),
      high: adaptive('high'),
    },
  },
  // This model controls thinking by a token budget and supports no effort.
  'claude-haiku-4-5': { sampling: true, withoutThinking: {}, efforts: {} },
}

/** For an unlisted model no field is refused here, because the model's limits are not known. The vendor decides. */
const unlistedTraits: Traits = { sampling: true, withoutThinking: {}, efforts: thinkingEfforts }

export function traitsOf(model: string): Traits {
  return (Object.hasOwn(traits, model) ? traits[model] : undefined) ?? unlistedTraits
}

export const anthropicModels: readonly VendorModel[] = Object.entries(traits).map(([id, model]) => ({
  id,
  stage: 'llm',
  capabilities: {
    ...noCapabilities,
    tools: true,
    structured_output: true,
    reasoning: Object.keys(model?.efforts ?? {}).length > 0,
    batch: true,
    streaming: true,
  },
  languages: ['*'],
  audioFormats: [],
  voices: [],
  providerOptions: [],
}))
