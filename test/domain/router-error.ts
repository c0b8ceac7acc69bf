import type { Fault } from '../../domain/records/fault.ts'
import { routerPlaces } from '../../handlers/faults/places.ts'
import { createFaultWriter } from '../../handlers/faults/writer.ts'
import { silent } from '../store/cluster.ts'

type RouterError = { code: string; message: string; hint: string; param?: string }

const write = createFaultWriter({
  log: silent,
  count: () => {},
  headerPrefix: 'Service',
  contract: '/router/openapi.json',
  hasIdempotencyKeys: true,
  places: routerPlaces,
})

/** Returns the router API's error for a fault. */
export function routerError(fault: Fault): RouterError {
  return (JSON.parse(write(fault, 'req_1').body) as { error: RouterError }).error
}
