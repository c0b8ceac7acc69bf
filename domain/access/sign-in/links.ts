/**
 * Tokens for links. A token is behind the `#` in the URL, so browsers send it in no request line and in no Referer. The
 * database has only its SHA-256.
 */
import { createHash, randomBytes } from 'node:crypto'

const tokenBytes = 32

export function newToken(): { token: string; digest: Buffer } {
  const token = randomBytes(tokenBytes).toString('base64url')
  return { token, digest: digestOf(token) }
}

export function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

export type LinkPage = 'invite' | 'reset'

/** `base` is this server's public URL. */
export function linkTo(base: string, page: LinkPage, token: string): string {
  return `${base.replace(/\/+$/, '')}/console/${page}#${token}`
}
