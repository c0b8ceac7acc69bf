/** A transfer may only show the recipient a number from which the call's phone line can call. */
import t from 'tap'
import type { CallableNumber } from '../../domain/records/callable-number.ts'
import { Fault } from '../../domain/records/fault.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import type { TransferSettings } from '../../domain/records/transfer.ts'
import { AskTransfers } from '../../domain/transfers/ask-transfers.ts'
import { CallTransfers } from '../../domain/transfers/call-transfers.ts'
import { newCall } from '../calls/call.ts'
import { caller } from '../domain/fakes.ts'

const user = caller({}, { test: true })
const number = (e164: string, connectionId: string | null): CallableNumber => ({
  ...{ organizationId: user.organization.id, test: true, id: e164, e164, connectionId },
  source: connectionId === null ? 'managed' : 'sip_trunk',
  ...{ direction: 'both', agentId: null, dispatchMetadataTemplate: null },
})
const numbers = [
  number('+15005550101', null),
  number('+15005550102', null),
  number('+15005550201', 'sip_a'),
  number('+15005550202', 'sip_b'),
]

/** Returns the transfers of a call over this connection. The conversation has ended, so no transfer really begins. */
function holderOf(connectionId: string | null): CallTransfers {
  const phone = {
    isOver: false,
    conversation: null,
    leg: { connectionId },
    record: { stored: () => Promise.resolve() },
  }
  return new CallTransfers({ phones: { find: () => phone } } as never)
}

/**
 * Starts a transfer from `from` to `to`. Returns the number shown to the recipient and the trunk, or the issues if the
 * transfer is refused.
 */
async function startedFrom(to: string, from: string | null) {
  const phone = {
    direction: 'inbound',
    from: null,
    to,
    forwardedFrom: null,
    phoneNumberId: to,
    legId: 'leg_1',
  } as const
  const call = newCall(user.organization.id, { test: true, status: 'in_progress', ownerId: 'this', phone })
  const wanted: TransferSettings[] = []
  const of = (id: string) => numbers.find((each) => each.id === id)
  const ask = new AskTransfers({
    calls: { find: () => Promise.resolve(call) },
    transfers: { find: () => Promise.resolve(null), list: () => Promise.resolve([]) },
    numbers: {
      outboundFor: (_tenant, _agentId, asked) => Promise.resolve(of(asked ?? '') ?? 'none'),
    },
    credit: { refusal: () => Promise.resolve(null) },
    live: {
      command(tenant, callId, command) {
        if (command.action === 'start') wanted.push(command.wanted)
        return holderOf(of(to)?.connectionId ?? null).command(tenant, callId, command)
      },
      decided: () => Promise.resolve(),
    },
    commands: { send: () => Promise.resolve(null) },
    ownerId: 'this',
    rules: { isPhoneNumber: () => true, hosts: { placeOf: () => 'public', allowsAny: false, isBadPort: () => false } },
  })
  try {
    await ask.warm(user, call.id, { to: '+15005550017', from })
  } catch (error) {
    if (!(error instanceof ResourceFault) && !(error instanceof Fault)) throw error
    if (error.data.kind === 'invalid') return error.data.issues
  }
  const [started] = wanted
  const { isNumberOfCall, outboundTrunkId } = started ?? {}
  return { from: started?.from, isNumberOfCall, outboundTrunkId }
}

t.test("if `from` is another number of the same carrier or trunk, the leg uses that number's trunk", async (t) => {
  const cases = [
    ['+15005550101', '+15005550102', null],
    ['+15005550201', '+15005550202', 'sip_b'],
  ] as const
  for (const [to, from, outboundTrunkId] of cases)
    t.same(await startedFrom(to, from), { from, isNumberOfCall: false, outboundTrunkId })
})

t.test("if `from` is omitted or is the call's own number, the leg uses the call's connection", async (t) => {
  const to = '+15005550201'
  const kept = { from: to, isNumberOfCall: true, outboundTrunkId: null }
  t.same(await startedFrom(to, null), kept)
  t.same(await startedFrom(to, to), kept)
  t.same(await startedFrom('+15005550299', null), { ...kept, from: '+15005550299' }, 'a number that is gone')
})

t.test("a SIP trunk's number in `from` is refused in a carrier call, and a carrier's in a trunk call", async (t) => {
  const issues = [{ path: ['from'], problem: { kind: 'number_of_other_line' } }]
  t.same(await startedFrom('+15005550101', '+15005550201'), issues, 'a trunk, from a call over the carrier')
  t.same(await startedFrom('+15005550201', '+15005550101'), issues, 'the carrier, from a call over a trunk')
})
