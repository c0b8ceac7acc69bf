/** The platform API's messages for faults when an organization tries tools, or checks SIP connections or providers. */
import type { ResourceFaultData, TrialSubject } from '../../domain/records/resource-fault.ts'
import type { Said } from './said.ts'

const kinds = { too_many_trials: true, checks_under_way: true, provider_check_impossible: true } as const
type TrialFault = Extract<ResourceFaultData, { kind: keyof typeof kinds }>

export function isOfTrial(data: ResourceFaultData): data is TrialFault {
  return Object.hasOwn(kinds, data.kind)
}

export function sayTrialFault(data: TrialFault): Said {
  switch (data.kind) {
    case 'too_many_trials':
      return {
        code: 'RATE_LIMITED',
        message: `The organization has ${trialWords[data.subject]} too often in the last minute.`,
        retryAfterS: data.retryAfterS,
      }
    case 'checks_under_way':
      return {
        code: 'RATE_LIMITED',
        message: `${data.checksMax} checks of providers by the organization are under way.`,
        hint: 'Repeat the request when one of them has ended.',
        retryAfterS: 1,
      }
    case 'provider_check_impossible':
      return { code: 'NOT_FOUND', ...checkImpossible[data.because] }
  }
}

type CheckImpossible = Extract<TrialFault, { kind: 'provider_check_impossible' }>

const checkImpossible: Readonly<Record<CheckImpossible['because'], { message: string; hint: string }>> = {
  no_key: {
    message: 'Neither this organization nor this server has a key for such a provider.',
    hint: 'GET /v1/providers shows where there is one: configured is true there.',
  },
  no_models: {
    message: 'This provider offers no models now, so it cannot be checked.',
    hint: 'GET /v1/providers lists the providers with models. Parley looks for Ollama only when Parley starts.',
  },
  test_key: {
    message: 'This is a test key. A test key reaches no provider, so it cannot check one.',
    hint: 'Use a live key.',
  },
}

const trialWords: Readonly<Record<TrialSubject, string>> = {
  tool: 'tried its tools',
  sip_connection: 'checked its SIP connections',
  provider: 'checked providers',
}
