/**
 * Requests that our adapters send, but that the carrier's document may lack if it is only a part. The mock answers them
 * from this list, so only test/vendors/telnyx/sdk.test.ts, with the carrier's client, proves their form. The test fails
 * if an entry is in the document, or if no adapter sends it any more.
 */
import type { Json } from './openapi-document.ts'

export type LackingOperation = { method: string; path: string; reason: string; answer: Json }

export const lackingOperations: readonly LackingOperation[] = [
  {
    method: 'post',
    path: '/calls/{call_control_id}/actions/reject',
    reason: 'the common part of the document was cut to the other commands of calls',
    answer: { data: { result: 'ok' } },
  },
  {
    method: 'get',
    path: '/connections/{connection_id}/active_calls',
    reason: 'the common part of the document has no connections',
    answer: { data: [], meta: { cursors: {}, next: null } },
  },
  {
    method: 'get',
    path: '/number_orders/{number_order_id}',
    reason: 'the common part of the document has orders as a list alone',
    answer: { data: { id: '12ade33a-21c0-473b-b055-b3c836e1c292', status: 'success' } },
  },
  {
    method: 'delete',
    path: '/phone_numbers/{id}',
    reason: 'the common part of the document has phone numbers as a list alone',
    answer: { data: { id: '1293384261075731499', status: 'deleted' } },
  },
  {
    method: 'get',
    path: '/10dlc/campaign',
    reason: 'the common part of the document has no list of campaigns',
    answer: { page: 1, totalRecords: 1, records: [{ campaignId: 'c1', brandId: 'b1', referenceId: 'r1' }] },
  },
  {
    method: 'get',
    path: '/messaging/rcs/agents/{id}',
    reason: 'the common part of the document has no agents of RCS',
    answer: { data: { agent_id: 'Agent007', enabled: true } },
  },
]
