/** Compares the inventory with the provider: a number that the provider has lost is unavailable until it is there again. */
import { RichMessageError, type RichMessageProvider } from '../ports/rich-messages.ts'
import type { RmsgInventory } from './inventory.ts'
import type { RmsgNumber } from './numbers.ts'

export type Synced = {
  /** The numbers whose status has changed, as they are now. */
  changed: RmsgNumber[]
  /** They were not asked about, because the provider does not answer. */
  unknown: number
}

const numbersMax = 10_000
const atOnce = 8

export async function syncInventory(
  inventory: Pick<RmsgInventory, 'list' | 'mark'>,
  provider: Pick<RichMessageProvider, 'has'>,
  test: boolean,
): Promise<Synced> {
  const left = await inventory.list(test, numbersMax)
  const synced: Synced = { changed: [], unknown: 0 }
  const work = async () => {
    for (let number = left.shift(); number !== undefined; number = left.shift()) {
      const isThere = await has(provider, number)
      if (isThere === null) synced.unknown += 1
      else if (isThere !== (number.status !== 'unavailable')) {
        const marked = await inventory.mark({ test, name: number.id }, isThere)
        if (marked !== 'unknown') synced.changed.push(marked)
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return synced
}

/** Null: the provider does not answer. */
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
