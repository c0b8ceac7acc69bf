/** The outcome of a provider check as a sentence, which the command line and the console show as it is. */
import { type CheckOutcome, type ProviderCheck, refusedMin } from '../../domain/dispatch/check-provider.ts'

export function sayProviderCheck({ outcome, proves, providerStatus }: ProviderCheck): string {
  if (outcome !== 'succeeded') return failures[outcome]
  if (proves === 'address')
    return 'The server answers. It may show its models to everyone, so this does not prove the key.'
  return providerStatus !== null && providerStatus >= refusedMin
    ? 'The provider knows the key, but the key may not send the request of this check.'
    : 'The provider accepts the key.'
}

const failures: Readonly<Record<Exclude<CheckOutcome, 'succeeded'>, string>> = {
  auth: 'The provider refuses the key.',
  quota: 'The provider knows the key, but the account has no credit or no plan for it.',
  rate_limited: 'The provider takes no more requests now.',
  overloaded: 'The provider, or this server’s connections to it, take no more requests now.',
  timeout: 'The provider does not answer.',
  unreachable: 'This server cannot connect to the provider.',
  server: 'The provider failed.',
  bad_request: 'The API of the provider does not have this request.',
  protocol: 'The answer is not of the API of the provider.',
}
