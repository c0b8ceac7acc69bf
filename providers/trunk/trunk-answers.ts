/**
 * Judges a trunk by its answer to a request. The functions return true if the trunk takes calls, false if it takes no
 * calls, and null if the answer shows neither.
 */

/** These codes come from the called person and not from the trunk, so the call was dialled. */
const personsCodes: ReadonlySet<number> = new Set([404, 408, 480, 484, 486, 487, 600, 603, 604])
export const isOfPerson = (code: number | null): boolean => code !== null && personsCodes.has(code)

/**
 * Judges the answer to an INVITE. Code 100 comes from the first proxy, before the trunk has decided. `code` is null if
 * no answer came.
 */
export function saysInvite(code: number | null): boolean | null {
  if (code === null) return false
  if (code === 100) return null
  return code < 300 || isOfPerson(code) || (isRefusal(code) ? false : null)
}

/**
 * Judges the answer to OPTIONS. Many trunks do not know the user in an OPTIONS address (404, 480) or the method (405,
 * 501). They may take calls all the same, so such an answer shows neither.
 */
export function saysOptions(code: number | null): boolean | null {
  if (code === null || code === 408 || code >= 600) return false
  return (code >= 200 && code < 300) || (isRefusal(code) ? false : null)
}

/** True if the login is wrong or missing, the trunk forbids this server's calls, or the trunk is out of order. */
const isRefusal = (code: number) =>
  code === 401 || code === 403 || code === 407 || (code >= 500 && code < 600 && code !== 501)
