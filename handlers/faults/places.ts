import type { Places } from './row.ts'

/** JSON pointers to request fields, for error messages. In these APIs a request names a model by one string. */
export const compatPlaces: Places = {
  language: '/language',
  text: '/input',
  model: '/model',
  pinnedModel: '/model',
  allowedProviders: '/constraints/allowedProviders',
  deniedProviders: null,
  options: '/options/provider_options',
  idempotencyKey: null,
  namesModel: true,
  asks: { tools: '/tools', structured_output: '/response_format', voice: '/voice' },
}

/**
 * JSON pointers to request fields, for the router API's error messages. A request has a `routing` object, so a pinned
 * model is at /routing/model. Two entries are names: a header and a form field.
 */
export const routerPlaces: Places = {
  ...compatPlaces,
  namesModel: false,
  pinnedModel: '/routing/model',
  allowedProviders: '/routing/allow_providers',
  idempotencyKey: 'Idempotency-Key',
  deniedProviders: '/routing/deny_providers',
  asks: {
    tools: '/tools',
    structured_output: '/response_format',
    reasoning: '/reasoning',
    diarization: '/options/diarization',
    keywords: '/options/keywords',
    noise_reduction: '/options/noise_reduction',
    word_timestamps: '/options/word_timestamps',
    prompt: '/options/prompt',
    instructions: '/instructions',
    speed: '/speed',
    streaming: '/stream',
    language: '/language',
    voice: '/voice',
    recording: 'audio',
    speech: '/audio',
  },
}
