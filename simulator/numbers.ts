/**
 * The carrier's phone numbers for sale: 555-0100 to 555-0199 in each area code. An order's id contains its number and
 * its time, so every process gives the same answer for an order, even after a restart.
 *
 *   …0197 is pending and fails after 5 s   …0198 is pending and succeeds after 5 s   …0199 is refused
 */
import { randomBytes } from 'node:crypto'
import { forgetOldest } from './bounded-memory.ts'
import { type Fields, isFields, textOrNull } from './fields.ts'
import type { SimulatorClock } from './media/clock.ts'
import { invalid, missing, notFound, Refusal } from './refusal.ts'

const sold = /^\+1([2-9]\d{2})55501(\d{2})$/
const emptyArea = '999'
const usualArea = '212'
const usualLimit = 10
const limitMax = 100
const pendingMs = 5000

type Order = { id: string; number: string; createdAtMs: number; reference: string | null; connectionId: string | null }
type OrderStatus = 'pending' | 'success' | 'failure'

export class NumberInventory {
  readonly #clock: Pick<SimulatorClock, 'nowMs'>
  /** The orders by number, the oldest first. */
  readonly #orders = new Map<string, Order>()
  readonly #released = new Set<string>()

  constructor(clock: Pick<SimulatorClock, 'nowMs'>) {
    this.#clock = clock
  }

