/** The phone numbers of an organization: how they are listed and set. */
import type { Tenant } from '../access/organization.ts'
import type { Clock } from '../ports/system.ts'
import { found, type Issue, ResourceFault, refuseIssues } from '../resource-fault.ts'
import type { SessionRules } from '../sessions/check.ts'
import { issuesOfTemplate } from './check-template.ts'
import type { NumberChange, PhoneNumber, PhoneNumberStore } from './phone-number.ts'
import { hasAnswer } from './setup-status.ts'

/** A list has no pages. */
const listedMax = 1_000

export type PhoneNumberDeps = { store: PhoneNumberStore; rules: SessionRules; clock: Clock }

/** Every operation throws ResourceFault. */
export type PhoneNumbers = {
  /** Oldest first. */
  list(tenant: Tenant): Promise<PhoneNumber[]>
  get(tenant: Tenant, id: string): Promise<PhoneNumber>
  /** Calls that are under way keep their settings. */
  change(tenant: Tenant, id: string, change: NumberChange): Promise<PhoneNumber>
}

export function createPhoneNumbers({ store, rules, clock }: PhoneNumberDeps): PhoneNumbers {
  return {
    list: (tenant) => store.list(tenant, listedMax),
    get: async (tenant, id) => found(await store.find(tenant, id)),
    async change(tenant, id, change) {
      refuseIssues(await issuesOfChange(change, rules))
      if (Object.keys(change).length === 0) return found(await store.find(tenant, id))
      const changed = await store.change(tenant, id, (number) => {
        const whole = { ...number, ...change, updatedAtMs: clock.nowMs() }
        refuseIssues(issuesOfWhole(whole))
        return whole
      })
      if (changed === 'agent_unknown') throw new ResourceFault({ kind: 'named_not_found', path: ['agentId'] })
      return found(changed)
    },
  }
}

async function issuesOfChange({ dispatchMetadataTemplate }: NumberChange, rules: SessionRules): Promise<Issue[]> {
  if (dispatchMetadataTemplate === undefined || dispatchMetadataTemplate === null) return []
  return issuesOfTemplate(['dispatchMetadataTemplate'], dispatchMetadataTemplate, rules)
}

/** A number that takes calls needs something that answers them. */
function issuesOfWhole(number: PhoneNumber): Issue[] {
  if (number.direction === 'outbound' || hasAnswer(number)) return []
  return [{ path: ['dispatchMetadataTemplate'], problem: { kind: 'answer_missing' } }]
}
