import type { Places } from './table.ts'

/** The places of surfaces whose requests name a model by one string. */
export const compatPlaces: Places = {
  language: '/language',
  text: '/input',
  model: '/model',
  pinnedModel: '/routing/model',
  allowedProviders: '/constraints/allowedProviders',
  deniedProviders: null,
  options: '/options/provider_options',
}

/** The places of the router surface, whose requests have a routing object. */
export const routerPlaces: Places = {
  ...compatPlaces,
  allowedProviders: '/routing/allow_providers',
  deniedProviders: '/routing/deny_providers',
}
