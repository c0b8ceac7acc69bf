import { SmsRegistryError } from '../ports/sms-registry.ts'
import { ResourceFault } from '../records/resource-fault.ts'

/**
 * Asks the carrier and returns its answer. If the carrier refuses or its answer is wrong, `refused` is called to store
 * the reasons. Then this throws ResourceFault `sms_carrier_failed`.
 */
export async function askCarrier<Answer>(
  of: 'brand' | 'campaign' | 'vetting' | 'number',
  ask: () => Promise<Answer>,
  refused: (error: SmsRegistryError) => Promise<unknown> = () => Promise.resolve(),
): Promise<Answer> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof SmsRegistryError)) throw error
    await refused(error)
    throw new ResourceFault({ kind: 'sms_carrier_failed', of }, { cause: error })
  }
}
