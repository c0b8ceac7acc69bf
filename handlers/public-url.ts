/** The address under which a client reaches this server, for links in answers. */
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

/** The address of this machine among several, for sockets that must reach the process which holds their session. */
export function createNodeUrl({ nodeUrl, ...settings }: AddressSettings & { nodeUrl: string | null }): PublicUrlOf {
  return createPublicUrl({ ...settings, publicUrl: nodeUrl ?? settings.publicUrl })
}

/** A chain of proxies lists one value each; the last is that of the proxy which is connected to us. */
function nearest(values: string): string {
  return values.split(',').at(-1)?.trim().toLowerCase() ?? ''
}

const hostForm = /^[\w.~-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i

/** A header may have any text: a port of 99999, or characters that no URL takes. */
function isHost(text: string): boolean {
  return hostForm.test(text) && URL.canParse(`http://${text}`)
}
