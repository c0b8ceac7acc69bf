/** Phone numbers at Telnyx: search, number orders, release. The simulator has the same API at another base URL. */
import {
  type NumberCarrier,
  NumberCarrierError,
  type NumberOrder,
  type NumberSearch,
  type OfferedNumber,
} from '../../domain/ports/number-carrier.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { CancelSignal, Clock } from '../../domain/ports/system.ts'
import { createHttpTransport, json, type VendorHttp } from '../wire/http.ts'
import { isObject, type JsonObject } from '../wire/json.ts'
import { codesIn, telnyxLimits, telnyxWire } from './wire.ts'

export type TelnyxNumberOptions = {
  /** The API's base URL with the version, without a slash at the end. */
  baseUrl: string
  apiKey: string
  /** The id of the Call Control application that receives calls to the numbers. */
  connectionId: string
  /** The time limit for a request. */
  requestMs: number
  clock: Clock
}

const never: CancelSignal = { aborted: false, reason: null, addEventListener() {}, removeEventListener() {} }
const nanoUsdPerUsd = 1e9
const nanoUsdPerMicroUsd = 1000
/** Telnyx' error code for "Phone number not available". */
const unavailableCode = '85006'

export function createTelnyxNumbers(options: TelnyxNumberOptions): NumberCarrier & { close(): Promise<void> } {
  const { baseUrl, apiKey, connectionId, requestMs, clock } = options
  const limits = { ...telnyxLimits(requestMs), firstByteMs: requestMs, idleMs: requestMs, totalMs: requestMs }
  const transport = createHttpTransport({ baseUrl, wire: telnyxWire, limits, clock })
  const http = transport.signedWith(apiKey)
  return {
    search: (criteria) => offersOf(http, searchQuery(criteria)),
    async offerOf(e164) {
      const offers = await offersOf(http, ofNumber(e164))
      return offers.find((offer) => offer.e164 === e164) ?? null
    },
    async order(e164, reference) {
      const body = {
        phone_numbers: [{ phone_number: e164 }],
        connection_id: connectionId,
        customer_reference: reference,
      }
      const { data } = await http
        .post('/number_orders', json(body), never)
        .catch((error: unknown) => orderAfter(http, reference, error))
      return orderIn(data)
    },
    async findOrder({ id, reference }) {
      if (id === null) {
        const order = await orderWith(http, reference)
        return order === null ? null : orderIn(order)
      }
      const answer = await http.get(`/number_orders/${encodeURIComponent(id)}`, never).catch(unlessGone)
      return answer === undefined ? null : orderIn(answer['data'])
    },
    async resourceIdOf(e164) {
      const { data } = await get(http, `/phone_numbers${query({ 'filter[phone_number]': e164.slice(1) })}`)
      const owned = listOf(data).find((number) => number['phone_number'] === e164)
      return textOrNull(owned?.['id'])
    },
    release: (resourceId) => http.remove(`/phone_numbers/${encodeURIComponent(resourceId)}`, never).catch(unlessGone),
    close: () => transport.close(),
  }
}

function searchQuery({ areaCode, locality, limit }: NumberSearch): string {
  return query({
    'filter[country_code]': 'US',
    ...(areaCode !== null && { 'filter[national_destination_code]': areaCode }),
    ...(locality !== null && { 'filter[locality]': locality }),
    'filter[limit]': String(limit),
  })
}

/**
 * Returns the query to find one number. With an area code in the query, the carrier matches the pattern against the
 * rest of the number.
 */
function ofNumber(e164: string): string {
  return query({
    'filter[country_code]': 'US',
    'filter[national_destination_code]': e164.slice(2, 5),
    'filter[phone_number][ends_with]': e164.slice(5),
    'filter[limit]': '1',
  })
}

const query = (fields: Record<string, string>) => `?${new URLSearchParams(fields).toString()}`

