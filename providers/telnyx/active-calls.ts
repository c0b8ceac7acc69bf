/** Searches the account's open calls for a leg: `GET /connections/{connection_id}/active_calls`. */
import type { LegRef } from '../../domain/ports/phone-line.ts'
import type { CancelSignal } from '../../domain/ports/system.ts'
import type { VendorHttp } from '../wire/http.ts'
import { isObject, type JsonObject } from '../wire/json.ts'
import { legIdOf } from './client-state.ts'
import { type InTimeOptions, inTime } from './in-time.ts'

const perPage = 100
/** If a connection has more open calls than these pages hold, the search stops. */
const pagesMax = 50
const never: CancelSignal = { aborted: false, reason: null, addEventListener() {}, removeEventListener() {} }

/** Returns the open call for a leg. Rejects with PhoneLineError. */
export async function findActive(
  options: InTimeOptions & { connectionId: string },
  http: Pick<VendorHttp, 'get'>,
  legId: string,
): Promise<LegRef | null> {
  let after: string | null = null
  for (let page = 0; page < pagesMax; page++) {
    const answer: JsonObject = await inTime(options, http.get(pathOf(options.connectionId, after), never))
    const carrierLegId = idIn(answer, legId)
    if (carrierLegId !== null) return { legId, carrierLegId }
    after = cursorOf(answer)
    if (after === null) return null
  }
  return null
}

function pathOf(connectionId: string, after: string | null): string {
  const query = new URLSearchParams({ 'page[limit]': String(perPage), ...(after !== null && { 'page[after]': after }) })
  return `/connections/${encodeURIComponent(connectionId)}/active_calls?${query.toString()}`
}

function idIn({ data }: JsonObject, legId: string): string | null {
  const calls = Array.isArray(data) ? data.filter(isObject) : []
  const id = calls.find((call) => legIdOf(call['client_state']) === legId)?.['call_control_id']
  return typeof id === 'string' ? id : null
}

/** Returns the next page's cursor. The last page has no `next`. */
function cursorOf({ meta }: JsonObject): string | null {
  if (!isObject(meta) || typeof meta['next'] !== 'string' || !isObject(meta['cursors'])) return null
  const { after } = meta['cursors']
  return typeof after === 'string' ? after : null
}
