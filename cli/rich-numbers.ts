/** The operator's changes to rich-message numbers, with a message for each refusal. The store is passed in. */
import { CommandError, UsageError } from './command-error.ts'

export type RichNumberRow = {
  id: string
  e164: string
  providerIdentity: string
  organizationId: string | null
  agentId: string | null
  status: string
  smsStatus: string
}
type Named = { test: boolean; name: string }

/**
 * The store's methods that these commands use. If a method resolves with a text, it refuses, and the text is the
 * reason.
 */
export type RichNumberStore = {
  list(test: boolean, limit: number): Promise<RichNumberRow[]>
  add(number: { test: boolean; e164: string; providerIdentity: string }): Promise<RichNumberRow | 'exists'>
  assign(number: Named, organizationId: string): Promise<RichNumberRow | Refusal>
} & Record<NumberChange, (number: Named) => Promise<RichNumberRow | Refusal>>

export type NumberChange = 'unassign' | 'pause' | 'resume' | 'remove'
type Refusal = 'unknown' | 'no_organization' | 'assigned' | 'unavailable'

export type RichNumbers = {
  list(test: boolean): Promise<RichNumberRow[]>
  add(number: { test: boolean; e164: string; providerIdentity: string }): Promise<RichNumberRow>
  assign(number: Named, organization: string): Promise<RichNumberRow>
  change(number: Named, change: NumberChange): Promise<RichNumberRow>
  sync(test: boolean): Promise<SyncedNumbers>
}

export type SyncedNumbers = { changed: RichNumberRow[]; unknown: number }

type Words = {
  isPhoneNumber: (text: string) => boolean
  organizationId: (nameOrId: string) => Promise<string>
  /** Compares the rich-message numbers with the provider's numbers. Null if no provider is configured. */
  sync: (test: boolean) => Promise<SyncedNumbers | null>
}

const listMax = 10_000
const identityCharactersMax = 256

export function createRichNumbers(store: RichNumberStore, { isPhoneNumber, organizationId, sync }: Words): RichNumbers {
  return {
    list: (test) => store.list(test, listMax),
    async add(number) {
      if (!isPhoneNumber(number.e164))
        throw new UsageError(`${number.e164} is no phone number in E.164, as +14155550123`)
      if (number.providerIdentity.trim() === '' || number.providerIdentity.length > identityCharactersMax)
        throw new UsageError(`--identity takes 1 to ${identityCharactersMax} characters`)
      const added = await store.add(number)
      if (added === 'exists') throw new CommandError(`${number.e164} or its identity is in the inventory already`)
      return added
    },
    assign: async (number, organization) =>
      changed(await store.assign(number, await organizationId(organization)), number, organization),
    async sync(test) {
      const synced = await sync(test)
      if (synced === null)
        throw new CommandError(
          'live keys have no provider of rich messages; carrier.telnyx.messagingProfileId names one',
        )
      return synced
    },
    change: async (number, change) => changed(await store[change](number), number, null),
  }
}

function changed(outcome: RichNumberRow | Refusal, { name }: Named, organization: string | null): RichNumberRow {
  switch (outcome) {
    case 'unknown':
      throw new CommandError(`there is no rich-message number ${name}; "parley rmsg list" shows all`)
    case 'no_organization':
      throw new CommandError(`there is no organization ${organization ?? ''}`)
    case 'assigned':
      throw new CommandError(
        `${name} is in the pool of ${organization === null ? 'an' : 'another'} organization; unassign it first`,
      )
    case 'unavailable':
      throw new CommandError(`the provider has lost ${name}, so that it can be neither paused nor resumed`)
    default:
      return outcome
  }
}