  /** Handles GET /available_phone_numbers. */
  search(query: URLSearchParams): object {
    const area = query.get('filter[national_destination_code]') ?? usualArea
    const country = query.get('filter[country_code]') ?? 'US'
    const locality = query.get('filter[locality]') ?? 'Springfield'
    const ending = query.get('filter[phone_number][ends_with]') ?? ''
    const limit = Number(query.get('filter[limit]') ?? usualLimit)
    if (!Number.isInteger(limit) || limit < 1) throw invalid('filter[limit]')
    const isSold = country === 'US' && area !== emptyArea && /^[2-9]\d{2}$/.test(area)
    const numbers = isSold ? Array.from({ length: 100 }, (_, i) => `+1${area}55501${String(i).padStart(2, '0')}`) : []
    const data = numbers
      .filter((number) => number.endsWith(ending) && !this.#isOrdered(number))
      .slice(0, Math.min(limit, limitMax))
      .map((number) => availableNumber(number, locality))
    const counts = { total_results: data.length, best_effort_results: 0 }
    return { data, meta: counts, metadata: counts }
  }

  /** Handles POST /number_orders. */
  order(fields: Fields): object {
    const list = fields['phone_numbers']
    if (!Array.isArray(list) || list.length === 0) throw missing('phone_numbers')
    const [first] = list as unknown[]
    if (list.length > 1) throw invalid('phone_numbers', 'The simulator takes one number in an order.')
    const number = isFields(first) ? textOrNull(first, 'phone_number') : null
    if (number === null) throw missing('phone_numbers/0/phone_number')
    if (!sold.test(number) || lastDigits(number) === '99' || this.#isOrdered(number)) throw unavailable()
    const createdAtMs = Math.floor(this.#clock.nowMs() / 1000) * 1000
    const reference = textOrNull(fields, 'customer_reference')
    const order = {
      id: orderId(number, createdAtMs),
      number,
      createdAtMs,
      reference,
      connectionId: textOrNull(fields, 'connection_id'),
    }
    this.#released.delete(number)
    this.#orders.set(number, order)
    forgetOldest(this.#orders)
    return { data: this.#written(order) }
  }

  /** Handles GET /number_orders/{id}. */
  retrieveOrder(id: string): object {
    const stored = [...this.#orders.values()].find((order) => order.id === id)
    const order = stored ?? orderOf(id)
    if (!order) throw notFound()
    return { data: this.#written(order) }
  }

  /** Handles GET /number_orders. */
  listOrders(query: URLSearchParams): object {
    const reference = query.get('filter[customer_reference]')
    const orders = [...this.#orders.values()].filter((order) => reference === null || order.reference === reference)
    return page(orders.map((order) => this.#written(order)))
  }

  /** Handles GET /phone_numbers. A search for one number finds it even if another process ordered it. */
  list(query: URLSearchParams): object {
    const number = query.get('filter[phone_number]')
    const owned = [...this.#orders.values()].filter((order) => this.#statusOf(order) === 'success')
    if (number === null) return page(owned.map(ownedNumber))
    const e164 = number.startsWith('+') ? number : `+${number.trim()}`
    const order = this.#orders.get(e164) ?? { number: e164, createdAtMs: 0, reference: null, connectionId: null }
    const isOwned = sold.test(e164) && !this.#released.has(e164) && this.#statusOf(order) === 'success'
    return page(isOwned ? [ownedNumber(order)] : [])
  }

  /** Handles DELETE /phone_numbers/{id}. */
  release(id: string): object {
    const number = `+${id}`
    if (!sold.test(number) || this.#released.has(number)) throw notFound()
    const order = this.#orders.get(number) ?? { number, createdAtMs: 0, reference: null, connectionId: null }
    this.#orders.delete(number)
    this.#released.add(number)
    forgetOldest(this.#released)
    return { data: { ...ownedNumber(order), status: 'deleted' } }
  }

  #isOrdered(number: string): boolean {
    const order = this.#orders.get(number)
    return order !== undefined && this.#statusOf(order) !== 'failure'
  }

  #statusOf({ number, createdAtMs }: Pick<Order, 'number' | 'createdAtMs'>): OrderStatus {
    const digits = lastDigits(number)
    if (digits !== '97' && digits !== '98') return digits === '99' ? 'failure' : 'success'
    if (this.#clock.nowMs() - createdAtMs < pendingMs) return 'pending'
    return digits === '98' ? 'success' : 'failure'
  }

  #written(order: Order): object {
    const { id, number, createdAtMs, reference, connectionId } = order
    const status = this.#statusOf(order)
    return {
      id,
      record_type: 'number_order',
      phone_numbers_count: 1,
      ...(connectionId !== null && { connection_id: connectionId }),
      ...(reference !== null && { customer_reference: reference }),
      phone_numbers: [
        {
          id,
          record_type: 'number_order_phone_number',
          phone_number: number,
          country_code: 'US',
          country_iso_alpha2: 'US',
          phone_number_type: 'local',
          requirements_met: true,
          requirements_status: 'approved',
          regulatory_requirements: [],
          status,
        },
      ],
      sub_number_orders_ids: [],
      status,
      requirements_met: true,
      created_at: iso(createdAtMs),
      updated_at: iso(createdAtMs),
    }
  }
}

function availableNumber(number: string, locality: string): object {
  const names = ['voice', 'sms', 'mms', 'fax', 'emergency', 'hd_voice']
  return {
    record_type: 'available_phone_number',
    phone_number: number,
    vanity_format: '',
    best_effort: false,
    quickship: true,
    reservable: true,
    region_information: [
      { region_type: 'country_code', region_name: 'US' },
      { region_type: 'state', region_name: 'IL' },
      { region_type: 'rate_center', region_name: locality.toUpperCase() },
      { region_type: 'location', region_name: locality },
    ],
    cost_information: { upfront_cost: '1.00', monthly_cost: '1.00', currency: 'USD' },
    features: names.map((name) => ({ name })),
  }
}

function ownedNumber(order: Pick<Order, 'number' | 'createdAtMs' | 'reference' | 'connectionId'>): object {
  return {
    id: order.number.slice(1),
    record_type: 'phone_number',
    phone_number: order.number,
    country_iso_alpha2: 'US',
    status: 'active',
    tags: [],
    external_pin: null,
    connection_id: order.connectionId,
    customer_reference: order.reference,
    phone_number_type: 'local',
    purchased_at: iso(order.createdAtMs),
    created_at: iso(order.createdAtMs),
    deletion_lock_enabled: false,
  }
}

/**
 * Makes an order's id, a UUID (RFC 9562, version 8): the number in five bytes, the seconds in four, the rest random.
 */
function orderId(number: string, createdAtMs: number): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Number(number.slice(2)), 0, 5)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  bytes.writeUInt32BE(createdAtMs / 1000, 9)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function orderOf(id: string): Order | null {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)) return null
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex')
  const number = `+1${String(bytes.readUIntBE(0, 5)).padStart(10, '0')}`
  if (!sold.test(number)) return null
  return { id, number, createdAtMs: bytes.readUInt32BE(9) * 1000, reference: null, connectionId: null }
}

const page = (data: object[]) => ({
  data,
  meta: { total_pages: 1, total_results: data.length, page_number: 1, page_size: Math.max(data.length, 20) },
})
const unavailable = () =>
  new Refusal(422, '85006', 'Phone number not available', 'The phone number is no longer available for purchase.')
const lastDigits = (number: string) => number.slice(-2)
const iso = (ms: number) => new Date(ms).toISOString()
