/** This server's address for clients, as links in answers need it. */
import type { Peer } from '../runtime/engine/handler.ts'
import { authorityOf } from '../runtime/engine/host.ts'
import { trustOf } from '../runtime/engine/trusted-proxies.ts'

/** Without a slash at its end. */
export type PublicUrlOf = (peer: Peer) => string

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

/** This machine's address among several, for sockets that must reach their session's process. */
export function createNodeUrl({ nodeUrl, ...settings }: AddressSettings & { nodeUrl: string | null }): PublicUrlOf {
  return createPublicUrl({ ...settings, publicUrl: nodeUrl ?? settings.publicUrl })
}

/** Each proxy in a chain adds one value. The last value is from the proxy connected to us. */
function nearest(values: string): string {
  return values.split(',').at(-1)?.trim().toLowerCase() ?? ''
}

const hostForm = /^[\w.~-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i

/** A header may contain any text, such as a port of 99999 or characters that are invalid in URLs. */
function isHost(text: string): boolean {
  return hostForm.test(text) && URL.canParse(`http://${text}`)
}
