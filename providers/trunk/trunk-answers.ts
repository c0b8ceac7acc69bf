/** The answer to a request says about its trunk: true, it takes calls; false, it does not; null, neither. */

/** These come from the person that is called, not from the trunk, so the call was dialled. */
const personsCodes: ReadonlySet<number> = new Set([404, 408, 480, 484, 486, 487, 600, 603, 604])
export const isOfPerson = (code: number | null): boolean => code !== null && personsCodes.has(code)

/** 100 comes from the first proxy, before the trunk has decided. A code of null: nobody has answered. */
export function saysInvite(code: number | null): boolean | null {
  if (code === null) return false
  if (code === 100) return null
  return code < 300 || isOfPerson(code) || (isRefusal(code) ? false : null)
}

/**
 * Many trunks know no user in the address of OPTIONS (404, 480) or do not have the method (405, 501). They may take calls all
 * the same, so that such an answer shows neither.
 */
export function saysOptions(code: number | null): boolean | null {
  if (code === null || code === 408 || code >= 600) return false
  return (code >= 200 && code < 300) || (isRefusal(code) ? false : null)
}

/** The login is wrong or missing, calls of this server are forbidden, or the trunk does not work. */
const isRefusal = (code: number) =>
  code === 401 || code === 403 || code === 407 || (code >= 500 && code < 600 && code !== 501)
