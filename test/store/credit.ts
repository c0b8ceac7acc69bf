import type { Store } from '../../store/store.ts'

/** Returns the credit, after a check that all movements add up to it. */
export async function creditOf({ creditAccounts }: Pick<Store, 'creditAccounts'>, organizationId: string) {
  let after: Parameters<typeof creditAccounts.read>[2] = null
  let sum = 0
  for (;;) {
    const account = await creditAccounts.read(organizationId, 100, after)
    if (account === null) throw new Error(`no organization ${organizationId}`)
    for (const { microUsd } of account.movements) sum += microUsd
    after = account.next
    if (after !== null) continue
    const { creditMicroUsd, reservedMicroUsd } = account
    if (sum === creditMicroUsd + reservedMicroUsd) return creditMicroUsd
    throw new Error(
      `the movements add up to ${sum}, and the credit is ${creditMicroUsd} with ${reservedMicroUsd} reserved`,
    )
  }
}
