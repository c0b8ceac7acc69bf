import type { Places } from './table.ts'

/** The places of surfaces whose requests name a model by one string. */
export const compatPlaces: Places = {
  language: '/language',
  text: '/input',
  model: '/model',
  pinnedModel: '/model',
  allowedProviders: '/constraints/allowedProviders',
  deniedProviders: null,
  options: '/options/provider_options',
  namesModel: true,
}

/** The places of the router surface, whose requests have a routing object. */
export const routerPlaces: Places = {
  ...compatPlaces,
  namesModel: false,
  pinnedModel: '/routing/model',
  allowedProviders: '/routing/allow_providers',
  deniedProviders: '/routing/deny_providers',
}
