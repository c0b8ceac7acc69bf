/**
 * Decides by a trunk's SIP response if the trunk accepts calls. The functions return null if the response does not show
 * whether the trunk accepts calls.
 */

/** These codes come from the called person's side and not from the trunk, so the trunk accepted the call. */
const personsCodes: ReadonlySet<number> = new Set([404, 408, 480, 484, 486, 487, 600, 603, 604])
export const isOfPerson = (code: number | null): boolean => code !== null && personsCodes.has(code)

/**
 * Judges the response to an INVITE. Code 100 comes from the first proxy, before the trunk has decided. `code` is null
 * if no response arrived.
 */
export function saysInvite(code: number | null): boolean | null {
  if (code === null) return false
  if (code === 100) return null
  return code < 300 || isOfPerson(code) || (isRefusal(code) ? false : null)
}

/**
 * Judges the response to OPTIONS. Many trunks do not know the user in the OPTIONS URI (404, 480) or do not support the
 * method (405, 501). They may still accept calls, so the result is null.
 */
export function saysOptions(code: number | null): boolean | null {
  if (code === null || code === 408 || code >= 600) return false
  return (code >= 200 && code < 300) || (isRefusal(code) ? false : null)
}

/** True if the login is wrong or missing, the trunk forbids this server's calls, or the trunk is out of order. */
const isRefusal = (code: number) =>
  code === 401 || code === 403 || code === 407 || (code >= 500 && code < 600 && code !== 501)
