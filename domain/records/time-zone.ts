/** Returns true for a time zone's name. Intl also takes offsets such as +01:00, which are not zone names. */
export function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}

/**
 * Returns the zone's name with the letters of the time zone database. A name for which Intl has another name, such as
 * `Asia/Kolkata` in Node.js 20, is returned as it is.
 */
export function spelledZone(name: string): string {
  const known = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  return known.toLowerCase() === name.toLowerCase() ? known : name
}
