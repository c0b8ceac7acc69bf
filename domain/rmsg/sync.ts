/**
 * Compares the inventory with the provider and with the text-message registry. If the provider does not have a number
 * any more, the number is unavailable until the provider has it again. If the registry has assigned the number to a
 * campaign, SMS is ready.
 */
import { RichMessageError, type RichMessageProvider } from '../ports/rich-messages.ts'
import type { SmsRegistry } from '../ports/sms-registry.ts'
import type { NewRmsgNumber, RmsgInventory } from './inventory.ts'
import type { RmsgNumber } from './numbers.ts'
import { readSmsStatus } from './sms-status.ts'

export type SyncDeps = {
  inventory: Pick<RmsgInventory, 'list' | 'observe'>
  provider: Pick<RichMessageProvider, 'has'>
  registry: Pick<SmsRegistry, 'findAssignment'>
}

export type Synced = {
  /** Changed numbers, with their new values. */
  changed: RmsgNumber[]
  /** Counts the numbers without an answer from the provider or the registry. */
  unknown: number
}

const numbersMax = 10_000
const atOnce = 8

export async function syncInventory(deps: SyncDeps, test: boolean): Promise<Synced> {
  const left = await deps.inventory.list(test, numbersMax)
  const synced: Synced = { changed: [], unknown: 0 }
  const work = async () => {
    for (let number = left.shift(); number !== undefined; number = left.shift()) await syncOne(deps, number, synced)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return synced
}

/** Adds a number. If the registry does not answer now, the next comparison sets the SMS status. */
export async function addToInventory(
  { inventory, registry }: Pick<SyncDeps, 'registry'> & { inventory: Pick<RmsgInventory, 'add' | 'observe'> },
  number: NewRmsgNumber,
): Promise<RmsgNumber | 'exists'> {
  const added = await inventory.add(number)
  if (added === 'exists') return 'exists'
  const smsStatus = await readSmsStatus(registry, number.e164)
  const now = await inventory.observe({ test: number.test, name: added.id }, { isThere: null, smsStatus })
  return now === 'unknown' ? added : now
}

async function syncOne({ inventory, provider, registry }: SyncDeps, number: RmsgNumber, synced: Synced): Promise<void> {
  const { test, id, e164 } = number
  const [isThere, smsStatus] = await Promise.all([has(provider, number), readSmsStatus(registry, e164)])
  if (isThere === null || smsStatus === null) synced.unknown += 1
  const now = await inventory.observe({ test, name: id }, { isThere, smsStatus })
  if (now !== 'unknown' && (now.status !== number.status || now.smsStatus !== number.smsStatus))
    synced.changed.push(now)
}

/** Asks the provider for the number. Returns null if the provider does not answer. */
async function has(
  provider: Pick<RichMessageProvider, 'has'>,
  { providerIdentity }: RmsgNumber,
): Promise<boolean | null> {
  try {
    return await provider.has(providerIdentity)
  } catch (error) {
    if (error instanceof RichMessageError) return null
    throw error
  }
}
