/** Finds the URL at which clients reach this server, for links in responses. */
import type { Peer } from '../runtime/engine/handler.ts'
import { authorityOf } from '../runtime/engine/host.ts'
import { trustOf } from '../runtime/engine/trusted-proxies.ts'

/** Returns the server's URL for a client, without a slash at its end. */
export type PublicUrlOf = (peer: Pick<Peer, 'address' | 'host' | 'forwardedHost' | 'forwardedProto'>) => string

export type AddressSettings = {
  publicUrl: string | null
  host: string
  port: number
  trustedProxies: readonly string[]
}

export function createPublicUrl({ publicUrl, host, port, trustedProxies }: AddressSettings): PublicUrlOf {
  if (publicUrl !== null) {
    const url = publicUrl.replace(/\/+$/, '')
    return () => url
  }
  const isTrusted = trustOf(trustedProxies)
  return (peer) => {
    const isForwarded = isTrusted(peer.address)
    const scheme = isForwarded && nearest(peer.forwardedProto) === 'https' ? 'https' : 'http'
    const forwardedHost = isForwarded ? nearest(peer.forwardedHost) : ''
    const named = [forwardedHost, peer.host].find(isHost) ?? authorityOf(host, port)
    return `${scheme}://${named}`
  }
}

/**
 * Finds this machine's URL if several machines share the public URL. A socket must reach the process of its session.
 */
export function createNodeUrl({ nodeUrl, ...settings }: AddressSettings & { nodeUrl: string | null }): PublicUrlOf {
  return createPublicUrl({ ...settings, publicUrl: nodeUrl ?? settings.publicUrl })
}

/**
 * Returns the header's last value, because the proxy connected to us wrote this value. Each proxy in a chain adds one
 * value.
 */
function nearest(values: string): string {
  return values.split(',').at(-1)?.trim().toLowerCase() ?? ''
}

const hostForm = /^[\w.~-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i

/**
 * Returns true if the text is a host. A header may contain any text, such as a port of 99999 or characters not valid in
 * URLs.
 */
function isHost(text: string): boolean {
  return hostForm.test(text) && URL.canParse(`http://${text}`)
}
