import type { Test } from 'tap'
import type { Administration } from '../platform/setup.ts'
import type { Running } from '../process/parley.ts'
import type { Examples } from './run.ts'

/** The examples of the operations on rich messages. */
export async function compareRmsg(
  t: Test,
  examples: Examples,
  { parley, admin }: { parley: Running; admin: Administration },
): Promise<void> {
  const list = { operation: 'listRmsgNumbers' }
  examples.compare(t, await examples.send(parley, list), { example: 'listRmsgNumbers 200: local' })
  const none = await admin.organization('without rich messages', { scopes: ['rmsg'] })
  examples.compare(t, await examples.send(none, list), { example: 'RmsgForbidden: notEnabled' })
  const other = await admin.key(none.id)
  const fields = { rmsg: { enabled: true, mode: 'dedicated' } }
  const refused = await examples.send(other, { operation: 'createAgent', request: 'least', fields })
  examples.compare(t, refused, { example: 'Conflict: rmsg' })
  examples.compare(t, await examples.send(other, list), { example: 'RmsgForbidden: rmsgScope' })
}
