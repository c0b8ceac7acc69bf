/** What the models take, as data. They differ in what a request may say of sampling, thinking and forced tools. */
import { noCapabilities } from '../../domain/catalog/model.ts'
import type { VendorModel } from '../adapter.ts'

export type Traits = {
  /** Takes `temperature` and `top_p`. Later models refuse all but the default. */
  sampling: boolean
  /** Fields of a request under which the model does not think; null: it cannot be kept from it. Only then may a tool be forced. */
  withoutThinking: object | null
  /** What an effort is in fields of a request. Absent: refused. */
  efforts: Partial<Record<string, object>>
}

const effort = (level: string) => ({ output_config: { effort: level } })
const adaptive = (level: string) => ({ thinking: { type: 'adaptive' }, ...effort(level) })
/** These think unless they are told not to. */
const thinker = {
  minimal: effort('low'),
  low: effort('low'),
  medium: effort('medium'),
  high: effort('high'),
  xhigh: effort('xhigh'),
}

const traits: Partial<Record<string, Traits>> = {
  'claude-haiku-5-5': { sampling: false, withoutThinking: { thinking: { type: 'disabled' } }, efforts: thinker },
  'claude-sonnet-5-5': { sampling: false, withoutThinking: null, efforts: thinker },
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
  // Thinks by a budget of tokens only, which no effort names.
  'claude-haiku-4-5': { sampling: true, withoutThinking: {}, efforts: {} },
}

export function traitsOf(model: string): Traits | undefined {
  return traits[model]
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
  regions: ['global'],
  audioFormats: [],
  voices: [],
  providerOptions: [],
}))
