/**
 * The common parts in every vendor's provider: its connections, its catalog rows, and the speech and LLM interfaces for
 * each API key.
 */
import type { Provider, ProviderPorts } from '../../domain/ports/provider.ts'
import { type VendorAdapter, vendors } from '../vendors/vendors.ts'
import type { VendorModel, VendorOptions } from './adapter.ts'
import { createHttpTransport, type HttpTransport, type VendorWire } from './http.ts'
import type { SocketTransport, WarmRules } from './socket.ts'
import { createSocketTransport } from './socket-transport.ts'

/**
 * Makes the connections. `vendorUrl` is the vendor's base URL; a configured base URL replaces it. Throws TypeError if
 * the base URL is not a URL.
 */
export function connectionsOf({ baseUrl, limits, clock, observeWarm }: VendorOptions, wire: VendorWire) {
  return {
    http: (vendorUrl: string): HttpTransport =>
      createHttpTransport({ baseUrl: baseUrl ?? vendorUrl, wire, limits, clock }),
    sockets: (vendorUrl: string, warm?: WarmRules): SocketTransport =>
      createSocketTransport({
        baseUrl: baseUrl ?? vendorUrl,
        wire,
        limits,
        clock,
        ...(warm && { warm }),
        ...(observeWarm && { observeWarm }),
      }),
  }
}

type VendorParts = {
  /** The vendor's name in the catalog and in the vendor table. */
  vendor: VendorAdapter
  models: readonly VendorModel[]
  ports: (apiKey: string | null) => ProviderPorts
  /** The connections for the vendor's `keyCheck`. Absent if the vendor has no such request. */
  keyChecks?: HttpTransport
  /** Connections to close with the provider. */
  close: readonly { close(): Promise<void> }[]
}

/** Makes the provider. Throws RangeError if the vendor does not serve a configured model. */
export function createVendorProvider(options: VendorOptions, parts: VendorParts): Provider {
  const { vendor, models, keyChecks, close } = parts
  const { keyCheck } = vendors[vendor]
  const ports = (apiKey: string | null): ProviderPorts => ({
    ...parts.ports(apiKey),
    // Another server with the vendor's protocol may answer without a key.
    ...(keyChecks && keyCheck !== null && checkedOver(keyChecks, apiKey, keyCheck, options.baseUrl === null)),
  })
  return {
    id: options.id,
    models: options.catalog.rows(vendor, options.id, [...models, ...(options.more ?? [])], options.models),
    unavailable: () => options.unavailable,
    ports: ports(options.apiKey),
    forKey: ports,
    close: async () => {
      await Promise.all(close.map((each) => each.close()))
    },
  }
}

/** Returns the port that checks the key with a GET to this path. */
export function checkedOver(
  http: HttpTransport,
  apiKey: string | null,
  path: string,
  needsKey: boolean,
): Required<Pick<ProviderPorts, 'keyCheck'>> {
  // `signedWith` runs when a check begins, because ports are made for each attempt and checks are rare.
  return { keyCheck: { send: (signal) => http.signedWith(apiKey).checkKey(path, signal), needsKey } }
}