async function offersOf(http: VendorHttp, queryString: string): Promise<OfferedNumber[]> {
  const { data } = await get(http, `/available_phone_numbers${queryString}`)
  return listOf(data).flatMap((row) => {
    const e164 = textOrNull(row['phone_number'])
    return e164 === null ? [] : [offerIn(e164, row)]
  })
}

function offerIn(e164: string, row: JsonObject): OfferedNumber {
  const cost = isObject(row['cost_information']) ? row['cost_information'] : {}
  const regions = listOf(row['region_information'])
  const regionOf = (type: string) =>
    textOrNull(regions.find((region) => region['region_type'] === type)?.['region_name'])
  return {
    e164,
    upfrontMicroUsd: microUsdOf(cost, 'upfront_cost'),
    monthlyMicroUsd: microUsdOf(cost, 'monthly_cost'),
    features: listOf(row['features']).flatMap(({ name }) => (typeof name === 'string' ? [name] : [])),
    region: { state: regionOf('state'), locality: regionOf('location'), rateCenter: regionOf('rate_center') },
  }
}

function microUsdOf(cost: JsonObject, name: string): number | null {
  const text = cost[name]
  if (cost['currency'] !== 'USD' || typeof text !== 'string' || !/^\d{1,6}(\.\d{1,9})?$/.test(text)) return null
  // Rounds to whole nano-USD first. Otherwise 4.03 USD would become 4,030,001 micro-USD, because binary fractions are
  // not exact.
  return Math.ceil(Math.round(Number(text) * nanoUsdPerUsd) / nanoUsdPerMicroUsd)
}

function orderIn(data: unknown): NumberOrder {
  const order = isObject(data) ? data : {}
  const { id } = order
  const status = statuses[String(order['status'])]
  if (typeof id === 'string' && status !== undefined) return { id, status }
  throw new NumberCarrierError('unknown', { cause: new Error('the answer is no order') })
}

const statuses: Readonly<Record<string, NumberOrder['status']>> = {
  pending: 'pending',
  success: 'done',
  failure: 'failed',
}

function get(http: VendorHttp, path: string): Promise<JsonObject> {
  return http.get(path, never).catch((error: unknown) => {
    throw new NumberCarrierError('failed', { cause: withoutText(error) })
  })
}

async function orderWith(http: VendorHttp, reference: string): Promise<JsonObject | null> {
  const { data } = await get(http, `/number_orders${query({ 'filter[customer_reference]': reference })}`)
  return listOf(data)[0] ?? null
}

/**
 * Searches for the order after a server error, because the failing server may already have made the order. Without this
 * search, the number could be bought at the carrier but belong to no organization here.
 */
async function orderAfter(http: VendorHttp, reference: string, error: unknown): Promise<JsonObject> {
  if (!(error instanceof ProviderError) || (error.status ?? 0) < 500) return rejectOrder(error)
  const order = await orderWith(http, reference).catch(() => {
    throw new NumberCarrierError('unknown', { cause: withoutText(error) })
  })
  return order === null ? rejectOrder(error) : { data: order }
}

/**
 * Throws the error for a failed order. If the request got no response, the error states that the order may have been
 * made.
 */
function rejectOrder(error: unknown): never {
  const cause = withoutText(error)
  if (!(error instanceof ProviderError)) throw new NumberCarrierError('unknown', { cause })
  if (error.status === 422 && codesIn(error.cause).includes(unavailableCode))
    throw new NumberCarrierError('unavailable', { cause })
  const isRefused = !error.sent || error.status !== undefined
  throw new NumberCarrierError(isRefused ? 'failed' : 'unknown', { cause })
}

function unlessGone(error: unknown): undefined {
  if (error instanceof ProviderError && error.status === 404) return undefined
  throw new NumberCarrierError('failed', { cause: withoutText(error) })
}

/** Keeps only the codes in a carrier's error, because the error's text repeats phone numbers. */
function withoutText(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error
  return new Error(`${error.errorClass}, status ${error.status}, codes ${codesIn(error.cause).join(' ')}`)
}

const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const textOrNull = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)
