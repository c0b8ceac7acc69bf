/** The operator's commands on the database. The commands for the server are in serve.ts. */

import type { CatalogUpdate } from '../../cli/actions.ts'
import { type Admin, createAdmin, type Spending } from '../../cli/admin.ts'
import { UsageError } from '../../cli/command-error.ts'
import { endCalls } from '../../domain/calls/live/end-calls.ts'
import { defaultLanguage } from '../../domain/catalog/language.ts'
import { type KeyPolicy, roles, scopes } from '../../domain/records/organization.ts'
import type { SmsRegistries } from '../../domain/records/sms-registration.ts'
import { addToInventory, syncInventory } from '../../domain/rmsg/sync.ts'
import { shareCampaign } from '../../domain/sms/shared-campaign.ts'
import type { ParleyConfig } from '../../generated/config/types.ts'
import { PolicyError, policyFields, readKeyPolicy } from '../../handlers/key-policy.ts'
import { readCredits } from '../../handlers/platform/credits.ts'
import { readUsage } from '../../handlers/platform/usage.ts'
import { updateCatalog } from '../../providers/catalog/update.ts'
import { createLog } from '../../runtime/telemetry/log.ts'
import { systemClock, systemIds } from '../../runtime/timing/clock.ts'
import { isPhoneNumber } from '../../runtime/values/phone-number.ts'
import { backUp, restore } from '../../store/backup/backup-file.ts'
import { examineStore } from '../../store/examine.ts'
import { schemaVersion } from '../../store/migrations/migrate.ts'
import type { Store } from '../../store/store.ts'
import { type MessageProviders, openMessageProviders } from '../messages.ts'
import { businessVerificationsOf } from '../numbers.ts'
import { openSmsRegistries } from '../registries.ts'
import { masterKeyOrEmpty } from '../secrets.ts'
import { createSimulatedCarrier } from '../simulator.ts'
import { migrateStore, openCommandStore } from '../store.ts'
import { userLinksOf } from './user-links.ts'

export async function administer<Answer>(
  config: ParleyConfig,
  run: (admin: Admin) => Promise<Answer>,
): Promise<Answer> {
  const store = await openCommandStore(config)
  try {
    return await run(administrationOf(config, store))
  } finally {
    await store.close({ stopPostgres: true })
  }
}

export async function migrateDatabase(config: ParleyConfig): Promise<{ schema: number }> {
  await migrateStore(config)
  return { schema: schemaVersion }
}

function administrationOf(config: ParleyConfig, store: Store): Admin {
  return createAdmin(
    {
      ...store,
      verifications: businessVerificationsOf({ config, store, clock: systemClock, ids: systemIds }),
      campaigns: campaignsOf(config, store),
      spending: spendingOf(store),
      endCalls: endCallsOf(store),
      userLinks: userLinksOf(config, store),
      ...richNumbersOf(config, store),
    },
    { scopes, roles, isPhoneNumber, nowMs: () => systemClock.nowMs(), readPolicy, policyFields },
  )
}

/**
 * Returns a function to end an organization's calls in the serving processes. The serving processes answer with
 * database notifications (NOTIFY), so this process listens for them first. This process serves no calls, so it accepts
 * no commands.
 */
function endCallsOf({ calls, callCommands }: Store) {
  return async (organizationId: string) => {
    await callCommands.listen(() => null)
    return endCalls({ owned: (id) => calls.owned(id), commands: callCommands }, organizationId)
  }
}

function spendingOf({ usage, organizations, creditAccounts, keyBudgets }: Store): Spending {
  const deps = { usage, organizations, clock: systemClock }
  return {
    usage: (organizationId, query) => readUsage(deps, { organizationId, test: false }, query),
    credits: (organizationId, query) => readCredits(creditAccounts, keyBudgets, organizationId, query),
  }
}

/**
 * Makes a simulated carrier for one command. A simulator gives the same answers in every process, and this simulator
 * sends no events.
 */
const silentSimulator = () =>
  createSimulatedCarrier(
    { clock: systemClock, secrets: { masterKey: '' } },
    { providers: [], languageOf: () => Promise.resolve(defaultLanguage), webhookUrl: nowhere },
  )
const nowhere = () => 'http://127.0.0.1:9'

function campaignsOf(config: ParleyConfig, { sharedCampaign }: Store) {
  return {
    find: () => sharedCampaign.find(),
    clear: () => sharedCampaign.set(null),
    share: (campaign: { label: string; campaignId: string }) =>
      withCarriers(config, ({ registries }) => shareCampaign(sharedCampaign, registries.of({ test: false }), campaign)),
  }
}

function richNumbersOf(config: ParleyConfig, { rmsgInventory: inventory }: Store) {
  return {
    rmsgInventory: {
      ...inventory,
      add: (number: Parameters<typeof inventory.add>[0]) =>
        withCarriers(config, ({ registries }) =>
          addToInventory({ inventory, registry: registries.of(number) }, number),
        ),
    },
    syncRmsg: (test: boolean) =>
      withCarriers(config, async ({ providers, registries }) => {
        const provider = providers.of({ test })
        return provider && (await syncInventory({ inventory, provider, registry: registries.of({ test }) }, test))
      }),
  }
}

type Carriers = { providers: MessageProviders; registries: SmsRegistries }

async function withCarriers<T>(config: ParleyConfig, run: (carriers: Carriers) => Promise<T>): Promise<T> {
  const simulator = silentSimulator()
  const parts = { config, clock: systemClock }
  const providers = openMessageProviders(parts, simulator, nowhere)
  const registries = openSmsRegistries(parts, simulator)
  try {
    return await run({ providers, registries })
  } finally {
    await Promise.all([providers.close(), registries.close()])
    await simulator.close()
  }
}

function readPolicy(policy: unknown): KeyPolicy {
  try {
    return readKeyPolicy(policy)
  } catch (error) {
    throw error instanceof PolicyError ? new UsageError(`--policy: ${error.message}`) : error
  }
}

export function updateCatalogOf({ dataDir }: ParleyConfig, source: string): Promise<CatalogUpdate> {
  return updateCatalog(source, dataDir)
}

/** Checks the whole database. Like the two functions below, it starts the embedded Postgres for this time. */
export const examineDatabase = (config: ParleyConfig) =>
  examineStore(
    { ...optionsOf(config), log: createLog('silent'), progress: () => {} },
    { current: masterKeyOrEmpty(config), previous: config.previousMasterKeys },
  )

export const backUpDatabase = (config: ParleyConfig, file: string) => backUp(optionsOf(config), file)

export const restoreDatabase = (config: ParleyConfig, file: string) => restore(optionsOf(config), file)

function optionsOf({ databaseUrl, dataDir }: ParleyConfig) {
  return { databaseUrl, dataDir, log: createLog('warn'), clock: systemClock, progress: console.error }
}
