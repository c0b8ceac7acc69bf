/** The models as data. They differ in the fields of a request for sampling, thinking and forced tools. */
import { noCapabilities } from '../../domain/ports/model.ts'
import type { VendorModel } from '../wire/adapter.ts'

export type Traits = {
  /** The model takes `temperature` and `top_p`. Later models refuse every value but the default. */
  sampling: boolean
  /** The fields that turn thinking off, without which no tool can be forced; null if thinking cannot be turned off. */
  withoutThinking: object | null
  /** The fields of a request for each effort. An effort that is not listed is refused. */
  efforts: Partial<Record<string, object>>
}

const effort = (level: string) => ({ output_config: { effort: level } })
const adaptive = (level: string) => ({ thinking: { type: 'adaptive' }, ...effort(level) })
/** These models think by default. */
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
  // This model takes only a budget of tokens for thinking, and no effort.
  'claude-haiku-4-5': { sampling: true, withoutThinking: {}, efforts: {} },
}

/** Nothing is refused here for a model that is not in the list: its vendor knows what it takes. */
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
