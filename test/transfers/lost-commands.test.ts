/**
 * If the database fails while a transfer command goes to the process that runs the call, the client must not repeat its
 * request.
 */
import t from 'tap'
import { Fault } from '../../domain/records/fault.ts'
import { AskTransfers } from '../../domain/transfers/ask-transfers.ts'
import { newCall } from '../calls/call.ts'
import { caller } from '../domain/fakes.ts'

const user = caller({}, { test: true })
const phone = {
  direction: 'inbound',
  from: null,
  to: '+15005550101',
  forwardedFrom: null,
  phoneNumberId: 'pn_1',
  legId: 'leg_1',
} as const
const call = newCall(user.organization.id, { test: true, status: 'in_progress', ownerId: 'other', phone })

function asking(send: () => Promise<null>): AskTransfers {
  return new AskTransfers({
    calls: { find: () => Promise.resolve(call) },
    transfers: { find: () => Promise.resolve(null), list: () => Promise.resolve([]) },
    numbers: { outboundFor: () => Promise.resolve('none') },
    credit: { refusal: () => Promise.resolve(null) },
    live: { command: () => Promise.reject(new Error('not here')), decided: () => Promise.resolve() },
    commands: { send },
    ownerId: 'this',
    rules: { isPhoneNumber: () => true, hosts: { placeOf: () => 'public', allowsAny: false, isBadPort: () => false } },
  })
}

const begin = (send: () => Promise<null>) => asking(send).warm(user, call.id, { to: '+15005550017', from: null })

t.test('if the database fails after a command may have been stored, the idempotency key counts as used', async (t) => {
  const away = () => Promise.reject(new Fault({ kind: 'store_unreachable' }, { retryAfterS: 1 }))
  t.match(await begin(away).catch((error: unknown) => error), {
    kind: 'store_unreachable',
    detail: { isKeySpent: true, retryAfterS: 1 },
  })
})

t.test('if no process has taken a transfer command, the client may repeat its request', async (t) => {
  const error = await begin(() => Promise.resolve(null)).catch((thrown: unknown) => thrown)
  t.match(error, { kind: 'overloaded', detail: { retryAfterS: 1 } })
  t.notMatch(error, { detail: { isKeySpent: true } })
})
